import type { AgentEvent } from '@mulligan/agent'
import { describe, expect, it } from 'vitest'
import { createObserver } from './observe.ts'
import { bucketLabel, columnsOf, duration, percent, segmentsOf } from './present.ts'
import { reliabilityOf } from './reliability.ts'
import { slimEvent } from './slim.ts'

const HOUR = 3_600_000

type Given = { readonly type: string } & Readonly<Record<string, unknown>>

/** Events of one turn, a second apart. */
const turn = (id: string, model: string, events: readonly Given[], at = 0): readonly AgentEvent[] =>
  [{ type: 'turn.started', prompt: '', model, where: 'here', resumed: false }, ...events].map(
    (event, n) => ({ sessionId: id.split('/')[0], turnId: id, at: at + n * 1000, id: n + 1, ...event }) as unknown as AgentEvent,
  )

const call = (callId: string, tool: string, step = 1): Given => ({
  type: 'tool.call',
  callId,
  step,
  ordinal: 0,
  tool,
  input: {},
  effect: 'read',
})
const result = (callId: string, tool: string, outcome: object, more: object = {}): Given => ({
  ...{ type: 'tool.result', callId, step: 1, tool, effect: 'read', inputKey: '{}', attempts: 1, durationMs: 10 },
  ...{ result: outcome, ...more },
})
const OK = { ok: true, data: 1 }
const wrong = (errorType: string, details = {}) => ({ ok: false, status: 'retry', errorType, error: 'no', details })
const ended = (status = 'answered'): Given => ({ type: 'turn.ended', outcome: { status } })

/** What is kept of events gives the same figures as the events. */
function report(lists: readonly (readonly AgentEvent[])[], filter = {}, period = {}) {
  const [whole, slim] = [createObserver(period), createObserver(period)]
  for (const event of lists.flat()) {
    whole.add(event)
    const kept = slimEvent(event)
    if (kept) slim.add(kept)
  }
  const observed = whole.end()
  expect(slim.end()).toEqual(observed)
  return reliabilityOf(observed, filter)
}

const caught = (of: ReturnType<typeof report>) =>
  Object.fromEntries(of.caught.flatMap(({ what, count }) => (count > 0 ? [[what, count]] : [])))

describe('the outcomes of calls', () => {
  it('counts a success as it came, a repaired one, and failures by their status', () => {
    const found = report([
      turn('a/1', 'm', [
        ...[call('1', 'grep'), result('1', 'grep', OK)],
        ...[call('2', 'grep'), { type: 'tool.repaired', callId: '2', tool: 'grep', repair: { kind: 'type' } }, result('2', 'grep', OK)],
        ...[call('3', 'bash'), result('3', 'bash', { ok: false, status: 'failed', errorType: 'execution', error: '' })],
        ended(),
      ]),
    ])
    expect(found.total).toMatchObject({ calls: 3, outcomes: { ok: 1, repaired: 1, failed: 1 }, success: 2 / 3, repairs: 1 })
    expect(found.tools).toMatchObject([
      { tool: 'grep', calls: 2, repairs: 1 },
      { tool: 'bash', calls: 1, success: 0 },
    ])
    expect(found).toMatchObject({ turns: 1, answered: 1, sessions: 1, repairs: [{ kind: 'type', count: 1 }] })
  })

  it('gives a call to the model that wrote its step', () => {
    const other = { type: 'message.completed', messageId: 'x', step: 2, message: { model: 'b', parts: [] } }
    const found = report([
      turn('a/1', 'a', [call('1', 'grep'), result('1', 'grep', OK), other, call('2', 'grep', 2), result('2', 'grep', OK, { step: 2 })]),
    ])
    expect(found.models.map(({ model, calls }) => [model, calls])).toEqual([
      ['a', 1],
      ['b', 1],
    ])
  })

  it('puts unknown tools into one row, whatever the model called them', () => {
    const calls = ['x', '<script>'].flatMap((tool, n) => [call(`${n}`, tool), result(`${n}`, tool, wrong('unknown_tool'), { attempts: 0 })])
    const found = report([turn('a/1', 'm', calls)])
    expect(found.tools).toMatchObject([{ tool: '(unknown tool)', calls: 2, outcomes: { retry: 2 } }])
    expect(found.tools[0]).not.toHaveProperty('latency')
    expect(caught(found)).toEqual({ unknown_tool: 2 })
  })

  it('does not count a late result as a call', () => {
    const found = report([turn('a/1', 'm', [call('1', 'bash'), result('1', 'bash', OK, { late: true })])])
    expect([found.total.calls, caught(found)]).toEqual([0, { late_result: 1 }])
  })
})

it('counts wrong calls until the tool succeeded, per tool and turn', () => {
  const found = report([
    turn('a/1', 'm', [
      ...[call('1', 'read_file'), result('1', 'read_file', wrong('not_found'))],
      ...[call('2', 'grep'), result('2', 'grep', OK)],
      ...[call('3', 'read_file'), result('3', 'read_file', wrong('not_found'))],
      ...[call('4', 'read_file'), result('4', 'read_file', OK)],
      // A wrong name is made good by the tool that was meant.
      ...[call('5', 'run'), result('5', 'run', wrong('unknown_tool', { call: { tool: 'bash', input: {} } }))],
      ...[call('6', 'bash'), result('6', 'bash', OK)],
      ...[call('7', 'edit_file'), result('7', 'edit_file', wrong('validation'))],
      ended(),
    ]),
    // The next turn does not make it good.
    turn('a/2', 'm', [call('8', 'edit_file'), result('8', 'edit_file', OK), ended()]),
  ])
  expect(found.retries).toEqual({ afterOne: 1, afterTwo: 1, afterMore: 0, never: 1 })
  expect(caught(found)).toEqual({ not_found: 2, unknown_tool: 1, invalid_input: 1 })
})

it('counts what the engine handled', () => {
  const approval = { type: 'tool.approval.required', callId: '1', tool: 'mail', target: '', reason: '', forced: true }
  const found = report([
    turn('a/1', 'm', [
      { type: 'message.created', messageId: 'm', step: 1, attempt: 1 },
      { type: 'message.created', messageId: 'm', step: 1, attempt: 2 },
      { type: 'message.discarded', messageId: 'm', step: 1, why: '' },
      { type: 'message.quoted', messageId: 'm', step: 1, quoted: [{ raw: '', why: '', open: false }], asked: false },
      ...[call('1', 'mail'), { ...approval, indeterminate: ['0'] }],
      { type: 'tool.approval.resolved', callId: '1', tool: 'mail', target: '', decision: { answer: 'no' } },
      result('1', 'mail', { ok: false, status: 'denied', errorType: 'permission', error: '' }, { attempts: 0 }),
      ...[call('2', 'mail'), approval, result('2', 'mail', { ok: false, status: 'indeterminate', errorType: 'timeout', error: '' })],
      ...[call('3', 'grep'), result('3', 'grep', OK, { attempts: 3 })],
      ...[call('4', 'grep'), result('4', 'grep', { ok: false, status: 'blocked', errorType: 'loop', error: '' }, { attempts: 0 })],
      { type: 'tool.closed', callId: '4', tool: 'grep', until: 'turn' },
    ]),
  ])
  expect(caught(found)).toEqual({
    ...{ request_retried: 1, reply_discarded: 1, call_in_text: 1, repeat_held: 1, approval_asked: 2, approval_denied: 1 },
    ...{ indeterminate: 1, fault_absorbed: 1, loop_blocked: 1, tool_closed: 1 },
  })
  expect(found.requests).toBe(2)
})

describe('latency', () => {
  it('is in percentiles of the calls that ran', () => {
    const calls = Array.from({ length: 100 }, (_, n) => [call(`${n}`, 'grep'), result(`${n}`, 'grep', OK, { durationMs: 100 - n })]).flat()
    const refused = [call('x', 'grep'), result('x', 'grep', wrong('validation'), { attempts: 0, durationMs: 10_000 })]
    expect(report([turn('a/1', 'm', [...calls, ...refused])]).total.latency).toEqual({ p50: 50, p90: 90, p99: 99, max: 100 })
  })
})

describe('the period and the filter', () => {
  const day = (n: number, tool: string, model: string) =>
    turn(`s${n}/1`, model, [call('1', tool), result('1', tool, OK), ended()], n * 24 * HOUR)
  const lists = [day(0, 'grep', 'a'), day(1, 'bash', 'a'), day(40, 'grep', 'b')]

  it('leave out what does not belong to them', () => {
    expect(report(lists, {}, { since: 24 * HOUR, until: 39 * 24 * HOUR })).toMatchObject({ turns: 1, tools: [{ tool: 'bash' }] })
    const found = report(lists, { tool: 'grep', model: 'b' })
    expect(found).toMatchObject({ total: { calls: 1 }, models: [{ model: 'b' }], known: { tools: ['bash', 'grep'], models: ['a', 'b'] } })
  })

  it('choose the size of the steps over time', () => {
    expect(report(lists)).toMatchObject({ bucketMs: 24 * HOUR, series: [{ at: 0 }, { at: 24 * HOUR }, { at: 40 * 24 * HOUR }] })
    expect(report([lists[0] ?? []])).toMatchObject({ bucketMs: 60_000, series: [{ calls: 1 }] })
    expect(report([])).toMatchObject({ total: { calls: 0, success: 1 }, series: [] })
  })
})

describe('how figures are shown', () => {
  it.each([
    [1, '100 %'],
    [0.99999, '>99.9 %'],
    [0.991, '99.1 %'],
    [0, '0 %'],
  ])('%f is %s', (share, text) => expect(percent(share)).toBe(text))

  it.each([
    [0.2, '<1 ms'],
    [12.4, '12 ms'],
    [1234, '1.23 s'],
    [61_000, '1 min 1 s'],
    [7_860_000, '2 h 11 min'],
  ])('%f ms is %s', (ms, text) => expect(duration(ms)).toBe(text))

  it('shares of a bar fill it, and columns keep their place in time', () => {
    expect(segmentsOf({ ok: 1, retry: 3 })).toEqual([
      { outcome: 'ok', count: 1, from: 0, share: 0.25 },
      { outcome: 'retry', count: 3, from: 0.25, share: 0.75 },
    ])
    const bucket = { calls: 1, outcomes: { ok: 1 }, success: 1, repairs: 0 }
    const columns = columnsOf(
      [
        { ...bucket, at: 0 },
        { ...bucket, at: 3 * HOUR },
      ],
      HOUR,
    )
    expect(columns.map(({ x, width }) => [x, width])).toEqual([
      [0.095, 0.06],
      [0.845, 0.06],
    ])
    expect([bucketLabel(HOUR), bucketLabel(6 * HOUR), bucketLabel(15 * 60_000)]).toEqual(['hour', '6 hours', '15 minutes'])
  })
})
