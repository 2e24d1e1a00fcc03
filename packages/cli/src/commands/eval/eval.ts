/** `mulligan eval` measures a model on small tasks, in a plain loop, with repaired calls, and with the engine. */
import { type EvalOptions, type EvalReport, evalTasks, openEval } from '@mulligan/eval'
import { oneLine, safeJson, sanitize } from '@mulligan/host/light'
import { EXIT } from '../../exit.ts'
import { watchInterrupts } from '../../interrupt.ts'
import { workingFolder } from '../../paths.ts'
import { tellNotice } from '../../ports.ts'
import type { Output } from '../../ui/output.ts'
import { table } from '../../ui/table.ts'
import { version } from '../../version.ts'
import { progress } from './progress.ts'
import { reportLines } from './report-lines.ts'

type SameAsOptions = Omit<EvalOptions, 'cwd' | 'env' | 'version' | 'report' | 'arms' | 'tasks'>

export interface EvalFlags extends SameAsOptions {
  /** Names, with commas between them. */
  readonly arms?: string
  readonly tasks?: string
  readonly concurrency?: number
  readonly json?: boolean
  readonly list?: boolean
}

/**
 * @returns 0 when every run was made, whatever came of them; 1 when not; 130 when it was stopped
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
  out(json ? `${safeJson(report)}\n` : `${reportLines(report).map(sanitize).join('\n')}\n`)
  if (report.complete) return EXIT.ok
  const path = resume ?? jsonl
  err(`${report.incomplete}.${path === undefined ? '' : ` To go on: the same command with --resume ${oneLine(path, 200)}`}\n`)
  return wasStopped ? EXIT.cancelled : EXIT.failed
}

function list({ json }: EvalFlags, { out }: Output): number {
  const tasks = evalTasks()
  const rows = tasks.map(({ id, capability, title }) => [id, capability, title])
  out(json ? `${safeJson({ tasks })}\n` : `${table([['TASK', 'KIND', 'WHAT IT IS'], ...rows]).join('\n')}\n`)
  return EXIT.ok
}
