/** Invented records of runs, and their report. */
import fc from 'fast-check'
import { ARMS, type Arm } from './arms/arm.ts'
import { type EvalReport, reportOf } from './report.ts'
import type { EvalHeader } from './results.ts'
import { keyOf, type RunRecord } from './results.ts'

export const record = (
  task: string,
  run: number,
  arm: Arm,
  is: 'ok' | 'failed' | 'not measured',
  more: Partial<RunRecord> = {},
): RunRecord => ({
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
  repaired: {},
  answer: '',
  ...more,
})

export const TASKS = Array.from({ length: 12 }, (_, at) => `task-${at}`)
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

export const someRecords = fc
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

export const reportOn = (records: readonly RunRecord[]): EvalReport => reportOf(header, records, undefined)
