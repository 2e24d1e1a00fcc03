/** Turns a scripted turn into the bytes of its response, with its fault. Pure: sending happens elsewhere. */
import { asObject, type Json } from './json.ts'
import { eventsBefore, type ResolvedTurn, type ResponseMeta, resolveTurn, type StreamEvent } from './protocol.ts'
import { PROTOCOLS } from './protocols.ts'
import type { Protocol, RecordedRequest } from './request.ts'
import { sign } from './signature.ts'
import type { ScriptedFault, ScriptedTurn, StreamPoint } from './turn.ts'

/** A response to send. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: readonly (string | Uint8Array)[]
  /** What follows the last chunk: the regular end, a broken connection, or nothing. */
  readonly end: 'end' | 'cut' | 'hang'
  /** Not even the headers are sent. */
  readonly silent?: boolean
  /** Milliseconds before the first chunk and before each further chunk. */
  readonly delay?: { readonly first: number; readonly each: number }
}

/** What a reply needs besides the turn and the request. */
export interface ReplyContext {
  readonly secret: string
  /** Returns a new text on each call. */
  readonly unique: () => string
  /** Receives each call that is sent, and whether signed thinking precedes it. */
  readonly onCall: (id: string, signed: boolean) => void
  /** Ollama: tokens of the prompt that were read. */
  readonly promptTokens?: number | undefined
}

/**
 * The reply of a turn.
 * @throws Error if a fault is placed in a text or call that the turn does not have; also whatever `calls` throws
 */
export function makeReply(turn: ScriptedTurn, request: RecordedRequest, context: ReplyContext): Reply {
  const { fault } = turn
  if (fault && 'refuse' in fault) return { ...NOTHING, end: 'cut' }
  if (fault && 'hang' in fault && fault.hang === true) return { ...NOTHING, end: 'hang' }
  if (fault && 'status' in fault) return faultReply(request.protocol, fault)
  const { reply, events } = turn.raw === undefined ? completion(turn, request, context) : rawReply(turn, turn.raw)
  const { chunks } = reply
  if (!fault) return reply
  if ('slow' in fault) return { ...reply, delay: { first: fault.slow, each: fault.perChunk ?? 0 } }
  if ('error' in fault) {
    const wire = PROTOCOLS[request.protocol]
    const data = wire.error(500, fault.error)
    if (!events) return { ...reply, chunks: [`${JSON.stringify(data)}\n`] }
    return { ...reply, chunks: [...chunks.slice(0, eventsBefore(fault.at ?? 'mid-text', events)), wire.frame(data)] }
  }
  const [point, end] = 'cut' in fault ? [fault.cut, 'cut' as const] : [fault.hang as StreamPoint, 'hang' as const]
  return { ...reply, chunks: events ? chunks.slice(0, eventsBefore(point, events)) : firstHalf(chunks, point), end }
}

/** An error in the provider's format. */
export const errorReply = (protocol: Protocol, status: number, message: string): Reply =>
  jsonReply(status, PROTOCOLS[protocol].error(status, message))

export const jsonReply = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  chunks: [JSON.stringify(body)],
  end: 'end',
})

const NOTHING = { status: 0, headers: {}, chunks: [], silent: true } as const

type StatusFault = Extract<ScriptedFault, { readonly status: number }>

function faultReply(protocol: Protocol, { status, message = `scripted fault ${status}`, body, retryAfter }: StatusFault): Reply {
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  if (typeof body === 'string') return { status, headers: { 'content-type': 'text/plain', ...headers }, chunks: [body], end: 'end' }
  return jsonReply(status, body ?? PROTOCOLS[protocol].error(status, message), headers)
}

interface Whole {
  readonly reply: Reply
  /** Absent if the reply is not streamed. */
  readonly events?: readonly StreamEvent[]
}

function rawReply(turn: ScriptedTurn, raw: string | Uint8Array): Whole {
  const headers = { 'content-type': turn.contentType ?? 'text/event-stream' }
  return { reply: { status: turn.status ?? 200, headers, chunks: [raw], end: 'end' } }
}

function completion(turn: ScriptedTurn, request: RecordedRequest, { secret, unique, onCall, promptTokens }: ReplyContext): Whole {
  const wire = PROTOCOLS[request.protocol]
  const body: Json = asObject(request.body)
  const resolved: ResolvedTurn = resolveTurn(turn, request, () => wire.idPrefix + unique(), promptTokens)
  const { reasoning, calls } = resolved
  for (const { id } of calls) onCall(id, reasoning !== '')
  const created = Math.floor(Date.now() / 1000)
  const meta: ResponseMeta = { id: unique(), model: String(body['model']), created, signature: sign(secret, reasoning, calls) }
  if (!wire.isStreamed(body)) return { reply: jsonReply(200, wire.body(resolved, meta)) }
  const events = wire.events(resolved, meta, body)
  return { reply: { status: 200, headers: wire.headers, chunks: events.map(({ data }) => wire.frame(data)), end: 'end' }, events }
}

function firstHalf(chunks: Reply['chunks'], point: StreamPoint): Uint8Array[] {
  if (point === 'before-body') return []
  const bytes = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as Uint8Array)))
  return [bytes.subarray(0, Math.ceil(bytes.length / 2))]
}
