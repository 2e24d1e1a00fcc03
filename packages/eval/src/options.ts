/** The options of an eval, and the runs that they select. */
import { nearest } from '@mulligan/core/executor'
import type { Env, Notice } from '@mulligan/host'
import { oneLine, UsageError } from '@mulligan/host/light'
import type { BackendName } from '@mulligan/sandbox'
import { ARMS, type Arm } from './arms/arm.ts'
import type { EvalHeader } from './results.ts'
import type { EvalTask } from './task.ts'

/** Which model is measured, and how. Of the folder's configuration, only the settings that select the model apply. */
export interface EvalOptions {
  /** The folder whose configuration selects the model, as an absolute path. The runs use folders of their own. */
  readonly cwd: string
  /** All environment variables: `MULLIGAN_…`, API keys, and `HOME`, which holds the user's files. Those of the process are ignored. */
  readonly env: Env
  /** Version of the program, for the report. A file is resumed only by the version that began it. */
  readonly version: string
  /** `provider/name`. Default: the model that a run would use. */
  readonly model?: string | undefined
  /** The address of the model's server. Default: as configured. */
  readonly baseUrl?: string | undefined
  /** Context size in tokens. Default: as configured. */
  readonly context?: number | undefined
  /** The model's text begins inside its thinking, and the server does not separate the two. Default: false. */
  readonly opensInReasoning?: boolean | undefined
  /** Some of `bare`, `repair` and `full`. Default: all. */
  readonly arms?: readonly string[] | undefined
  /** Task ids, as {@link evalTasks} lists them. Default: all. */
  readonly tasks?: readonly string[] | undefined
  /** Number of runs of each task in each arm. Default: 1. */
  readonly runs?: number | undefined
  /** Seed of the order of the runs and of the bootstrap. Default: 1. */
  readonly seed?: number | undefined
  /** Maximum number of model requests per run. Default: 20. */
  readonly maxRequests?: number | undefined
  /** Maximum duration of a run, in seconds. Default: 300. */
  readonly timeout?: number | undefined
  /** Where commands run; `none` runs them without a sandbox. Default: `auto`, the first that works; without one there are no shell tools. */
  readonly sandbox?: 'auto' | BackendName | undefined
  /** Path of a new file, to which each run is written as soon as it is over. Default: none. */
  readonly jsonl?: string | undefined
  /** Path of such a file, to continue it; used instead of `jsonl`. */
  readonly resume?: string | undefined
  /** Receives the name of the model, and settings of the folder that are ignored. Default: neither is reported. */
  readonly report?: ((notice: Notice) => void) | undefined
}

export interface Chosen extends Pick<EvalHeader, 'runs' | 'seed' | 'maxRequests' | 'timeout'> {
  readonly tasks: readonly EvalTask[]
  readonly arms: readonly Arm[]
}

/** Returns the selected runs. @throws UsageError if a task or an arm does not exist */
export function chosen(options: EvalOptions, catalogue: readonly EvalTask[]): Chosen {
  const { runs = 1, seed = 1, maxRequests = 20, timeout = 300 } = options
  const all = catalogue.map(({ id }) => id)
  const ids = listed('--tasks', options.tasks, all, '`mulligan eval --list` lists the tasks.')
  const arms = listed('--arms', options.arms, ARMS, `The arms are: ${ARMS.join(', ')}.`)
  const tasks = catalogue.filter(({ id }) => ids.includes(id))
  return { tasks, arms: ARMS.filter((arm) => arms.includes(arm)), runs, seed, maxRequests, timeout }
}

function listed(flag: string, names: readonly string[] | undefined, all: readonly string[], hint: string): readonly string[] {
  if (names === undefined) return all
  if (names.length === 0) throw new UsageError(`${flag} names none`, hint)
  const unknown = names.find((name) => !all.includes(name))
  if (unknown === undefined) return names
  const [near] = nearest(unknown, all, 1)
  throw new UsageError(`${flag}: there is no ${oneLine(unknown, 60)}${near ? `; did you mean ${near}?` : ''}`, hint)
}

/** The conditions that must be the same when an eval is resumed, whatever the options. */
export type Conditions = Pick<EvalHeader, 'model' | 'where' | 'contextTokens' | 'version' | 'sandbox' | 'fingerprint'>

/**
 * Checks that an eval is resumed under the conditions of its file. Otherwise its figures could not be combined.
 * @throws UsageError that names the difference
 */
export function checkResumed(path: string, header: EvalHeader, now: Conditions, options: EvalOptions): void {
  const { runs, seed, maxRequests, timeout } = options
  const pairs: readonly (readonly [what: string, before: string | number, today: string | number | undefined])[] = [
    ['the model', header.model, now.model],
    ['the model on', header.where, now.where],
    ['a context of', header.contextTokens, now.contextTokens],
    ['version', header.version, now.version],
    ['the sandbox', header.sandbox, now.sandbox],
    ['the tasks', header.fingerprint, now.fingerprint],
    ['runs', header.runs, runs],
    ['seed', header.seed, seed],
    ['maxRequests', header.maxRequests, maxRequests],
    ['timeout', header.timeout, timeout],
    ['the arms', header.arms.join(','), sameOrGiven(header.arms, options.arms)],
    ['the tasks', header.tasks.join(','), sameOrGiven(header.tasks, options.tasks)],
  ]
  const [what, before, today] = pairs.find(([, one, other]) => other !== undefined && one !== other) ?? []
  if (what !== undefined)
    throw new UsageError(
      `--resume: ${path} was begun with ${what} ${oneLine(String(before), 80)}, now it is ${oneLine(String(today), 80)}`,
      'Runs under different conditions cannot be combined: use the original conditions, or begin a new file with --jsonl.',
    )
}

/** The order of names does not matter. */
const sameOrGiven = (before: readonly string[], given: readonly string[] | undefined): string | undefined =>
  (given?.toSorted().join() === before.toSorted().join() ? before : given)?.join(',')
