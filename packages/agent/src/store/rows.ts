/** Between rows and what they stand for. Large parts are kept once: events name the call or message that has them. */
import { type CallRecord, type Effect, notOk } from '@mulligan/core'
import type { AgentEvent } from '../events.ts'
import { type AssistantMessage, ownWords, type UserMessage } from '../history/message.ts'
import type { StoredCallRow, StoredEvent, StoredMessage } from './schema.ts'

export function toMessageRow(sessionId: string, message: UserMessage | AssistantMessage, now: number): StoredMessage {
  return {
    id: message.id,
    session_id: sessionId,
    turn_id: message.turnId,
    step: message.role === 'user' ? 0 : message.step,
    role: message.role,
    content: JSON.stringify(message),
    created_at: now,
  }
}

/** The value of a column of JSON; undefined where it is damaged: that costs the one value, and not the session. */
export function readJson<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}

export function fromMessageRow(row: StoredMessage): UserMessage | AssistantMessage {
  const { id, turn_id: turnId, step } = row
  const text = 'This message is damaged in the store and could not be read.'
  const damaged = row.role === 'user' ? ({ role: 'user', id, turnId, text: `[${text}]` } as const) : { ...ownWords(turnId, text), id, step }
  return readJson(row.content) ?? damaged
}

export function toCallRow(sessionId: string, turnId: string, record: CallRecord, now: number): StoredCallRow {
  return {
    id: record.id,
    session_id: sessionId,
    turn_id: turnId,
    step: record.step,
    ordinal: record.ordinal,
    wire_id: record.wireId ?? null,
    tool: record.tool,
    requested_tool: record.requestedTool ?? null,
    effect: record.effect,
    target: record.target,
    input: JSON.stringify(record.input) ?? 'null',
    attempts: record.attempts,
    repairs: JSON.stringify(record.repairs),
    result: JSON.stringify(record.result),
    duration_ms: record.durationMs,
    created_at: now,
  }
}

export type StoredCall = CallRecord & { readonly turnId: string }

export const fromCallRow = (row: StoredCallRow): StoredCall => ({
  turnId: row.turn_id,
  id: row.id,
  step: row.step,
  ordinal: row.ordinal,
  ...(row.wire_id !== null && { wireId: row.wire_id }),
  tool: row.tool,
  ...(row.requested_tool !== null && { requestedTool: row.requested_tool }),
  input: readJson(row.input),
  effect: row.effect as Effect,
  target: row.target,
  attempts: row.attempts,
  repairs: readJson(row.repairs) ?? [],
  result: readJson(row.result) ?? notOk('internal', 'This result is damaged in the store and could not be read.'),
  durationMs: row.duration_ms,
})

export function toEventRow(event: AgentEvent): StoredEvent {
  const { id = 0, sessionId, turnId, at, type } = event
  // What has a column or a row of its own is undefined here, and so not in the JSON.
  const own = { id: undefined, sessionId: undefined, turnId: undefined, at: undefined, type: undefined }
  const payload: Record<string, unknown> = { ...event, ...own }
  if (event.type === 'message.completed') payload['message'] = undefined
  if (event.type === 'tool.result' && !event.late) payload['result'] = undefined
  return { id, session_id: sessionId, turn_id: turnId, type, payload: JSON.stringify(payload), at }
}

export function fromEventRow(
  row: StoredEvent,
  calls: ReadonlyMap<string, CallRecord>,
  messages: ReadonlyMap<string, UserMessage | AssistantMessage>,
): AgentEvent | undefined {
  const payload = readJson<Record<string, unknown>>(row.payload)
  if (payload === undefined) return undefined
  if (row.type === 'tool.result' && !('result' in payload)) payload['result'] = calls.get(String(payload['callId']))?.result
  if (row.type === 'message.completed') payload['message'] = messages.get(String(payload['messageId']))
  return { id: row.id, sessionId: row.session_id, turnId: row.turn_id, at: row.at, type: row.type, ...payload } as unknown as AgentEvent
}
