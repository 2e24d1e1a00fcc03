/** The turns that a test scripts for the model, and short ways to write them. */
import type { RecordedRequest } from './request.ts'

/** One tool call that a scripted model makes. */
export interface ScriptedCall {
  /** `null` is sent as it is; some servers send it. */
  readonly name: string | null
  /** A string is sent unchanged as the text of the arguments, even if it is not valid JSON; anything else as JSON. Default `{}`. */
  readonly input?: unknown
  /** Default: a new id in the provider's format, `call_…` or `toolu_…`. */
  readonly id?: string
}

/** A place in a stream. A number counts events; for Ollama, lines and the pieces of a call's line. A reply that is not streamed breaks in the middle. */
export type StreamPoint = 'before-body' | 'mid-text' | 'mid-call' | number

/** A fault in one response. */
export type ScriptedFault =
  /** An HTTP error. Without `body` it has the provider's format, with `message` as its text. `retryAfter` (seconds or a date) becomes the header. */
  | { readonly status: number; readonly message?: string; readonly body?: unknown; readonly retryAfter?: number | string }
  /** The connection breaks at this point. */
  | { readonly cut: StreamPoint }
  /** Milliseconds before the first byte, and before each further event. */
  | { readonly slow: number; readonly perChunk?: number }
  /** The connection is closed without a response. */
  | { readonly refuse: true }
  /** From this point on nothing more is sent until the client disconnects; `true` sends nothing at all. */
  | { readonly hang: true | StreamPoint }
  /** The server reports an error within the stream, in the provider's format. Default for `at`: `mid-text`. */
  | { readonly error: string; readonly at?: StreamPoint }

/** One response of a scripted model. */
export interface ScriptedTurn {
  /** An array is sent in exactly these chunks. */
  readonly text?: string | readonly string[]
  /** Chat completions: `reasoning_content`. Responses: a reasoning item. Anthropic: a signed thinking block. Ollama: `thinking`. */
  readonly reasoning?: string
  /** A function receives the request, so that a call can depend on a result. */
  readonly calls?: readonly ScriptedCall[] | ((request: RecordedRequest) => readonly ScriptedCall[])
  /** `finish_reason` or `stop_reason`. Reasons that the protocols share are translated: `length` is `max_tokens`. */
  readonly finish?: string
  /** Tokens. `cached`: of the input, those from the cache, for the protocols of OpenAI and Anthropic. Default: one per 4 characters. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number }
  /** The complete body, byte for byte, instead of all of the above. */
  readonly raw?: string | Uint8Array
  /** Content type of `raw`. Default `text/event-stream`. */
  readonly contentType?: string
  /** Status of `raw`. Default 200. */
  readonly status?: number
  readonly fault?: ScriptedFault
  /** An exception is recorded as a violation, and the client gets a 500. */
  readonly expect?: (request: RecordedRequest) => void
}

/** Returns the turn for a request; `n` counts requests from 1. `undefined` ends the script. */
export type TurnFunction = (request: RecordedRequest, n: number) => ScriptedTurn | undefined

type More = Omit<ScriptedTurn, 'raw' | 'contentType' | 'status'>

/**
 * A turn that answers with text.
 *
 * @example
 * say('Done.')
 * say(['Do', 'ne.'], { finish: 'length' })
 */
export function say(text: string | readonly string[], more: More = {}): ScriptedTurn {
  return { ...more, text }
}

/**
 * A turn that makes one tool call.
 *
 * @example
 * call('read_file', { path: 'a.txt' })
 * call('read_file', '{"path": "a.t', { finish: 'length' }) // sent unchanged, cut off
 */
export function call(name: string | null, input: unknown = {}, more: More & { readonly id?: string } = {}): ScriptedTurn {
  const { id, ...turn } = more
  return { ...turn, calls: [id === undefined ? { name, input } : { name, input, id }] }
}

/**
 * A turn that makes several tool calls at once.
 *
 * @example
 * calls(['read_file', { path: 'a.txt' }], ['read_file', { path: 'b.txt' }])
 */
export function calls(...list: readonly (readonly [name: string | null, input?: unknown, id?: string])[]): ScriptedTurn {
  return { calls: list.map(([name, input = {}, id]) => (id === undefined ? { name, input } : { name, input, id })) }
}

/**
 * A turn that begins with reasoning.
 *
 * @example
 * think('The file first.', call('read_file', { path: 'a.txt' }))
 */
export function think(reasoning: string, turn: ScriptedTurn): ScriptedTurn {
  return { ...turn, reasoning }
}

/** A short description of a turn, for messages about the script. */
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
