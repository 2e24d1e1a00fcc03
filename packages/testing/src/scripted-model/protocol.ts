/** What the protocols have in common: a turn with all defaults filled in, its events, and the check of a request against a schema. */
import type { z } from 'zod'
import { isObject, type Json, parseJson } from './json.ts'
import type { OllamaState } from './ollama-state.ts'
import type { Protocol, RecordedRequest, SeenToolResult } from './request.ts'
import type { ScriptedTurn, StreamPoint } from './turn.ts'

/** One protocol: how a request is checked, and how a turn is encoded. */
export interface Wire {
  /** Path of the endpoint, without `/v1`. */
  readonly route: string
  /** The ids of calls begin with it. */
  readonly idPrefix: string
  /** Headers of a streamed reply. */
  readonly headers: Readonly<Record<string, string>>
  readonly isStreamed: (body: Json) => boolean
  /** The events of a streamed reply. */
  readonly events: (turn: ResolvedTurn, meta: ResponseMeta, body: Json) => StreamEvent[]
  /** The text of an event on the wire. */
  readonly frame: (data: unknown) => string
  /** The body of a reply that is not streamed. */
  readonly body: (turn: ResolvedTurn, meta: ResponseMeta) => object
  /** The body of an error response. */
  readonly error: (status: number, message: string) => object
  /** The response to `GET /v1/models`. */
  readonly models: (names: readonly string[]) => object
  /** Why the provider would refuse the request. */
  readonly problem: (request: RecordedRequest, rules: Rules) => Problem | undefined
  /** The newest tool results in a history. */
  readonly results: (messages: readonly Json[]) => SeenToolResult[]
}

/** Headers of a reply streamed as server-sent events. */
export const EVENT_STREAM = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }

/** What the check of a request needs besides the request. */
export interface Rules {
  /** Calls in the history require `tools` in the request. */
  readonly toolsRequired: boolean
  /** Signs thinking blocks. */
  readonly secret: string
  /** Whether this server sent the call with this id after a thinking block. */
  readonly isSigned: (callId: string) => boolean
  readonly ollama: OllamaState
}

/** The refusal of a request. */
export interface Problem {
  readonly status: number
  readonly message: string
}

export interface ResolvedCall {
  readonly id: string
  readonly name: string | null
  /** The text of the arguments. */
  readonly text: string
  /** The object in the text, or the text itself if it is not an object. */
  readonly input: unknown
}

/** A turn with all defaults filled in. */
export interface ResolvedTurn {
  readonly text: readonly string[]
  readonly reasoning: string
  readonly calls: readonly ResolvedCall[]
  readonly finish: string
  readonly usage: { readonly input: number; readonly output: number; readonly cached?: number }
}

/** Identity of a response. */
export interface ResponseMeta {
  readonly id: string
  readonly model: string
  /** Seconds since 1970. */
  readonly created: number
  /** Signature of the thinking. */
  readonly signature: string
}

/** One event of a stream. The mark says what it carries a piece of, to find the place of a fault. */
export interface StreamEvent {
  readonly data: unknown
  readonly mark?: 'text' | 'call-start' | 'call' | undefined
}

const FINISH: readonly Readonly<Record<Protocol, string>>[] = [
  { openai: 'stop', responses: 'completed', anthropic: 'end_turn', ollama: 'stop' },
  { openai: 'tool_calls', responses: 'completed', anthropic: 'tool_use', ollama: 'stop' },
  { openai: 'length', responses: 'max_output_tokens', anthropic: 'max_tokens', ollama: 'length' },
  { openai: 'content_filter', responses: 'content_filter', anthropic: 'refusal', ollama: 'stop' },
]

/** Fills in what a turn leaves open. */
export function resolveTurn(turn: ScriptedTurn, request: RecordedRequest, newId: () => string, promptTokens?: number): ResolvedTurn {
  const scripted = typeof turn.calls === 'function' ? turn.calls(request) : (turn.calls ?? [])
  const calls = scripted.map(({ id = newId(), name, input = {} }): ResolvedCall => {
    const text = typeof input === 'string' ? input : JSON.stringify(input)
    const parsed = parseJson(text)
    return { id, name, text, input: isObject(parsed) ? parsed : text }
  })
  const text = typeof turn.text === 'string' ? pieces(turn.text, 8) : (turn.text ?? [])
  const { reasoning = '', finish = calls.length > 0 ? 'tool_calls' : 'stop' } = turn
  const written = reasoning + text.join('') + calls.map((call) => call.name + call.text).join('')
  const input = promptTokens ?? Math.ceil(request.bodyText.length / 4)
  return {
    text,
    reasoning,
    calls,
    finish: FINISH.find((row) => row.openai === finish || row.anthropic === finish)?.[request.protocol] ?? finish,
    usage: turn.usage ?? { input, output: Math.ceil(written.length / 4) },
  }
}

/** The text in at most `count` pieces; surrogate pairs are not split. */
export function pieces(text: string, count: number): string[] {
  const characters = Array.from(text)
  const size = Math.ceil(characters.length / count)
  return size === 0
    ? []
    : Array.from({ length: Math.ceil(characters.length / size) }, (_, at) => characters.slice(at * size, (at + 1) * size).join(''))
}

/**
 * The number of events before a fault.
 * @throws Error if the turn has no text, or no call, to break in
 */
export function eventsBefore(point: StreamPoint, events: readonly StreamEvent[]): number {
  if (typeof point === 'number') return Math.min(Math.max(point, 0), events.length)
  if (point === 'before-body') return 0
  const start = point === 'mid-call' ? events.findLastIndex((event) => event.mark === 'call-start') : 0
  const mark = point === 'mid-call' ? 'call' : 'text'
  const marked = [...events.keys()].filter((at) => at >= start && events[at]?.mark === mark)
  const middle = marked[Math.ceil(marked.length / 2) - 1] ?? (mark === 'call' ? start : -1)
  if (middle < 0) throw new Error(`the turn has no ${mark} to break in the middle of`)
  return middle + 1
}

/** An issue that a schema found. Its message is empty unless the schema gives one. */
export type Issue = z.core.$ZodIssue & { readonly input?: unknown }

/** What a schema finds wrong in a body, in the provider's wording. */
export const schemaProblems = (schema: z.ZodType, body: unknown, words: (issue: Issue) => string): string[] =>
  schema
    .safeParse(body, { error: () => '', reportInput: true })
    .error?.issues.flatMap(unnested)
    .map(words) ?? []

/** The issues of the union member that fits best, if any fits in its type. */
function unnested(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const member = issue.errors.find((issues) => issues.some(({ path }) => path.length > 0))
  return member?.flatMap((inner) => unnested({ ...inner, path: [...issue.path, ...inner.path] })) ?? [issue]
}

/** The first message as a refusal with status 400: providers report one fault at a time. */
export function firstProblem(messages: Iterable<string>): Problem | undefined {
  for (const message of messages) return { status: 400, message }
  return undefined
}
