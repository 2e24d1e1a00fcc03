/**
 * The log of a session. A row has what was committed together, one line for each entry: its kind, key and JSON, and what else there
 * is to know of it, separated by tabs, which JSON has none of. A damaged line costs that one entry. Large parts are kept once: events
 * name the call or message that has them.
 */
import { type CallRecord, type Effect, notOk, type ToolEvent } from '@mulligan/core'
import type { AgentEvent } from '../events.ts'
import { type AssistantMessage, ownWords, type UserMessage } from '../history/message.ts'
import type { JournalRow } from '../journal/journal.ts'

export interface LogRow {
  readonly turn_id: string
  readonly body: string
}

/** An entry on its way to the log. */
export interface LogEntry {
  readonly sessionId: string
  readonly turnId: string
  /** That it is. */
  readonly event?: AgentEvent
  readonly line: string
}

type QueuedEvent = Pick<LogEntry, 'sessionId' | 'event'>

export type Kind = 'message' | 'call' | 'event' | 'step'

type StoredMessage = UserMessage | AssistantMessage

export const messageEntry = (sessionId: string, message: StoredMessage): LogEntry => ({
  sessionId,
  turnId: message.turnId,
  line: `message\t${message.id}\t${JSON.stringify(message)}`,
})

export const callEntry = (sessionId: string, turnId: string, record: CallRecord): LogEntry => ({
  sessionId,
  turnId,
  line: `call\t${record.id}\t${JSON.stringify(record)}\t${record.effect}\t${JSON.stringify(record.tool)}`,
})

/** @param queued what is on its way too: of the step's events that are among it there is one copy */
export function stepEntry(sessionId: string, turnId: string, name: string, value: unknown, queued: readonly QueuedEvent[]): LogEntry {
  const { events } = (value ?? {}) as { readonly events?: readonly ToolEvent[] }
  const kept = events ? { ...(value as object), events: namedEvents(events, queued) } : value
  return { sessionId, turnId, line: `step\t${name}\t${JSON.stringify(kept) ?? 'null'}` }
}

/** The ids of those that are queued. From the end: what was written before is missing at the front of both. */
function namedEvents(events: readonly ToolEvent[], queued: readonly QueuedEvent[]): readonly (ToolEvent | number)[] {
  const named: (ToolEvent | number)[] = [...events]
  let before = queued.length
  for (let at = events.length - 1; at >= 0; at--) {
    const { type, callId, late } = events[at] as ToolEvent & { readonly late?: boolean }
    if (late) continue
    const found = queued.findLastIndex(
      ({ event }, index) => index < before && event?.type === type && event.callId === callId && !('late' in event),
    )
    const id = queued[found]?.event?.id
    if (id === undefined) continue
    named[at] = id
    before = found
  }
  return named
}

export function eventEntry(event: AgentEvent): LogEntry {
  const { id = 0, sessionId, turnId, at, type } = event
  const named = type === 'message.completed' ? 'message' : event.type === 'tool.result' && !event.late ? 'result' : ''
  return { sessionId, turnId, event, line: `event\t${id}\t${payloadOf(event, named)}\t${type}\t${at}` }
}

/** What has a place of its own in the line, or in the row. */
const PLACED = new Set(['id', 'sessionId', 'turnId', 'at', 'type'])

/** The rest as JSON. By hand, because a copy without some of its members costs three times as much. @param named what it only names */
function payloadOf(event: AgentEvent, named: string): string {
  let members = ''
  for (const key in event) {
    const json = PLACED.has(key) || key === named ? undefined : JSON.stringify(event[key as keyof AgentEvent])
    if (json !== undefined) members += `${members === '' ? '' : ','}"${key}":${json}`
  }
  return `{${members}}`
}

export interface Entries {
  readonly messages: ReadonlyMap<string, StoredMessage>
  readonly calls: ReadonlyMap<string, CallRecord>
  readonly events: readonly AgentEvent[]
  readonly steps: readonly JournalRow[]
}

/** What rows have, each in the order in which it came; of several versions of one message or call, the latest. */
export function entriesOf(sessionId: string, rows: readonly LogRow[], kinds: readonly Kind[]): Entries {
  const messages = new Map<string, StoredMessage>()
  const calls = new Map<string, CallRecord>()
  const events = new Map<number, AgentEvent>()
  const steps = new Map<string, JournalRow>()
  const readers: Readonly<Record<Kind, (fields: readonly string[], turnId: string) => void>> = {
    message: ([, id = '', json = ''], turnId) => messages.set(id, readJson<StoredMessage>(json) ?? damagedMessage(id, turnId)),
    call: ([, id = '', json = '', effect, tool]) => calls.set(id, readJson<CallRecord>(json) ?? damagedCall(id, effect, tool)),
    event: ([, key, json = '', type, at], turnId) => {
      const payload = readJson<object>(json)
      const id = Number(key)
      if (payload) events.set(id, { id, sessionId, turnId, at: Number(at), type, ...payload } as unknown as AgentEvent)
    },
    step: ([, name = '', value = '']) => steps.set(name, { name, value }),
  }
  for (const { turn_id: turnId, body } of rows)
    for (const line of body.split('\n')) {
      const kind = kinds.find((one) => line.startsWith(`${one}\t`))
      if (kind) readers[kind](line.split('\t'), turnId)
    }
  return { messages, calls, events: [...events.values()], steps: [...steps.values()] }
}

/** The events, with what they only name. */
export const wholeEvents = ({ messages, calls, events }: Entries): readonly AgentEvent[] =>
  events.map((event) => {
    if (event.type === 'message.completed') return { ...event, message: messages.get(event.messageId) as AssistantMessage }
    const result = event.type === 'tool.result' && !event.late ? calls.get(event.callId)?.result : undefined
    return result ? ({ ...event, result } as AgentEvent) : event
  })

/** The steps, with the events that they only name. A step whose events are damaged is damaged too. */
export function wholeSteps({ steps, events }: Entries): readonly JournalRow[] {
  const known = new Map(events.map(({ id, sessionId, turnId, at, ...event }) => [id, event]))
  return steps.map(({ name, value: json }) => {
    const value = readJson<{ readonly events?: readonly (object | number)[] } | null>(json)
    const whole = value?.events?.map((event) => (typeof event === 'number' ? known.get(event) : event))
    if (whole === undefined) return { name, value: json }
    return { name, value: whole.includes(undefined) ? '' : JSON.stringify({ ...value, events: whole }) }
  })
}

/** Undefined where it is damaged: that costs the one value, and not the session. */
export function readJson<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}

/** Messages and calls are named after their turn, and numbered in it. */
const numbersIn = (id: string): readonly number[] => id.split('/').slice(1).map(Number)

function damagedMessage(id: string, turnId: string): StoredMessage {
  const text = 'This message is damaged in the store and could not be read.'
  const { step, ...words } = ownWords(turnId, text)
  const [, number = step] = numbersIn(id)
  return number === 0 ? { role: 'user', id, turnId, text: `[${text}]` } : { ...words, id, step: Number.isNaN(number) ? step : number }
}

function damagedCall(id: string, effect = 'read', tool = ''): CallRecord {
  const [, step = 0, ordinal = 0] = numbersIn(id)
  const result = notOk('internal', 'This result is damaged in the store and could not be read.')
  const known = { tool: readJson<string>(tool) ?? '', effect: effect as Effect }
  return { id, step, ordinal, ...known, input: {}, target: '', attempts: 0, repairs: [], result, durationMs: 0 }
}
