/**
 * Tests the faults of tools, models and providers with the real command over HTTP: the turn ends with an answer and the correct exit
 * code, every call has one result, every hint works, and nothing leaks.
 */
import { DEFAULT_STATUS } from '@mulligan/core/executor'
import { describe, expect, it } from 'vitest'
import { isAll } from '../../scripts/test-scope.fixture.ts'
import { drive } from './drive.ts'
import type { Row } from './row.ts'
import { COUNTERS } from './rows/counters.ts'
import { EFFECTS } from './rows/effects.ts'
import { LIMITS } from './rows/limits.ts'
import { LOOPS } from './rows/loops.ts'
import { PROVIDER } from './rows/provider.ts'
import { REPAIR } from './rows/repair.ts'
import { RESULTS } from './rows/results.ts'
import { SECRETS } from './rows/secrets.ts'
import { TASKS } from './rows/tasks.ts'

const THEMES: Readonly<Record<string, readonly Row[]>> = {
  results: RESULTS,
  counters: COUNTERS,
  limits: LIMITS,
  loops: LOOPS,
  effects: EFFECTS,
  provider: PROVIDER,
  repair: REPAIR,
  secrets: SECRETS,
  tasks: TASKS,
}

const AT_ONCE = 4
/** Milliseconds, including the time that a row waits on a busy machine. */
const TIMEOUT = 240_000

const atOnce = limited(AT_ONCE)

describe.concurrent.each(Object.entries(THEMES))('%s', (_, rows) => {
  const cases = rows.flatMap((row) =>
    (row.on ?? ['openai']).slice(0, isAll ? undefined : 1).map((protocol) => [row.name, protocol, row] as const),
  )
  it.concurrent.each(cases)('%s (%s)', (_name, protocol, row) => atOnce(() => drive(row, protocol)), TIMEOUT)
})

it('has every status and every type of error', () => {
  const rows = Object.values(THEMES).flat()
  const outcomes = rows.flatMap((row) => [...row.calls, ...(row.next?.calls ?? [])]).flatMap((line) => line.split(/[ ,]+/).slice(1))
  const asked = new Set([...Object.keys(DEFAULT_STATUS), ...Object.values(DEFAULT_STATUS), 'denied', 'indeterminate', 'closed', 'ok', '0'])
  expect([...asked].filter((one) => !outcomes.includes(one))).toEqual([])
})

function limited(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      return await work()
    } finally {
      running--
      waiting.shift()?.()
    }
  }
}
