/** Computes the report from the runs: the results of each arm, how the arms differ, and what made the difference. Pure. */
import { oneLine } from '@mulligan/host/light'
import { ARMS, type Arm } from './arms/arm.ts'
import type { StoppedEarly } from './go.ts'
import { type EvalConditions, type EvalHeader, isMeasured, type RunRecord } from './results.ts'
import { bootstrapMean, holm, type Interval, type Quartiles, quartiles, randomFrom, signTest, sum, wilson } from './stats.ts'

/** Counts by name, the most frequent first. */
export type Counts = Readonly<Record<string, number>>

/** The results of one arm. */
export interface ArmSummary {
  readonly arm: Arm
  readonly measured: number
  /** Runs in which the server was unavailable; they are not part of any other figure. */
  readonly notMeasured: number
  readonly succeeded: number
  /** The 95 % interval of `succeeded / measured`. */
  readonly interval: Interval
  /** Per run, as are tokens and seconds; undefined if nothing was measured. */
  readonly requests: Quartiles | undefined
  readonly tokensIn: Quartiles | undefined
  readonly tokensOut: Quartiles | undefined
  readonly seconds: Quartiles | undefined
  /** Input and output tokens of all runs, divided by the successes; absent if there are none. */
  readonly tokensPerSuccess?: number
  readonly failures: Counts
  /** Repaired calls, by kind. */
  readonly repaired: Counts
}

/** How two arms differ, compared by task. */
export interface Difference {
  readonly arm: Arm
  readonly than: Arm
  /** Number of tasks that were measured in both arms. */
  readonly tasks: number
  /** Mean difference of the success rates by task: `arm` minus `than`. */
  readonly difference: number
  /** The 95 % interval of the difference. */
  readonly interval: Interval
  /** Number of tasks with a better and with a worse rate. */
  readonly better: number
  readonly worse: number
  /** Adjusted for multiple comparisons. */
  readonly p: number
  readonly verdict: 'better' | 'worse' | 'no difference seen' | 'too few to tell'
}

/** The runs that succeeded in this arm and failed in `bare`, by the kinds of repair in them. */
export interface MadeTheDifference {
  readonly arm: Arm
  readonly runs: number
  /** Runs without a repaired call: hints, the loop guard, or chance made the difference. */
  readonly withoutRepair: number
  readonly kinds: Counts
}

/** The results of one task, by arm. */
export interface TaskSummary {
  readonly task: string
  readonly arms: Readonly<Partial<Record<Arm, { readonly succeeded: number; readonly measured: number }>>>
}

/** The figures that follow from the runs. */
export interface Summary {
  readonly arms: readonly ArmSummary[]
  readonly differences: readonly Difference[]
  readonly madeTheDifference: readonly MadeTheDifference[]
  readonly tasks: readonly TaskSummary[]
}

/** The conditions of an eval and its figures. */
export interface EvalReport extends Summary {
  /** Every planned run was measured. */
  readonly complete: boolean
  /** Why it is incomplete, for the user. */
  readonly incomplete?: string
  /** Total number of runs. */
  readonly planned: number
  /** Runs in which the server was available. */
  readonly measured: number
  readonly conditions: EvalConditions
}

export function reportOf({ type: _, ...conditions }: EvalHeader, records: readonly RunRecord[], stopped?: StoppedEarly): EvalReport {
  const { tasks, arms, runs, seed } = conditions
  const planned = tasks.length * arms.length * runs
  const measured = records.filter(isMeasured).length
  return {
    complete: measured === planned,
    ...(measured < planned && { incomplete: `${measured} of ${planned} runs were measured: ${reasonFor(stopped)}` }),
    planned,
    measured,
    conditions,
    ...summarize(records, tasks, arms, seed),
  }
}

function reasonFor(stopped: StoppedEarly | undefined): string {
  if (!stopped) return 'the model’s server was unavailable in some runs'
  if (stopped.by === 'fault') return `an error stopped the eval: ${oneLine(stopped.why, 300)}`
  return stopped.by === 'person' ? 'the eval was stopped' : 'the model’s server did not reply in three consecutive runs'
}

/** Computes the figures. @param seed seed of the bootstrap */
export function summarize(records: readonly RunRecord[], tasks: readonly string[], arms: readonly Arm[], seed: number): Summary {
  const measured = records.filter(isMeasured)
  const ordered = ARMS.filter((arm) => arms.includes(arm))
  const pairs = ordered.flatMap((than, at) => ordered.slice(at + 1).map((arm) => ({ arm, than })))
  const compared = pairs.map((pair) => compare(measured, tasks, pair, seed))
  const ps = holm(compared.map(({ p }) => p))
  const inArm = (arm: Arm, from: readonly RunRecord[]): readonly RunRecord[] => from.filter((record) => record.arm === arm)
  const ofTask = (task: string, arm: Arm) => {
    const runs = inArm(arm, measured).filter((record) => record.task === task)
    return { succeeded: runs.filter(({ ok }) => ok).length, measured: runs.length }
  }
  return {
    arms: ordered.map((arm) => armSummary(inArm(arm, records), arm)),
    differences: compared.map((one, at) => withVerdict({ ...one, p: ps[at] as number })),
    madeTheDifference: ordered.includes('bare') ? ordered.slice(1).map((arm) => whatMade(measured, arm)) : [],
    tasks: tasks.map((task) => ({ task, arms: Object.fromEntries(ordered.map((arm) => [arm, ofTask(task, arm)])) })),
  }
}

function armSummary(records: readonly RunRecord[], arm: Arm): ArmSummary {
  const measured = records.filter(isMeasured)
  const succeeded = measured.filter(({ ok }) => ok).length
  const of = (figure: 'requests' | 'tokensIn' | 'tokensOut' | 'seconds'): number[] => measured.map((record) => record[figure])
  return {
    arm,
    measured: measured.length,
    notMeasured: records.length - measured.length,
    succeeded,
    interval: wilson(succeeded, measured.length),
    requests: quartiles(of('requests')),
    tokensIn: quartiles(of('tokensIn')),
    tokensOut: quartiles(of('tokensOut')),
    seconds: quartiles(of('seconds')),
    ...(succeeded > 0 && { tokensPerSuccess: sum([...of('tokensIn'), ...of('tokensOut')]) / succeeded }),
    failures: tally(measured.flatMap(({ failure }) => (failure === undefined ? [] : [[failure, 1]]))),
    repaired: tally(measured.flatMap(({ repaired }) => Object.entries(repaired))),
  }
}

type Compared = Omit<Difference, 'verdict'>

/** Compares by task, over the runs that were measured in both arms, so that the same work is compared. */
function compare(records: readonly RunRecord[], tasks: readonly string[], { arm, than }: { arm: Arm; than: Arm }, seed: number): Compared {
  const okByRun = (task: string, of: Arm): Map<number, number> =>
    new Map(records.filter((r) => r.task === task && r.arm === of).map((r) => [r.run, Number(r.ok)]))
  const differences = tasks.flatMap((task) => {
    const other = okByRun(task, than)
    const pairs = [...okByRun(task, arm)].filter(([run]) => other.has(run))
    return pairs.length === 0 ? [] : [sum(pairs.map(([run, ok]) => ok - (other.get(run) as number))) / pairs.length]
  })
  const better = differences.filter((one) => one > 0).length
  const worse = differences.filter((one) => one < 0).length
  return {
    arm,
    than,
    tasks: differences.length,
    difference: sum(differences) / (differences.length || 1),
    interval: bootstrapMean(differences, randomFrom(seed)),
    better,
    worse,
    p: signTest(better, worse),
  }
}

const ALPHA = 0.05

/** A difference must be shown by both the interval, which is too narrow if few tasks differ, and the exact test. */
function withVerdict(compared: Compared): Difference {
  const { interval, p, better, worse, tasks } = compared
  if (p < ALPHA && interval[0] > 0) return { ...compared, verdict: 'better' }
  if (p < ALPHA && interval[1] < 0) return { ...compared, verdict: 'worse' }
  return { ...compared, verdict: tasks > 0 && better + worse === 0 ? 'no difference seen' : 'too few to tell' }
}

function whatMade(records: readonly RunRecord[], arm: Arm): MadeTheDifference {
  const failed = new Set(records.filter((one) => one.arm === 'bare' && !one.ok).map(({ task, run }) => `${task} ${run}`))
  const runs = records.filter((one) => one.arm === arm && one.ok && failed.has(`${one.task} ${one.run}`))
  return {
    arm,
    runs: runs.length,
    withoutRepair: runs.filter(({ repaired }) => Object.keys(repaired).length === 0).length,
    kinds: tally(runs.flatMap(({ repaired }) => Object.keys(repaired).map((kind) => [kind, 1]))),
  }
}

/** Adds up the counts, the most frequent first. */
function tally(entries: readonly (readonly [key: string, count: number])[]): Counts {
  const counts = new Map<string, number>()
  for (const [key, count] of entries) counts.set(key, (counts.get(key) ?? 0) + count)
  return Object.fromEntries([...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)))
}
