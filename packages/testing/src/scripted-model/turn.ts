/** What a test writes down: the turns a scripted model answers with, and short ways to write them. */
import type { RecordedRequest } from './request.ts'

/** One tool call a scripted model asks for. */
export interface ScriptedCall {
  /** `null` goes over the wire as it stands, as some servers send it. */
  readonly name: string | null
  /** A string is sent raw as the text of the arguments, valid JSON or not; anything else as JSON. Default `{}`. */
  readonly input?: unknown
  /** Default: generated as the provider does, `call_…` or `toolu_…`. */
  readonly id?: string
}

/** Where in a stream something happens: a number counts events (of Ollama: lines, and pieces of them in calls). A reply that is not streamed breaks in its middle. */
export type StreamPoint = 'before-body' | 'mid-text' | 'mid-call' | number

/** What goes wrong with one response. */
export type ScriptedFault =
  /** An HTTP error. Without `body` it is one in the provider's shape, `message` its text; `retryAfter` (seconds, or a date) becomes the header. */
  | { readonly status: number; readonly message?: string; readonly body?: unknown; readonly retryAfter?: number | string }
  /** The connection breaks there. */
  | { readonly cut: StreamPoint }
  /** Milliseconds before the first byte, and before each further SSE event. */
  | { readonly slow: number; readonly perChunk?: number }
  /** The connection is closed without an answer. */
  | { readonly refuse: true }
  /** Nothing more is sent from there on, until the client gives up; `true` sends nothing at all. */
  | { readonly hang: true | StreamPoint }
  /** The server says in the middle of the stream that it failed, in the provider's shape. `at`: default `mid-text`. */
  | { readonly error: string; readonly at?: StreamPoint }

/** One response of a scripted model. */
export interface ScriptedTurn {
  /** An array is sent in just these chunks. */
  readonly text?: string | readonly string[]
  /** OpenAI: `reasoning_content`. Anthropic: a signed thinking block. Ollama: `thinking`. */
  readonly reasoning?: string
  /** A function sees the request, so that a call can follow from a result. */
  readonly calls?: readonly ScriptedCall[] | ((request: RecordedRequest) => readonly ScriptedCall[])
  /** `finish_reason` or `stop_reason`. Those that both protocols have are translated: `length` is `max_tokens`. */
  readonly finish?: string
  /** Tokens. Default: a quarter of the characters. */
  readonly usage?: { readonly input: number; readonly output: number }
  /** The whole body, byte for byte, instead of all of the above. */
  readonly raw?: string | Uint8Array
  /** Of `raw`. Default `text/event-stream`. */
  readonly contentType?: string
  /** Of `raw`. Default 200. */
  readonly status?: number
  readonly fault?: ScriptedFault
  /** What it throws is a violation, and the client gets a 500. */
  readonly expect?: (request: RecordedRequest) => void
}

/** Makes the turn for a request; `n` counts requests from 1. `undefined` says that the script is at its end. */
export type TurnFunction = (request: RecordedRequest, n: number) => ScriptedTurn | undefined

type More = Omit<ScriptedTurn, 'raw' | 'contentType' | 'status'>

/**
 * A turn that says something.
 *
 * @example
 * say('Done.')
 * say(['Do', 'ne.'], { finish: 'length' })
 */
export function say(text: string | readonly string[], more: More = {}): ScriptedTurn {
  return { ...more, text }
}

/**
 * A turn that asks for one tool call.
 *
 * @example
 * call('read_file', { path: 'a.txt' })
 * call('read_file', '{"path": "a.t', { finish: 'length' }) // sent raw, cut off
 */
export function call(name: string | null, input: unknown = {}, more: More & { readonly id?: string } = {}): ScriptedTurn {
  const { id, ...turn } = more
  return { ...turn, calls: [id === undefined ? { name, input } : { name, input, id }] }
}

/**
 * A turn that asks for several tool calls at once.
 *
 * @example
 * calls(['read_file', { path: 'a.txt' }], ['read_file', { path: 'b.txt' }])
 */
export function calls(...list: readonly (readonly [name: string | null, input?: unknown, id?: string])[]): ScriptedTurn {
  return { calls: list.map(([name, input = {}, id]) => (id === undefined ? { name, input } : { name, input, id })) }
}

/**
 * A turn with reasoning before it.
 *
 * @example
 * think('The file first.', call('read_file', { path: 'a.txt' }))
 */
export function think(reasoning: string, turn: ScriptedTurn): ScriptedTurn {
  return { ...turn, reasoning }
}

/** A turn in a few words, for messages about the script. */
export function describeTurn(turn: ScriptedTurn | TurnFunction): string {
  if (typeof turn === 'function') return 'a function'
  const parts: string[] = []
  if (turn.fault) parts.push(`fault ${JSON.stringify(turn.fault)}`)
  if (turn.raw !== undefined) parts.push('raw body')
  if (turn.text !== undefined) parts.push(`text ${JSON.stringify(typeof turn.text === 'string' ? turn.text : turn.text.join(''))}`)
  if (typeof turn.calls === 'function') parts.push('calls from a function')
  else
    for (const { name, input } of turn.calls ?? []) parts.push(`call ${name}(${typeof input === 'string' ? input : JSON.stringify(input)})`)
  return parts.map((part) => (part.length > 100 ? `${part.slice(0, 100)}…` : part)).join(', ') || 'an empty turn'
}
