/** What the report claims follows from the runs, and no more than follows. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Output } from '../ui/output.ts'
import { ARMS, type Arm } from './arms/arm.ts'
import { progress } from './progress.ts'
import { keyOf, type RunRecord } from './record.ts'
import { reportLines, reportOf } from './report.ts'
import type { EvalHeader } from './results.ts'
import { summarize } from './summary.ts'

const record = (task: string, run: number, arm: Arm, is: 'ok' | 'failed' | 'not measured', more: Partial<RunRecord> = {}): RunRecord => ({
  task,
  run,
  arm,
  ok: is === 'ok',
  ...(is !== 'ok' && { failure: is === 'failed' ? 'wrong answer' : 'not measured', says: 'x' }),
  ended: is === 'not measured' ? 'provider' : 'answered',
  requests: 2,
  calls: 1,
  tokensIn: 100,
  tokensOut: 10,
  seconds: 1,
  mended: {},
  answer: '',
  ...more,
})

const TASKS = Array.from({ length: 12 }, (_, at) => `task-${at}`)
const header: EvalHeader = {
  type: 'eval',
  version: '0.0.0',
  date: '2027-01-01T00:00:00.000Z',
  model: 'a/b\u001b[31m',
  where: 'this machine',
  contextTokens: 8192,
  tasks: TASKS,
  fingerprint: 'x',
  leftOut: [],
  arms: [...ARMS],
  runs: 2,
  seed: 1,
  maxRequests: 20,
  timeout: 300,
  sandbox: 'bubblewrap',
}

const someRecords = fc
  .array(
    fc.record({
      task: fc.constantFrom(...TASKS),
      run: fc.integer({ min: 1, max: 2 }),
      arm: fc.constantFrom(...ARMS),
      is: fc.constantFrom('ok' as const, 'failed' as const, 'not measured' as const),
    }),
    { maxLength: 72 },
  )
  .map((all) => [...new Map(all.map(({ task, run, arm, is }) => [keyOf({ task, run, arm }), record(task, run, arm, is)])).values()])

it('a verdict is given only where interval and test both give it, and swapping two arms swaps it', () => {
  const swap: Record<Arm, Arm> = { bare: 'full', repair: 'repair', full: 'bare' }
  const opposite = {
    better: 'worse',
    worse: 'better',
    'too few to tell': 'too few to tell',
    'no difference seen': 'no difference seen',
  } as const
  const twoArms = (records: readonly RunRecord[]) => summarize(records, TASKS, ['bare', 'full'], 1).differences[0]
  fc.assert(
    fc.property(someRecords, (records) => {
      for (const { verdict, interval, p, difference, better, worse } of summarize(records, TASKS, ARMS, 1).differences) {
        if (verdict === 'better') expect(interval[0] > 0 && difference > 0 && p < 0.05).toBe(true)
        if (verdict === 'worse') expect(interval[1] < 0 && difference < 0 && p < 0.05).toBe(true)
        if (better + worse < 6) expect(['too few to tell', 'no difference seen']).toContain(verdict)
      }
      const there = twoArms(records)
      const back = twoArms(records.map((one) => ({ ...one, arm: swap[one.arm] })))
      expect([back?.better, back?.worse, back?.verdict]).toEqual([there?.worse, there?.better, opposite[there?.verdict ?? 'better']])
    }),
    { numRuns: 40 },
  )
})

it('whatever was measured, there is a report of it, and nothing of it moves a terminal', () => {
  fc.assert(
    fc.property(someRecords, (records) => {
      const report = reportOf(header, records, undefined)
      expect(report.complete).toBe(report.measured === 72)
      expect(reportLines(report).join('\n')).toMatch(report.complete ? /^(?![\s\S]*INCOMPLETE)/ : /INCOMPLETE: \d+ of 72/)
      expect(JSON.stringify(report)).not.toContain('null')
    }),
    { numRuns: 20 },
  )
})

describe('what is compared', () => {
  it('runs that were not measured are in no figure, and their other half is compared with nothing', () => {
    const records = [
      ...TASKS.map((task) => record(task, 1, 'bare', 'failed')),
      ...TASKS.map((task, at) => record(task, 1, 'full', at < 8 ? 'ok' : 'not measured')),
    ]
    const { arms, differences } = summarize(records, TASKS, ['bare', 'full'], 1)
    expect(arms.map(({ measured, notMeasured, succeeded }) => [measured, notMeasured, succeeded])).toEqual([
      [12, 0, 0],
      [8, 4, 8],
    ])
    expect(differences).toMatchObject([{ tasks: 8, difference: 1, better: 8, worse: 0, verdict: 'better' }])
  })

  it('a task with several runs counts once, by its rate', () => {
    const records = [1, 2, 3, 4].flatMap((run) => [
      record('task-0', run, 'bare', run === 1 ? 'ok' : 'failed'),
      record('task-0', run, 'full', run === 4 ? 'failed' : 'ok'),
      record('task-1', run, 'bare', 'ok'),
      record('task-1', run, 'full', 'ok'),
    ])
    expect(summarize(records, TASKS, ['bare', 'full'], 1).differences).toMatchObject([{ tasks: 2, difference: 0.25, better: 1, worse: 0 }])
  })

  it('repairs are credited where bare failed, and only there', () => {
    const records = [
      record('task-0', 1, 'bare', 'failed'),
      record('task-0', 1, 'repair', 'ok', { mended: { type: 3, json: 1 } }),
      record('task-1', 1, 'bare', 'ok'),
      record('task-1', 1, 'repair', 'ok', { mended: { type: 1 } }),
      record('task-2', 1, 'bare', 'failed'),
      record('task-2', 1, 'repair', 'ok'),
      record('task-3', 1, 'bare', 'failed'),
      record('task-3', 1, 'repair', 'failed', { mended: { name: 1 } }),
    ]
    const { madeTheDifference, arms } = summarize(records, TASKS, ['bare', 'repair'], 1)
    expect(madeTheDifference).toEqual([{ arm: 'repair', runs: 2, withoutRepair: 1, kinds: { json: 1, type: 1 } }])
    expect(arms[1]?.mended).toEqual({ type: 4, json: 1, name: 1 })
  })
})

it('in a terminal the run that goes on is shown and taken away again; elsewhere there are lines alone', () => {
  const shown = (isTerminal: boolean): string => {
    let text = ''
    const output: Output = {
      out: () => undefined,
      err: (more) => {
        text += more
      },
      closed: new AbortController().signal,
      flush: async () => undefined,
    }
    let now = 0
    const view = progress(output, 10, 2, isTerminal, () => now)
    view.begin({ task: 'task-0', run: 1, arm: 'bare' })
    now = 60_000
    view.end(record('task-0', 1, 'bare', 'failed', { says: 'it lacks \u001b[31m42' }))
    view.begin({ task: 'task-1', run: 1, arm: 'full' })
    view.clear()
    return text
  }
  expect(shown(false)).toBe('[ 3/10] ✗ task-0 bare 2 requests 1.0 s (wrong answer: it lacks 42)\n')
  expect(shown(true).split('\r\u001b[K')).toEqual([
    '',
    '[2/10] task-0 bare …',
    '[ 3/10] ✗ task-0 bare 2 requests 1.0 s (wrong answer: it lacks 42)\n',
    '[3/10] task-1 full …, about 7 min left',
    '',
  ])
})
