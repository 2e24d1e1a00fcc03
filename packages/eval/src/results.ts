/** The JSONL file of an eval: what is run is in its first line, and each run in one of its own, written as soon as it is over. */
import { accessSync, appendFileSync, constants, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { oneLine, UsageError } from '@mulligan/host/light'
import { z } from 'zod'
import { ARMS, type Arm } from './arms/arm.ts'
import { keyOf, type RunRecord, recordSchema } from './record.ts'

/** Of one task in one arm. */
const MAX_RUNS = 1000

const positive = z.number().int().positive()

/** What is run, and under which conditions. */
export interface EvalConditions {
  /** Of the program. */
  readonly version: string
  /** When it was begun, in ISO 8601. */
  readonly date: string
  /** `provider/name`. */
  readonly model: string
  /** The host of the model's server. */
  readonly where: string
  /** Tokens that the model takes at once. */
  readonly contextTokens: number
  /** In the order of the catalogue, without those left out. */
  readonly tasks: readonly string[]
  /** Of the tasks' texts and files. */
  readonly fingerprint: string
  /** Tasks that need a sandbox, where there is none, and why there is none. */
  readonly leftOut: readonly { readonly task: string; readonly why: string }[]
  readonly arms: readonly Arm[]
  /** Of each task in each arm. */
  readonly runs: number
  readonly seed: number
  /** Model requests of a run. */
  readonly maxRequests: number
  /** Seconds of a run. */
  readonly timeout: number
  /** The name of its backend, or that there is none. */
  readonly sandbox: string
}

export interface EvalHeader extends EvalConditions {
  readonly type: 'eval'
}

const headerSchema: z.ZodType<EvalHeader> = z.object({
  type: z.literal('eval'),
  version: z.string(),
  date: z.string(),
  model: z.string(),
  where: z.string(),
  contextTokens: positive,
  tasks: z.array(z.string()).min(1).max(1000),
  fingerprint: z.string(),
  leftOut: z.array(z.object({ task: z.string(), why: z.string() })),
  arms: z.array(z.enum(ARMS)).min(1),
  runs: positive.max(MAX_RUNS),
  seed: z.number().int().nonnegative(),
  maxRequests: positive,
  timeout: z.number().positive(),
  sandbox: z.string(),
})

export interface Results {
  readonly header: EvalHeader
  /** Of each run its latest record. */
  readonly records: readonly RunRecord[]
}

export interface ResultsFile {
  /** @throws when the file can't be written any more */
  readonly append: (record: RunRecord) => void
}

/** Asked before a model is loaded. @throws UsageError when it is there already, or could not be made */
export function mustBeNew(path: string): void {
  if (existsSync(path)) throw new UsageError(`--jsonl: ${path} is there already`, `Name another file, or continue it: --resume ${path}`)
  try {
    accessSync(dirname(path), constants.W_OK)
  } catch (error) {
    throw notWritable(path, error)
  }
}

/** @throws UsageError when it is there by now, or can't be written */
export function newResults(path: string, header: EvalHeader): ResultsFile {
  try {
    writeFileSync(path, line(header), { flag: 'wx' })
  } catch (error) {
    throw notWritable(path, error)
  }
  return { append: (record) => appendFileSync(path, line({ type: 'run', ...record })) }
}

const notWritable = (path: string, error: unknown): UsageError =>
  new UsageError(`--jsonl: ${path} can't be written: ${(error as Error).message}`, 'Name a file in a folder that you may write.')

/**
 * Reads the file and makes it ready for more: what was cut off at its end is removed.
 * @throws UsageError
 */
export function resumeResults(path: string): Results & ResultsFile {
  const text = readText(path)
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const [first, ...rest] = whole.split('\n').slice(0, -1)
  const header = headerSchema.safeParse(parsed(first))
  if (!header.success)
    throw new UsageError(
      `--resume: ${path} does not begin as a file of mulligan eval --jsonl does`,
      'Name a file that --jsonl has written.',
    )
  const records = new Map<string, RunRecord>()
  for (const [at, one] of rest.entries()) {
    const record = recordSchema.safeParse(parsed(one))
    if (!record.success)
      throw new UsageError(
        `--resume: line ${at + 2} of ${path} is not a run: ${oneLine(one, 80)}`,
        'Remove that line, and the run is made again.',
      )
    const run = record.data as RunRecord
    records.set(keyOf(run), run)
  }
  if (whole.length < text.length) makeReady(path, Buffer.byteLength(whole))
  return { header: header.data, records: [...records.values()], append: (record) => appendFileSync(path, line({ type: 'run', ...record })) }
}

const line = (value: object): string => `${JSON.stringify(value)}\n`

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`--resume: ${path} can't be read: ${(error as Error).message}`, 'Name a file that --jsonl has written.')
  }
}

function makeReady(path: string, bytes: number): void {
  try {
    truncateSync(path, bytes)
  } catch (error) {
    throw new UsageError(`--resume: ${path} can't be written: ${(error as Error).message}`, 'Name a file that you may write.')
  }
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
