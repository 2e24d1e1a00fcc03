/** The reducer of a session's page, over the events of a turn with a failed attempt, repairs, an approval and a result. */
import { expect, it } from 'vitest'
import type { AgentEvent } from '../api/types.ts'
import { stateOf } from '../chat/outcome.ts'
import { timelineOf } from '../timeline/rows.ts'
import { applyEvents, type CallItem, EMPTY, type RequestItem, withoutPartials } from './conversation.ts'

const [sessionId, turnId, messageId, callId] = ['s', 's/1', 's/1/1', 's/1/1/0']
const place = (at: number) => ({ sessionId, turnId, at, id: at })
const usage = { inputTokens: 100, outputTokens: 7 }
const message = {
  ...{ role: 'assistant', id: messageId, turnId, step: 1, model: 'm', finishReason: 'tool-calls', usage },
  parts: [{ type: 'text', text: 'Hello.' }],
} as const
const ledger = { changed: [], failed: [], unknown: [] }

const EVENTS = [
  { type: 'session.created', cwd: '/w', ...place(1) },
  { type: 'turn.started', prompt: 'go', model: 'm', where: 'here', resumed: false, ...place(2) },
  { type: 'message.created', messageId, step: 1, attempt: 1, ...place(3) },
  { type: 'message.part.delta', messageId, text: 'Hel', sessionId, turnId, at: 4 },
  { type: 'message.discarded', messageId, step: 1, why: 'the connection broke', ...place(5) },
  { type: 'message.created', messageId, step: 1, attempt: 2, ...place(6) },
  { type: 'message.part.delta', messageId, text: 'Hello.', sessionId, turnId, at: 7 },
  { type: 'message.completed', messageId, step: 1, message, ...place(8) },
  { type: 'usage', step: 1, usage, contextUsed: 107, contextTokens: 1000, ...place(9) },
  { type: 'tool.call', callId, step: 1, ordinal: 0, tool: 'write_file', input: { path: 'a' }, effect: 'write', target: 'a', ...place(10) },
  { type: 'tool.approval.required', callId, tool: 'write_file', target: 'a', reason: 'it changes files', forced: false, ...place(11) },
  { type: 'turn.waiting', approvals: ['q'], ...place(12) },
  { type: 'turn.started', prompt: 'go', model: 'm', where: 'here', resumed: true, ...place(20_000) },
  { type: 'tool.approval.resolved', callId, tool: 'write_file', target: 'a', decision: { answer: 'once' }, ...place(20_001) },
  { type: 'tool.started', callId, tool: 'write_file', effect: 'write', inputHash: 'h', ...place(20_002) },
  {
    ...{ type: 'tool.result', callId, step: 1, tool: 'write_file', effect: 'write', inputKey: '{}', attempts: 1, durationMs: 3 },
    ...{ result: { ok: true, data: {} }, ...place(20_005) },
  },
  {
    type: 'turn.ended',
    outcome: { sessionId, turnId, status: 'answered', answer: 'Done.', ledger, usage, requests: 1 },
    ...place(20_006),
  },
] as unknown as readonly AgentEvent[]

const upTo = (count: number) => applyEvents(EMPTY, EVENTS.slice(0, count))
const callIn = (count: number) => upTo(count).turns[0]?.items.find((item) => item.kind === 'call') as CallItem

it('has the turn with its requests and calls', () => {
  const { cwd, turns, contextUsed } = upTo(EVENTS.length)
  expect([cwd, contextUsed, turns.length]).toEqual(['/w', 107, 1])
  expect(turns[0]).toMatchObject({ status: 'answered', answer: 'Done.', startedAt: 2, endedAt: 20_006, inputTokens: 100 })
  const request = turns[0]?.items.find((item) => item.kind === 'request') as RequestItem
  expect(request).toMatchObject({ text: 'Hello.', attempts: [{ at: 3, endedAt: 5, why: 'the connection broke' }, { at: 6 }] })
  expect([11, 15, 16].map((count) => stateOf(callIn(count)))).toEqual(['waiting', 'running', 'ok'])
})

it('one event after the other is the same as all at once, and untouched turns stay the same objects', () => {
  const steps = EVENTS.reduce((before, event) => applyEvents(before, [event]), EMPTY)
  expect(steps).toEqual(upTo(EVENTS.length))
  const more = applyEvents(steps, [{ ...EVENTS[1], turnId: 's/2', ...{ at: 30_000, id: 30_000 } } as AgentEvent])
  expect([more.turns.length, more.turns[0] === steps.turns[0]]).toEqual([2, true])
})

it('what is being written is taken back before a new connection sends it again', () => {
  const again = applyEvents(withoutPartials(upTo(7)), EVENTS.slice(6))
  expect(again).toEqual(upTo(EVENTS.length))
})

it('the timeline shortens nothing but the wait for the person', () => {
  const [turn] = upTo(EVENTS.length).turns
  const { rows, waits } = timelineOf(turn as NonNullable<typeof turn>, 0)
  expect(rows.map(({ bars }) => bars.map(({ kind, from, to }) => [kind, from, to]))).toEqual([
    [
      ['failed-request', 3, 5],
      ['backoff', 5, 6],
      ['request', 6, 8],
    ],
    [
      ['ready', 10, 11],
      ['approval', 11, 20_001],
      ['run', 20_002, 20_005],
    ],
  ])
  expect(waits.at(-1)).toEqual({ from: 10, to: 20_001 })
})
