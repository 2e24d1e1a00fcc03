/** From a turn to the bytes of its response and what goes wrong with them. Pure: sending is elsewhere. */
import { eventsBefore, type ResolvedTurn, type ResponseMeta, resolveTurn, type SseEvent, sseText } from './encode.ts'
import { anthropicBody, encodeAnthropic } from './encode-anthropic.ts'
import { encodeOllama, ollamaBody } from './encode-ollama.ts'
import { encodeOpenAI, openAIBody } from './encode-openai.ts'
import { asObject } from './json.ts'
import { errorBody } from './problem.ts'
import type { Protocol, RecordedRequest } from './request.ts'
import { sign } from './signature.ts'
import type { ScriptedFault, ScriptedTurn, StreamPoint } from './turn.ts'

/** A response as it is sent. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: readonly (string | Uint8Array)[]
  /** What follows the last chunk: the proper end, a broken connection, or nothing. */
  readonly end: 'end' | 'cut' | 'hang'
  /** Not even the headers are sent. */
  readonly silent?: boolean
  /** Milliseconds before the first chunk and before each further one. */
  readonly delay?: { readonly first: number; readonly each: number }
}

/** What a reply needs besides turn and request. */
export interface ReplyContext {
  readonly secret: string
  /** A text never given before. */
  readonly unique: () => string
  /** Seconds since 1970. */
  readonly now: () => number
  /** Told of each call sent, and whether signed thinking is before it. */
  readonly onCall: (id: string, signed: boolean) => void
  /** Ollama: tokens of the prompt that were read. */
  readonly promptTokens?: number
}

/**
 * The reply of a turn.
 * @throws Error when a break is asked for in a text or call that the turn does not have; whatever `calls` throws.
 */
export function makeReply(turn: ScriptedTurn, request: RecordedRequest, context: ReplyContext): Reply {
  const { fault } = turn
  if (fault && 'refuse' in fault) return { ...NOTHING, end: 'cut' }
  if (fault && 'hang' in fault && fault.hang === true) return { ...NOTHING, end: 'hang' }
  if (fault && 'status' in fault) return faultReply(request.protocol, fault)
  const whole = turn.raw === undefined ? completion(turn, request, context) : rawReply(turn, turn.raw)
  if (!fault) return whole.reply
  if ('slow' in fault) return { ...whole.reply, delay: { first: fault.slow, each: fault.perChunk ?? 0 } }
  if ('error' in fault) return { ...whole.reply, chunks: failing(whole, request.protocol, fault.error, fault.at ?? 'mid-text') }
  const [point, end] = 'cut' in fault ? [fault.cut, 'cut' as const] : [fault.hang as StreamPoint, 'hang' as const]
  const chunks = whole.events ? whole.reply.chunks.slice(0, eventsBefore(point, whole.events)) : firstHalf(whole.reply.chunks, point)
  return { ...whole.reply, chunks, end }
}

/** An error in the provider's shape. */
export function errorReply(protocol: Protocol, status: number, message: string): Reply {
  return jsonReply(status, errorBody(protocol, status, message))
}

/** A JSON body. */
export function jsonReply(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, chunks: [JSON.stringify(body)], end: 'end' }
}

const NOTHING = { status: 0, headers: {}, chunks: [], silent: true } as const

type StatusFault = Extract<ScriptedFault, { readonly status: number }>

function faultReply(protocol: Protocol, { status, message = `scripted fault ${status}`, body, retryAfter }: StatusFault): Reply {
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  if (typeof body === 'string') return { status, headers: { 'content-type': 'text/plain', ...headers }, chunks: [body], end: 'end' }
  return jsonReply(status, body ?? errorBody(protocol, status, message), headers)
}

/** What was sent before it, and the error. A reply that is not streamed has nothing else. */
function failing({ reply, events }: Whole, protocol: Protocol, message: string, at: StreamPoint): Reply['chunks'] {
  const data = errorBody(protocol, 500, message)
  if (!events || protocol === 'ollama') {
    const line = `${JSON.stringify(data)}\n`
    return events ? [...reply.chunks.slice(0, eventsBefore(at, events)), line] : [line]
  }
  const event = sseText({ ...(protocol === 'anthropic' && { event: 'error' }), data })
  return [...reply.chunks.slice(0, eventsBefore(at, events)), event]
}

interface Whole {
  readonly reply: Reply
  /** Absent when the reply is not streamed. */
  readonly events?: readonly SseEvent[]
}

function rawReply(turn: ScriptedTurn, raw: string | Uint8Array): Whole {
  const headers = { 'content-type': turn.contentType ?? 'text/event-stream' }
  return { reply: { status: turn.status ?? 200, headers, chunks: [raw], end: 'end' } }
}

function completion(turn: ScriptedTurn, request: RecordedRequest, context: ReplyContext): Whole {
  const body = asObject(request.body)
  if (request.protocol === 'ollama') return ollamaCompletion(turn, request, context)
  const isOpenAI = request.protocol === 'openai'
  const resolved = resolveTurn(turn, request, () => `${isOpenAI ? 'call' : 'toolu'}_${context.unique()}`)
  for (const { id } of resolved.calls) context.onCall(id, resolved.reasoning !== '')
  const meta: ResponseMeta = { id: context.unique(), model: String(body['model']), created: context.now() }
  if (body['stream'] !== true)
    return { reply: jsonReply(200, isOpenAI ? openAIBody(resolved, meta) : anthropicBody(resolved, meta, signature(resolved, context))) }
  const events = isOpenAI
    ? encodeOpenAI(resolved, meta, asObject(body['stream_options'])['include_usage'] === true)
    : encodeAnthropic(resolved, meta, signature(resolved, context))
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
  return { reply: { status: 200, headers, chunks: events.map(sseText), end: 'end' }, events }
}

/** Streamed unless it is told not to. */
function ollamaCompletion(turn: ScriptedTurn, request: RecordedRequest, context: ReplyContext): Whole {
  const body = asObject(request.body)
  const { usage, ...rest } = resolveTurn(turn, request, () => `call_${context.unique()}`)
  const input = turn.usage?.input ?? context.promptTokens ?? usage.input
  const resolved: ResolvedTurn = { ...rest, usage: { ...usage, input } }
  const meta: ResponseMeta = { id: context.unique(), model: String(body['model']), created: context.now() }
  if (body['stream'] === false) return { reply: jsonReply(200, ollamaBody(resolved, meta)) }
  const events = encodeOllama(resolved, meta)
  const chunks = events.map(({ data }) => String(data))
  return { reply: { status: 200, headers: { 'content-type': 'application/x-ndjson' }, chunks, end: 'end' }, events }
}

function signature({ reasoning, calls }: ResolvedTurn, { secret }: ReplyContext): string {
  return sign(secret, reasoning, calls)
}

function firstHalf(chunks: Reply['chunks'], point: StreamPoint): Uint8Array[] {
  if (point === 'before-body') return []
  const bytes = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as Uint8Array)))
  return [bytes.subarray(0, Math.ceil(bytes.length / 2))]
}
