/** What the encoders share: a turn with everything decided, SSE events, and where a stream can break. */
import { isObject, parseJson } from './json.ts'
import type { Protocol, RecordedRequest } from './request.ts'
import type { ScriptedTurn, StreamPoint } from './turn.ts'

export interface ResolvedCall {
  readonly id: string
  readonly name: string | null
  /** The text of the arguments. */
  readonly text: string
  /** The object that the text holds; the text itself when it holds none. */
  readonly input: unknown
}

/** A turn with nothing left to decide. */
export interface ResolvedTurn {
  readonly text: readonly string[]
  readonly reasoning: string
  readonly calls: readonly ResolvedCall[]
  readonly finish: string
  readonly usage: { readonly input: number; readonly output: number }
}

/** Identity of a response. `created` is in seconds. */
export interface ResponseMeta {
  readonly id: string
  readonly model: string
  readonly created: number
}

/** One server-sent event. A mark says what it carries a piece of, so that a break can be placed. */
export interface SseEvent {
  readonly event?: string
  readonly data: unknown
  readonly mark?: 'text' | 'call-start' | 'call'
}

const FINISH: readonly Readonly<Record<Protocol, string>>[] = [
  { openai: 'stop', anthropic: 'end_turn', ollama: 'stop' },
  { openai: 'tool_calls', anthropic: 'tool_use', ollama: 'stop' },
  { openai: 'length', anthropic: 'max_tokens', ollama: 'length' },
  { openai: 'content_filter', anthropic: 'refusal', ollama: 'stop' },
]

/** Decides what a turn leaves open. `newId` makes the id of a call that has none. */
export function resolveTurn(turn: ScriptedTurn, request: RecordedRequest, newId: () => string): ResolvedTurn {
  const scripted = typeof turn.calls === 'function' ? turn.calls(request) : (turn.calls ?? [])
  const calls = scripted.map(({ id, name, input = {} }): ResolvedCall => {
    const text = typeof input === 'string' ? input : JSON.stringify(input)
    const parsed = parseJson(text)
    return { id: id ?? newId(), name, text, input: isObject(parsed) ? parsed : text }
  })
  const text = typeof turn.text === 'string' ? pieces(turn.text, 8) : (turn.text ?? [])
  const reasoning = turn.reasoning ?? ''
  const written = reasoning + text.join('') + calls.map((call) => call.name + call.text).join('')
  return {
    text,
    reasoning,
    calls,
    finish: finishFor(request.protocol, turn.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    usage: turn.usage ?? { input: Math.ceil(request.bodyText.length / 4), output: Math.ceil(written.length / 4) },
  }
}

function finishFor(protocol: Protocol, finish: string): string {
  const known = FINISH.find((pair) => pair.openai === finish || pair.anthropic === finish)
  return known ? known[protocol] : finish
}

/** The text in at most `count` pieces, no character torn. */
export function pieces(text: string, count: number): string[] {
  const characters = Array.from(text)
  const size = Math.ceil(characters.length / count)
  const found: string[] = []
  for (let at = 0; at < characters.length; at += size) found.push(characters.slice(at, at + size).join(''))
  return found
}

/** An event as it goes over the wire. */
export function sseText({ event, data }: SseEvent): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

/**
 * How many events come before a break.
 * @throws Error when the turn has no text, or no call, to break in.
 */
export function eventsBefore(point: StreamPoint, events: readonly SseEvent[]): number {
  if (typeof point === 'number') return Math.min(Math.max(point, 0), events.length)
  if (point === 'before-body') return 0
  const start = point === 'mid-call' ? events.findLastIndex((event) => event.mark === 'call-start') : 0
  const mark = point === 'mid-call' ? 'call' : 'text'
  const marked = [...events.entries()].filter(([at, event]) => at >= start && event.mark === mark).map(([at]) => at)
  const middle = marked[Math.ceil(marked.length / 2) - 1] ?? (mark === 'call' ? start : -1)
  if (middle < 0) throw new Error(`the turn has no ${mark} to break in the middle of`)
  return middle + 1
}
