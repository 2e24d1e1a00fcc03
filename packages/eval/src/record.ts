/** What is kept of a run: a line of the JSONL file, and all that the report is made of. */
import type { RepairKind } from '@mulligan/core'
import { z } from 'zod'
import { ARMS, type Arm, type Ended } from './arms/arm.ts'
import type { MissReason } from './check.ts'

/** Why a run came to nothing. */
export type Failure = MissReason | 'request limit' | 'time limit' | 'loop' | 'no usable reply' | 'not measured'

/** What one run came to. */
export interface RunRecord {
  readonly task: string
  /** From 1. */
  readonly run: number
  readonly arm: Arm
  readonly ok: boolean
  /** Absent if it is ok. `not measured`: the server could not be had, which says nothing of the arm. */
  readonly failure?: Failure
  /** For the user: one sentence. */
  readonly says?: string
  readonly ended: Ended
  readonly requests: number
  readonly calls: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly seconds: number
  /** How many calls were repaired, by kind. */
  readonly repaired: Readonly<Partial<Record<RepairKind, number>>>
  /** The beginning of the answer. */
  readonly answer: string
}

export const isMeasured = ({ failure }: RunRecord): boolean => failure !== 'not measured'

export const keyOf = ({ task, run, arm }: Pick<RunRecord, 'task' | 'run' | 'arm'>): string => `${task} ${run} ${arm}`

const count = z.number().int().nonnegative()

/** As it is in a file. Texts that are shown are sanitized where they are shown. */
export const recordSchema = z.object({
  task: z.string(),
  run: count.min(1),
  arm: z.enum(ARMS),
  ok: z.boolean(),
  failure: z.string().optional(),
  says: z.string().optional(),
  ended: z.string(),
  requests: count,
  calls: count,
  tokensIn: z.number().nonnegative(),
  tokensOut: z.number().nonnegative(),
  seconds: z.number().nonnegative(),
  repaired: z.record(z.string(), count),
  answer: z.string(),
})
