/** The JSONL file of an eval: the first line holds the conditions, each further line one run, written as soon as the run is over. */
import { accessSync, appendFileSync, constants, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { RepairKind } from '@mulligan/core/executor'
import { oneLine, UsageError } from '@mulligan/host/light'
import { z } from 'zod'
import { ARMS, type Arm, type Ended } from './arms/arm.ts'
import type { MissReason } from './check.ts'

/** Why a run failed. */
export type Failure = MissReason | 'request limit' | 'time limit' | 'loop' | 'no usable reply' | 'not measured'

/** The result of one run. */
export interface RunRecord {
  readonly task: string
  /** From 1. */
  readonly run: number
  readonly arm: Arm
  readonly ok: boolean
  /** Absent if the run is ok. `not measured`: the server was unavailable, which says nothing about the arm. */
  readonly failure?: Failure
  /** One sentence for the user. */
  readonly says?: string
  readonly ended: Ended
  readonly requests: number
  readonly calls: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly seconds: number
  /** Number of repaired calls, by kind. */
  readonly repaired: Readonly<Partial<Record<RepairKind, number>>>
  /** The beginning of the answer. */
  readonly answer: string
}

export const isMeasured = ({ failure }: RunRecord): boolean => failure !== 'not measured'

export const keyOf = ({ task, run, arm }: Pick<RunRecord, 'task' | 'run' | 'arm'>): string => `${task} ${run} ${arm}`

const text = z.string()
const count = z.number().int().nonnegative()
const positive = z.number().int().positive()
const amount = z.number().nonnegative()

const spent = { requests: count, calls: count, tokensIn: amount, tokensOut: amount, seconds: amount }

/** A run as it is in the file. Its texts are sanitized where they are shown. */
const recordSchema = z.object({
  task: text,
  run: positive,
  arm: z.enum(ARMS),
  ok: z.boolean(),
  failure: text.optional(),
  says: text.optional(),
  ended: text,
  ...spent,
  repaired: z.record(text, count),
  answer: text,
})

/** What is run, and under which conditions. */
export interface EvalConditions {
  /** Version of the program. */
  readonly version: string
  /** When the eval began, in ISO 8601. */
  readonly date: string
  /** `provider/name`. */
  readonly model: string
  /** The host of the model's server. */
  readonly where: string
  /** The model's context size, in tokens. */
  readonly contextTokens: number
  /** In the order of the catalogue, without those left out. */
  readonly tasks: readonly string[]
  /** Hash of the tasks' prompts and files. */
  readonly fingerprint: string
  /** Tasks that were left out because they need a sandbox and there is none, with the reason. */
  readonly leftOut: readonly { readonly task: string; readonly why: string }[]
  readonly arms: readonly Arm[]
  /** Runs of each task in each arm. */
  readonly runs: number
  readonly seed: number
  /** Maximum number of model requests per run. */
  readonly maxRequests: number
  /** Maximum duration of a run, in seconds. */
  readonly timeout: number
  /** The name of the sandbox backend, or a note that there is none. */
  readonly sandbox: string
}

export interface EvalHeader extends EvalConditions {
  readonly type: 'eval'
}

/** Maximum number of runs of one task in one arm. */
const MAX_RUNS = 1000

const names = { version: text, date: text, model: text, where: text, fingerprint: text, sandbox: text }
const numbers = {
  contextTokens: positive,
  runs: positive.max(MAX_RUNS),
  seed: count,
  maxRequests: positive,
  timeout: z.number().positive(),
}

const headerSchema: z.ZodType<EvalHeader> = z.object({
  type: z.literal('eval'),
  ...names,
  ...numbers,
  tasks: z.array(text).min(1).max(1000),
  leftOut: z.array(z.object({ task: text, why: text })),
  arms: z.array(z.enum(ARMS)).min(1),
})

export interface Results {
  readonly header: EvalHeader
  /** The latest record of each run. */
  readonly records: readonly RunRecord[]
}

const usable = <T>(use: () => T, problem: string, hint: string): T => {
  try {
    return use()
  } catch (error) {
    throw new UsageError(`${problem}: ${(error as Error).message}`, hint)
  }
}

const written = (path: string, write: () => void): void =>
  usable(write, `--jsonl: ${path} can't be written`, 'Name a file in a folder that you can write to.')

/** Checks the path before a model is loaded. @throws UsageError if the file exists or cannot be created */
export function mustBeNew(path: string): void {
  if (existsSync(path))
    throw new UsageError(`--jsonl: ${path} already exists`, `Choose another file name, or continue it: --resume ${path}`)
  written(path, () => accessSync(dirname(path), constants.W_OK))
}

/** @throws UsageError if the file exists by now or cannot be written */
export const newResults = (path: string, header: EvalHeader): void => written(path, () => writeFileSync(path, line(header), { flag: 'wx' }))

/** @throws if the file can no longer be written */
export const append = (path: string, record: RunRecord): void => appendFileSync(path, line({ type: 'run', ...record }))

const line = (value: object): string => `${JSON.stringify(value)}\n`

const WRITTEN_BY_JSONL = 'Name a file that --jsonl has written.'

/**
 * Reads the file and prepares it for more records: an incomplete line at the end is removed.
 * @throws UsageError
 */
export function resumeResults(path: string): Results {
  const content = usable(() => readFileSync(path, 'utf8'), `--resume: ${path} can't be read`, WRITTEN_BY_JSONL)
  const whole = content.slice(0, content.lastIndexOf('\n') + 1)
  const [first, ...rest] = whole.split('\n').slice(0, -1)
  const { data: header } = headerSchema.safeParse(parsed(first))
  if (!header) throw new UsageError(`--resume: the first line of ${path} is not the header of an eval`, WRITTEN_BY_JSONL)
  const records = new Map<string, RunRecord>()
  for (const [at, one] of rest.entries()) {
    const { data: run } = recordSchema.safeParse(parsed(one))
    if (!run)
      throw new UsageError(
        `--resume: line ${at + 2} of ${path} is not a run: ${oneLine(one, 80)}`,
        'Remove the line, and the run is made again.',
      )
    records.set(keyOf(run), run as RunRecord)
  }
  if (whole.length < content.length)
    usable(() => truncateSync(path, Buffer.byteLength(whole)), `--resume: ${path} can't be written`, 'Name a file that you can write to.')
  return { header, records: [...records.values()] }
}

function parsed(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? '')
  } catch {
    return undefined
  }
}
