/**
 * The log of a session. A row contains everything committed together, one line per entry: its kind, key, JSON and other fields,
 * separated by tabs, which never occur in JSON. A damaged line loses only that entry. Large parts are stored once: events refer to the
 * call or message that contains them.
 */
import { type CallRecord, type Effect, notOk, type ToolEvent } from '@mulligan/core'
import { canonical } from '@mulligan/core/executor'
import type { AgentEvent } from '../events.ts'
import { type AssistantMessage, callsOf, type Message, ownWords, type StoredMessage } from '../history/message.ts'
import type { JournalRow } from '../journal/journal.ts'

export interface LogRow {
  readonly turn_id: string
  readonly body: string
}

/** An entry to be written to the log. */
export interface LogEntry {
  readonly sessionId: string
  readonly turnId: string
  /** The event or call, if the entry is one. */
  readonly event?: AgentEvent
  readonly record?: CallRecord
  readonly line: string
}

/** Stands for the turn's id in a row: a character that never occurs in JSON. */
const TURN = '\x01'
export const shortIds = (body: string, turnId: string): string => body.split(turnId).join(TURN)

/** Returns the session of a turn, whose id starts with the session's. */
export const sessionOf = (turnId: string): string => turnId.slice(0, turnId.lastIndexOf('/'))

/** An entry queued for writing, so certain to be in the log if a later one is. */
type QueuedEntry = Pick<LogEntry, 'sessionId' | 'event' | 'record'>

export type Kind = 'message' | 'call' | 'event' | 'step'

export const messageEntry = (sessionId: string, message: StoredMessage): LogEntry => ({
  sessionId,
  turnId: message.turnId,
  line: `message\t${message.id}\t${JSON.stringify({ ...message, id: undefined, turnId: undefined })}`,
})

export const callEntry = (sessionId: string, turnId: string, record: CallRecord): LogEntry => ({
  sessionId,
  turnId,
  record,
  line: `call\t${record.id}\t${JSON.stringify(withoutKey(record, turnId))}\t${record.effect}\t${JSON.stringify(record.tool)}`,
})

/** Removes what the other fields of the line contain. Members that are undefined are not stored; a copy without them takes longer. */
function withoutKey(record: CallRecord, turnId: string): object {
  const { id, step, ordinal } = record
  const own = { ...record, id: undefined, tool: undefined, effect: undefined }
  return id === `${turnId}/${step}/${ordinal}` ? { ...own, step: undefined, ordinal: undefined } : own
}

/**
 * Creates the entry of a step. @param queued the entries queued for writing: events of the step that are among them are stored only
 * once
 */
export function stepEntry(sessionId: string, turnId: string, name: string, value: unknown, queued: readonly QueuedEntry[]): LogEntry {
  const { events, call } = (value ?? {}) as { readonly events?: readonly ToolEvent[]; readonly call?: object }
  const named = events && namedEvents(events, queued)
  const kept = named ? { ...(value as object), events: named, ...(call && { call: withoutEvent(call, events, named) }) } : value
  return { sessionId, turnId, line: `step\t${name}\t${JSON.stringify(kept) ?? 'null'}` }
}

/** What a call and its event have in common. */
const SHARED = ['step', 'ordinal', 'tool', 'requestedTool', 'effect', 'input'] as const
type Shared = { readonly [Key in (typeof SHARED)[number]]?: unknown }

const sharedOf = (event: Shared): Shared => Object.fromEntries(SHARED.map((key) => [key, event[key]]))

/** Removes what the event of the call contains, if that is stored. */
function withoutEvent(call: Shared, [first]: readonly ToolEvent[], [id]: readonly (ToolEvent | number)[]): object {
  if (first?.type !== 'tool.call' || typeof id !== 'number') return call
  const own: Record<string, unknown> = { ...call, id: undefined, input: undefined }
  for (const key of SHARED) if (own[key] === (first as Shared)[key]) own[key] = undefined
  return own
}

/** Replaces queued events by their ids. Works backwards, since events written earlier are missing at the front of both lists. */
function namedEvents(events: readonly ToolEvent[], queued: readonly QueuedEntry[]): readonly (ToolEvent | number)[] {
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

/** Creates the entry of an event. @param queued the entries queued for writing: what they contain is stored only once */
export function eventEntry(event: AgentEvent, queued: readonly QueuedEntry[]): LogEntry {
  const { id = 0, sessionId, turnId, at, type } = event
  return { sessionId, turnId, event, line: `event\t${id}\t${payloadOf(event, storedWith(event, queued))}\t${type}\t${at}` }
}

/** Fields with a separate position in the line or the row. */
const PLACED = ['id', 'sessionId', 'turnId', 'at', 'type']
const ALL_BUT = {
  placed: new Set(PLACED),
  message: new Set([...PLACED, 'message']),
  usage: new Set([...PLACED, 'usage']),
  result: new Set([...PLACED, 'result']),
  record: new Set([...PLACED, 'step', 'tool', 'effect', 'inputKey', 'attempts', 'durationMs', 'result']),
}

/** Returns the fields of an event that are stored elsewhere. */
function storedWith(event: AgentEvent, queued: readonly QueuedEntry[]): ReadonlySet<string> {
  if (event.type === 'message.completed') return ALL_BUT.message
  if (event.type === 'usage') {
    const isInMessage = queued.some(({ event: one }) => one?.type === 'message.completed' && one.message.usage === event.usage)
    return isInMessage ? ALL_BUT.usage : ALL_BUT.placed
  }
  if (event.type !== 'tool.result' || event.late) return ALL_BUT.placed
  const record = queued.findLast(({ record }) => record?.id === event.callId)?.record
  const { step, tool, effect, inputKey, attempts, durationMs } = record ? outcomeOf(record) : {}
  const isSame = step === event.step && tool === event.tool && effect === event.effect && inputKey === event.inputKey
  return isSame && attempts === event.attempts && durationMs === event.durationMs ? ALL_BUT.record : ALL_BUT.result
}

/** Returns the fields of a result's event that follow from the record. */
const outcomeOf = ({ step, tool, effect, input, attempts, durationMs }: CallRecord) => ({
  step,
  tool,
  effect,
  inputKey: canonical(input),
  attempts,
  durationMs,
})

/** Returns the other fields as JSON. Built by hand, because a copy without some members costs three times as much. */
function payloadOf(event: AgentEvent, left: ReadonlySet<string>): string {
  let members = ''
  for (const key in event) {
    const json = left.has(key) ? undefined : JSON.stringify(event[key as keyof AgentEvent])
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

/** Collects the entries of rows, in order of arrival. If there are several versions of a message or call, the latest counts. */
export function createEntries(sessionId: string, kinds: readonly Kind[]) {
  const messages = new Map<string, StoredMessage>()
  const calls = new Map<string, CallRecord>()
  const events = new Map<number, AgentEvent>()
  const steps = new Map<string, JournalRow>()
  const readers: Readonly<Record<Kind, (fields: readonly string[], turnId: string) => void>> = {
    message: ([, id = '', json = ''], turnId) => {
      const message = readJson<StoredMessage>(json)
      messages.set(id, message ? { ...message, id, turnId } : damagedMessage(id, turnId))
    },
    call: ([, id = '', json = '', effect, tool]) => {
      const record = readJson<Partial<CallRecord>>(json)
      calls.set(id, record ? ({ ...keyOfCall(id, effect, tool), ...record } as CallRecord) : damagedCall(id, effect, tool))
    },
    event: ([, key, json = '', type, at], turnId) => {
      const payload = readJson<object>(json)
      const id = Number(key)
      if (payload) events.set(id, { id, sessionId, turnId, at: Number(at), type, ...payload } as unknown as AgentEvent)
    },
    step: ([, name = '', value = '']) => steps.set(name, { name, value }),
  }
  function add(rows: readonly LogRow[]): void {
    for (const { turn_id: turnId, body } of rows)
      for (const line of body.replaceAll(TURN, turnId).split('\n')) {
        const kind = kinds.find((one) => line.startsWith(`${one}\t`))
        if (kind) readers[kind](line.split('\t'), turnId)
      }
  }
  return { add, messages, calls, events, steps }
}

/** Parses rows into entries. */
export function entriesOf(sessionId: string, rows: readonly LogRow[], kinds: readonly Kind[]): Entries {
  const { add, messages, calls, events, steps } = createEntries(sessionId, kinds)
  add(rows)
  return { messages, calls, events: [...events.values()], steps: [...steps.values()] }
}

/** Returns the events with the content they refer to. */
export const wholeEvents = ({ messages, calls, events }: Entries): readonly AgentEvent[] =>
  events.map((event) => {
    if (event.type === 'message.completed') return { ...event, message: messages.get(event.messageId) as AssistantMessage }
    if (event.type === 'usage') {
      const message = messages.get(`${event.turnId}/${event.step}`) as AssistantMessage | undefined
      return { ...(message && { usage: message.usage }), ...event }
    }
    const record = recordOf(event, calls)
    return record ? ({ ...outcomeOf(record), ...event, result: record.result } as AgentEvent) : event
  })

/** Returns the record of the call whose result the event is about. */
const recordOf = (event: AgentEvent, calls: Entries['calls']): CallRecord | undefined =>
  event.type === 'tool.result' && !event.late ? calls.get(event.callId) : undefined

/** Returns the steps with the events they refer to. A step whose events are damaged is damaged too. */
export function wholeSteps({ steps, calls, events }: Pick<Entries, 'steps' | 'calls' | 'events'>): readonly JournalRow[] {
  const known = new Map(
    events.map((event) => {
      const { id, sessionId, turnId, at, ...own } = event
      const record = recordOf(event, calls)
      return [id, record ? { ...outcomeOf(record), ...own } : own]
    }),
  )
  return steps.map(({ name, value: json }) => {
    const value = readJson<{ readonly events?: readonly (object | number)[]; readonly call?: object } | null>(json)
    const whole = value?.events?.map((event) => (typeof event === 'number' ? known.get(event) : event))
    if (whole === undefined) return { name, value: json }
    const [first] = whole as readonly (Shared & { readonly callId?: string })[]
    const call = value?.call && { id: first?.callId, ...(first && sharedOf(first)), ...value.call }
    return { name, value: whole.includes(undefined) ? '' : JSON.stringify({ ...value, events: whole, ...(call && { call }) }) }
  })
}

/** Parses JSON. Returns undefined if it is damaged: that loses one value, not the session. */
export function readJson<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}

/** Returns the numbers in an id: messages and calls are named after their turn and numbered within it. */
const numbersIn = (id: string): readonly number[] => id.split('/').slice(1).map(Number)

function damagedMessage(id: string, turnId: string): StoredMessage {
  const text = 'This message is damaged in the store and could not be read.'
  const { step, ...words } = ownWords(turnId, text)
  const [, number = step] = numbersIn(id)
  return number === 0 || id.includes('/steer-')
    ? { role: 'user', id, turnId, text: `[${text}]` }
    : { ...words, id, step: Number.isNaN(number) ? step : number }
}

/** Returns the fields of a call that are not in its JSON. */
function keyOfCall(id: string, effect = 'read', tool = '') {
  const [, step = 0, ordinal = 0] = numbersIn(id)
  return { id, step, ordinal, tool: readJson<string>(tool) ?? '', effect: effect as Effect }
}

function damagedCall(id: string, effect?: string, tool?: string): CallRecord {
  const result = notOk('internal', 'This result is damaged in the store and could not be read.')
  return { ...keyOfCall(id, effect, tool), input: {}, target: '', attempts: 0, repairs: [], result, durationMs: 0 }
}

/** Joins messages and calls into the history: each assistant message with calls is followed by their available results. */
export function joinHistory(messages: readonly StoredMessage[], calls: ReadonlyMap<string, CallRecord>): Message[] {
  return messages.flatMap((message): Message[] => {
    if (message.role === 'user' || callsOf(message).length === 0) return [message]
    const records = callsOf(message).flatMap(({ callId }) => calls.get(callId) ?? [])
    return [message, { role: 'results', turnId: message.turnId, step: message.step, records }]
  })
}
