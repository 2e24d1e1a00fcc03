/** `mulligan eval` measures a model on small tasks: in a plain loop, with repaired calls, and with the engine. Progress goes to stderr. */
import { type EvalOptions, type EvalReport, evalTasks, openEval, type PlannedRun, type RunRecord } from '@mulligan/eval'
import { oneLine, sanitize } from '@mulligan/host/light'
import { version, workingFolder } from '../../paths.ts'
import { tellNotice } from '../../ports.ts'
import { EXIT, watchInterrupts } from '../../process.ts'
import type { Output } from '../../ui/output.ts'
import { plural, print, table } from '../../ui/text.ts'
import { reportLines } from './report-lines.ts'

type SameAsOptions = Omit<EvalOptions, 'cwd' | 'env' | 'version' | 'report' | 'arms' | 'tasks'>

export interface EvalFlags extends SameAsOptions {
  /** Names, separated by commas. */
  readonly arms?: string
  readonly tasks?: string
  readonly concurrency?: number
  readonly json?: boolean
  readonly list?: boolean
}

/**
 * @returns 0 if all runs completed, whatever their results; 1 if not; 130 if stopped
 * @throws UsageError
 */
export async function evalCommand(flags: EvalFlags, output: Output): Promise<number> {
  if (flags.list) return list(flags, output)
  const { arms, tasks, concurrency, json: _, list: __, ...options } = flags
  const evaluation = await openEval({
    ...options,
    arms: names(arms),
    tasks: names(tasks),
    cwd: workingFolder(undefined),
    env: process.env,
    version: version(),
    report: (notice) => tellNotice(notice, output.err),
  })
  const interrupt = watchInterrupts(() => output.err('\nStopping. Completed runs are kept. Press Ctrl-C again to quit immediately.\n'))
  const signal = AbortSignal.any([interrupt.signal, output.closed])
  const shown = progress(output, evaluation.planned, evaluation.measured, process.stderr.isTTY === true)
  try {
    const report = await evaluation.run({ signal, concurrency, onBegin: shown.begin, onRecord: shown.end })
    shown.clear()
    return conclude(report, signal.aborted, flags, output)
  } finally {
    interrupt.dispose()
  }
}

const names = (given: string | undefined): readonly string[] | undefined =>
  given
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

function conclude(report: EvalReport, wasStopped: boolean, { json, resume, jsonl }: EvalFlags, { out, err }: Output): number {
  print({ out }, json, report, reportLines(report).map(sanitize))
  if (report.complete) return EXIT.ok
  const path = resume ?? jsonl
  err(`${report.incomplete}.${path === undefined ? '' : ` To continue, run the same command with --resume ${oneLine(path, 200)}`}\n`)
  return wasStopped ? EXIT.cancelled : EXIT.failed
}

function list({ json }: EvalFlags, output: Output): number {
  const tasks = evalTasks()
  const rows = tasks.map(({ id, capability, title }) => [id, capability, title])
  print(output, json, { tasks }, table([['TASK', 'KIND', 'WHAT IT IS'], ...rows]))
  return EXIT.ok
}

export interface Progress {
  readonly begin: (run: PlannedRun) => void
  readonly end: (record: RunRecord) => void
  /** Clears the line that shows the current run. */
  readonly clear: () => void
}

const CLEAR = '\r\x1b[K'

export function progress(output: Output, total: number, done: number, isTerminal: boolean, now: () => number = Date.now): Progress {
  /** When the first run began. Excludes loading the model. */
  let started: number | undefined
  const before = done
  let ended = done
  const clear = (): void => {
    if (isTerminal) output.err(CLEAR)
  }

  function left(): string {
    const made = ended - before
    if (made === 0) return ''
    const minutes = Math.ceil((((now() - (started ?? now())) / made) * (total - ended)) / 60_000)
    return `, about ${minutes} min left`
  }

  return {
    begin: ({ task, arm }) => {
      started ??= now()
      if (isTerminal) output.err(`${CLEAR}[${ended}/${total}] ${task} ${arm} …${left()}`)
    },
    end: (record) => {
      ended++
      clear()
      output.err(`[${String(ended).padStart(String(total).length)}/${total}] ${lineOf(record)}\n`)
    },
    clear,
  }
}

function lineOf({ task, arm, ok, failure, says, requests, seconds }: RunRecord): string {
  const why = ok ? '' : ` (${failure}: ${says})`
  return oneLine(`${ok ? '✓' : '✗'} ${task} ${arm} ${plural(requests, 'request')} ${seconds.toFixed(1)} s${why}`, 200)
}
