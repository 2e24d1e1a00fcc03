/** From the flags, and the file that is gone on with, to what is run. */
import { nearest } from '@mulligan/core'
import { oneLine, UsageError } from '@mulligan/host/light'
import type { BackendName } from '@mulligan/sandbox'
import { ARMS, type Arm } from './arms/arm.ts'
import type { EvalHeader } from './results.ts'
import type { EvalTask } from './task.ts'

export interface EvalFlags {
  readonly model?: string
  readonly baseUrl?: string
  /** Tokens. */
  readonly context?: number
  readonly opensInReasoning?: boolean
  readonly arms?: string
  readonly tasks?: string
  readonly runs?: number
  readonly seed?: number
  readonly concurrency?: number
  readonly maxRequests?: number
  /** Seconds of a run. */
  readonly timeout?: number
  readonly sandbox?: 'auto' | BackendName
  readonly json?: boolean
  readonly jsonl?: string
  readonly resume?: string
  readonly list?: boolean
}

export interface Chosen {
  readonly tasks: readonly EvalTask[]
  readonly arms: readonly Arm[]
  readonly runs: number
  readonly seed: number
  readonly maxRequests: number
  /** Seconds. */
  readonly timeout: number
}

const DEFAULTS = { runs: 1, seed: 1, maxRequests: 20, timeout: 300 } as const

/** @throws UsageError for a task or an arm that there is not */
export function chosen(flags: EvalFlags, catalogue: readonly EvalTask[]): Chosen {
  const ids = listed(
    '--tasks',
    flags.tasks,
    catalogue.map(({ id }) => id),
    'mulligan eval --list shows them.',
  )
  const arms = listed('--arms', flags.arms, ARMS, `They are: ${ARMS.join(', ')}.`)
  return {
    tasks: catalogue.filter(({ id }) => ids.includes(id)),
    arms: ARMS.filter((arm) => arms.includes(arm)),
    runs: flags.runs ?? DEFAULTS.runs,
    seed: flags.seed ?? DEFAULTS.seed,
    maxRequests: flags.maxRequests ?? DEFAULTS.maxRequests,
    timeout: flags.timeout ?? DEFAULTS.timeout,
  }
}

function listed(flag: string, given: string | undefined, all: readonly string[], hint: string): readonly string[] {
  if (given === undefined) return all
  const names = given
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length === 0) throw new UsageError(`${flag} names none`, hint)
  const unknown = names.find((name) => !all.includes(name))
  if (unknown === undefined) return names
  const [near] = nearest(unknown, all, 1)
  throw new UsageError(`${flag}: there is no ${oneLine(unknown, 60)}${near ? `; did you mean ${near}?` : ''}`, hint)
}

/**
 * What stands in the file is run, and no flag may say otherwise: figures of different conditions are not to be put together.
 * @throws UsageError that names what differs
 */
export function checkResumed(
  path: string,
  header: EvalHeader,
  now: Pick<EvalHeader, 'model' | 'where' | 'contextTokens' | 'version' | 'sandbox' | 'fingerprint'>,
  flags: EvalFlags,
): void {
  const differs = (what: string, before: string | number, today: string | number): never => {
    throw new UsageError(
      `--resume: ${path} was begun with ${what} ${oneLine(String(before), 80)}, now it is ${oneLine(String(today), 80)}`,
      'Runs under different conditions are not put together: begin a new file with --jsonl, or go on as it was begun.',
    )
  }
  for (const [what, key] of CONDITIONS) if (header[key] !== now[key]) differs(what, header[key], now[key])
  for (const key of ['runs', 'seed', 'maxRequests', 'timeout'] as const) {
    const given = flags[key]
    if (given !== undefined && given !== header[key]) differs(key, header[key], given)
  }
  const same = (given: string | undefined, list: readonly string[]): boolean =>
    given === undefined ||
    given
      .split(',')
      .map((one) => one.trim())
      .toSorted()
      .join() === list.toSorted().join()
  if (!same(flags.arms, header.arms)) differs('the arms', header.arms.join(','), flags.arms ?? '')
  if (!same(flags.tasks, header.tasks)) differs('the tasks', header.tasks.join(','), flags.tasks ?? '')
}

const CONDITIONS = [
  ['the model', 'model'],
  ['the model on', 'where'],
  ['a context of', 'contextTokens'],
  ['version', 'version'],
  ['the sandbox', 'sandbox'],
  ['the tasks', 'fingerprint'],
] as const
