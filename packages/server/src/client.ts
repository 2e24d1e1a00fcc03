/** A typed client for a Mulligan server. */

export {
  type CallInput,
  type CallOutput,
  type Client,
  type ClientOptions,
  createClient,
  type EventsOptions,
  ServerError,
  type StreamItem,
} from './client/client.ts'
export { createSseReader, type ServerSentEvent, type SseReader } from './client/sse.ts'
export type { Approval, JsonRoute, Session, Turn } from './contract.ts'
