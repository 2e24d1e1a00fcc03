/** What a server sends, for a terminal. Any part of it may be anything. */
import type { AgentEvent } from '@mulligan/agent'
import { sanitize } from '@mulligan/host/light'

/** Sanitizes all texts in a value of JSON, also where a number or one of a few words belongs. */
export const safe = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value), (_, part: unknown) => (typeof part === 'string' ? sanitize(part) : part)) as T

/** Pieces of an answer stay as they are: what shows them knows of sequences that are cut between two. */
export const safeEvent = (event: AgentEvent): AgentEvent => (event.type === 'message.part.delta' ? event : safe(event))
