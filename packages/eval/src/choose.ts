/** From the options, and the file that is resumed, to what is run. */
import { nearest } from '@mulligan/core'
import { oneLine, UsageError } from '@mulligan/host/light'
import { ARMS, type Arm } from './arms/arm.ts'
import type { EvalOptions } from './options.ts'
import type { EvalHeader } from './results.ts'
import type { EvalTask } from './task.ts'

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
export function chosen(options: EvalOptions, catalogue: readonly EvalTask[]): Chosen {
  const ids = listed(
    '--tasks',
    options.tasks,
    catalogue.map(({ id }) => id),
    'mulligan eval --list shows them.',
  )
  const arms = listed('--arms', options.arms, ARMS, `They are: ${ARMS.join(', ')}.`)
  return {
    tasks: catalogue.filter(({ id }) => ids.includes(id)),
    arms: ARMS.filter((arm) => arms.includes(arm)),
    runs: options.runs ?? DEFAULTS.runs,
    seed: options.seed ?? DEFAULTS.seed,
    maxRequests: options.maxRequests ?? DEFAULTS.maxRequests,
    timeout: options.timeout ?? DEFAULTS.timeout,
  }
}

function listed(flag: string, names: readonly string[] | undefined, all: readonly string[], hint: string): readonly string[] {
  if (names === undefined) return all
  if (names.length === 0) throw new UsageError(`${flag} names none`, hint)
  const unknown = names.find((name) => !all.includes(name))
  if (unknown === undefined) return names
  const [near] = nearest(unknown, all, 1)
  throw new UsageError(`${flag}: there is no ${oneLine(unknown, 60)}${near ? `; did you mean ${near}?` : ''}`, hint)
}

/**
 * What the file says is run, and no option may say otherwise: figures of different conditions are not to be put together.
 * @throws UsageError that names what differs
 */
export function checkResumed(
  path: string,
  header: EvalHeader,
  now: Pick<EvalHeader, 'model' | 'where' | 'contextTokens' | 'version' | 'sandbox' | 'fingerprint'>,
  options: EvalOptions,
): void {
  const differs = (what: string, before: string | number, today: string | number): never => {
    throw new UsageError(
      `--resume: ${path} was begun with ${what} ${oneLine(String(before), 80)}, now it is ${oneLine(String(today), 80)}`,
      'Runs under different conditions are not put together: begin a new file with --jsonl, or go on as it was begun.',
    )
  }
  for (const [what, key] of CONDITIONS) if (header[key] !== now[key]) differs(what, header[key], now[key])
  for (const key of ['runs', 'seed', 'maxRequests', 'timeout'] as const) {
    const given = options[key]
    if (given !== undefined && given !== header[key]) differs(key, header[key], given)
  }
  const checkSame = (what: string, before: readonly string[], given: readonly string[] | undefined): void => {
    if (given !== undefined && given.toSorted().join() !== before.toSorted().join()) differs(what, before.join(','), given.join(','))
  }
  checkSame('the arms', header.arms, options.arms)
  checkSame('the tasks', header.tasks, options.tasks)
}

const CONDITIONS = [
  ['the model', 'model'],
  ['the model on', 'where'],
  ['a context of', 'contextTokens'],
  ['version', 'version'],
  ['the sandbox', 'sandbox'],
  ['the tasks', 'fingerprint'],
] as const
