/** The report claims what follows from the runs, and nothing more. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ARMS, type Arm } from './arms/arm.ts'
import { record, reportOn, someRecords, TASKS } from './record.fixture.ts'
import { summarize } from './report.ts'
import type { RunRecord } from './results.ts'

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

it('whatever was measured, there is a report of it', () => {
  fc.assert(
    fc.property(someRecords, (records) => {
      const report = reportOn(records)
      expect(report.complete).toBe(report.measured === 72)
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
      record('task-0', 1, 'repair', 'ok', { repaired: { type: 3, json: 1 } }),
      record('task-1', 1, 'bare', 'ok'),
      record('task-1', 1, 'repair', 'ok', { repaired: { type: 1 } }),
      record('task-2', 1, 'bare', 'failed'),
      record('task-2', 1, 'repair', 'ok'),
      record('task-3', 1, 'bare', 'failed'),
      record('task-3', 1, 'repair', 'failed', { repaired: { name: 1 } }),
    ]
    const { madeTheDifference, arms } = summarize(records, TASKS, ['bare', 'repair'], 1)
    expect(madeTheDifference).toEqual([{ arm: 'repair', runs: 2, withoutRepair: 1, kinds: { json: 1, type: 1 } }])
    expect(arms[1]?.repaired).toEqual({ type: 4, json: 1, name: 1 })
  })
})
