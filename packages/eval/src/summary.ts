/** From runs to numbers: what each arm came to, how the arms differ, and what made the difference. Pure. */
import { ARMS, type Arm } from './arms/arm.ts'
import { randomFrom } from './random.ts'
import { isMeasured, type RunRecord } from './record.ts'
import { bootstrapMean, holm, type Interval, type Quartiles, quartiles, signTest, wilson } from './stats.ts'

/** A number by what is counted, the most frequent first. */
export type Counts = Readonly<Record<string, number>>

/** What the runs of one arm came to. */
export interface ArmSummary {
  readonly arm: Arm
  readonly measured: number
  /** Runs in which the server could not be had: they are in no other figure. */
  readonly notMeasured: number
  readonly succeeded: number
  /** Of `succeeded / measured`, 95 %. */
  readonly interval: Interval
  /** Of a run, as tokens and seconds are; undefined if nothing was measured. */
  readonly requests: Quartiles | undefined
  readonly tokensIn: Quartiles | undefined
  readonly tokensOut: Quartiles | undefined
  readonly seconds: Quartiles | undefined
  /** Tokens in and out of all runs, by success; absent without one. */
  readonly tokensPerSuccess?: number
  readonly failures: Counts
  /** Calls repaired, by kind. */
  readonly repaired: Counts
}

/** How two arms differ, task by task. */
export interface Difference {
  readonly arm: Arm
  readonly than: Arm
  /** Tasks that were measured in both. */
  readonly tasks: number
  /** Of the rates, by task, `arm` less `than`. */
  readonly difference: number
  /** Of the difference, 95 %. */
  readonly interval: Interval
  /** Tasks that went better and worse. */
  readonly better: number
  readonly worse: number
  /** Adjusted for the number of comparisons. */
  readonly p: number
  readonly verdict: 'better' | 'worse' | 'no difference seen' | 'too few to tell'
}

/** Of the runs that succeeded here and failed in `bare`, how many had a call repaired in this way. */
export interface MadeTheDifference {
  readonly arm: Arm
  readonly runs: number
  /** Without any repaired call: hints, the guard, or chance. */
  readonly withoutRepair: number
  readonly kinds: Counts
}

/** What the runs of one task came to, by arm. */
export interface TaskSummary {
  readonly task: string
  readonly arms: Readonly<Partial<Record<Arm, { readonly succeeded: number; readonly measured: number }>>>
}

/** What follows from the runs. */
export interface Summary {
  readonly arms: readonly ArmSummary[]
  readonly differences: readonly Difference[]
  readonly madeTheDifference: readonly MadeTheDifference[]
  readonly tasks: readonly TaskSummary[]
}

/** @param seed of the bootstrap */
export function summarize(records: readonly RunRecord[], tasks: readonly string[], arms: readonly Arm[], seed: number): Summary {
  const measured = records.filter(isMeasured)
  const inOrder = ARMS.filter((arm) => arms.includes(arm))
  const pairs = inOrder.flatMap((than, at) => inOrder.slice(at + 1).map((arm) => ({ arm, than })))
  const compared = pairs.map((pair) => compare(measured, tasks, pair, seed))
  const ps = holm(compared.map(({ p }) => p))
  return {
    arms: inOrder.map((arm) =>
      armSummary(
        records.filter((one) => one.arm === arm),
        arm,
      ),
    ),
    differences: compared.map((one, at) => withVerdict({ ...one, p: ps[at] as number })),
    madeTheDifference: inOrder.includes('bare') ? inOrder.filter((arm) => arm !== 'bare').map((arm) => whatMade(measured, arm)) : [],
    tasks: tasks.map((task) => ({
      task,
      arms: byArm(
        measured.filter((one) => one.task === task),
        inOrder,
      ),
    })),
  }
}

function armSummary(records: readonly RunRecord[], arm: Arm): ArmSummary {
  const measured = records.filter(isMeasured)
  const succeeded = measured.filter(({ ok }) => ok).length
  const tokens = sum(measured.map(({ tokensIn, tokensOut }) => tokensIn + tokensOut))
  return {
    arm,
    measured: measured.length,
    notMeasured: records.length - measured.length,
    succeeded,
    interval: wilson(succeeded, measured.length),
    requests: quartiles(measured.map(({ requests }) => requests)),
    tokensIn: quartiles(measured.map(({ tokensIn }) => tokensIn)),
    tokensOut: quartiles(measured.map(({ tokensOut }) => tokensOut)),
    seconds: quartiles(measured.map(({ seconds }) => seconds)),
    ...(succeeded > 0 && { tokensPerSuccess: tokens / succeeded }),
    failures: tally(measured.flatMap(({ failure }) => (failure === undefined ? [] : [[failure, 1]]))),
    repaired: tally(measured.flatMap(({ repaired }) => Object.entries(repaired))),
  }
}

type Compared = Omit<Difference, 'verdict'>

/** Task by task, over the runs that were measured in both arms: so that the same work is compared. */
function compare(records: readonly RunRecord[], tasks: readonly string[], { arm, than }: { arm: Arm; than: Arm }, seed: number): Compared {
  const differences = tasks.flatMap((task) => {
    const [mine, other] = [arm, than].map(
      (one) => new Map(records.filter((r) => r.task === task && r.arm === one).map((r) => [r.run, r.ok])),
    )
    const both = [...(mine as Map<number, boolean>).keys()].filter((run) => other?.has(run))
    if (both.length === 0) return []
    return [sum(both.map((run) => Number(mine?.get(run)) - Number(other?.get(run)))) / both.length]
  })
  const better = differences.filter((one) => one > 0).length
  const worse = differences.filter((one) => one < 0).length
  return {
    arm,
    than,
    tasks: differences.length,
    difference: differences.length === 0 ? 0 : sum(differences) / differences.length,
    interval: bootstrapMean(differences, randomFrom(seed)),
    better,
    worse,
    p: signTest(better, worse),
  }
}

const ALPHA = 0.05

/** Both have to say so: the interval, which is too narrow where few tasks differ, and the exact test. */
function withVerdict(compared: Compared): Difference {
  const { interval, p, better, worse, tasks } = compared
  const isClear = p < ALPHA && (interval[0] > 0 || interval[1] < 0)
  if (isClear) return { ...compared, verdict: interval[0] > 0 ? 'better' : 'worse' }
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

function byArm(records: readonly RunRecord[], arms: readonly Arm[]): TaskSummary['arms'] {
  return Object.fromEntries(
    arms.map((arm) => {
      const mine = records.filter((one) => one.arm === arm)
      return [arm, { succeeded: mine.filter(({ ok }) => ok).length, measured: mine.length }]
    }),
  )
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)

/** The most frequent first. */
function tally(entries: readonly (readonly [key: string, count: number])[]): Counts {
  const counts = new Map<string, number>()
  for (const [key, count] of entries) counts.set(key, (counts.get(key) ?? 0) + count)
  return Object.fromEntries([...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)))
}
