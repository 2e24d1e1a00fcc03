/** `mulligan eval`: how well a model does on small tasks, in a plain loop, with its calls mended, and with the engine. */
import { readFileSync } from 'node:fs'
import { oneLine, safeJson, sanitize, UsageError } from '@mulligan/host/light'
import { type ModelInForce, openModelInForce, readSettings } from '@mulligan/host/parts'
import type { BackendName } from '@mulligan/sandbox'
import { EXIT } from '../exit.ts'
import { watchInterrupts } from '../interrupt.ts'
import { workingFolder } from '../paths.ts'
import { settled } from '../trust.ts'
import type { Output } from '../ui/output.ts'
import { table } from '../ui/table.ts'
import { type Chosen, checkResumed, chosen, type EvalFlags } from './flags.ts'
import { go } from './go.ts'
import { makePlace } from './place.ts'
import { type PlannedRun, planOf } from './plan.ts'
import { progress } from './progress.ts'
import { mustAnswer } from './ready.ts'
import { isMeasured, keyOf, type RunRecord } from './record.ts'
import { reportLines, reportOf } from './report.ts'
import { type EvalHeader, mustBeNew, newResults, resumeResults } from './results.ts'
import { runTask } from './run.ts'
import type { EvalTask } from './task.ts'
import { fingerprintOf, TASKS } from './tasks/index.ts'
import { findSandbox } from './tools.ts'

/**
 * @param catalogue the tasks that there are
 * @returns 0 when every run was made, whatever came of them; 1 when not; 130 when it was stopped
 * @throws UsageError
 */
export async function evalCommand(flags: EvalFlags, output: Output, catalogue: readonly EvalTask[] = TASKS): Promise<number> {
  if (flags.list) return list(catalogue, flags, output)
  const asked = chosen(flags, catalogue)
  const resumed = flags.resume === undefined ? undefined : resumeResults(flags.resume)
  if (flags.jsonl !== undefined) mustBeNew(flags.jsonl)
  const configured = await openForEval(flags, output)
  if (configured.notice) output.err(`The model is ${oneLine(configured.notice, 300)}.\n`)
  const { header, backend } = await conditions(flags, asked, configured, catalogue, resumed?.header)
  const interrupt = watchInterrupts(() => output.err('\nStopping. What was measured is kept. Ctrl-C again ends it at once.\n'))
  const signal = AbortSignal.any([interrupt.signal, output.closed])
  try {
    await mustAnswer(configured, signal)
    const file = resumed ?? (flags.jsonl === undefined ? undefined : newResults(flags.jsonl, header))
    const records = new Map((resumed?.records ?? []).filter(isMeasured).map((record) => [keyOf(record), record]))
    const planned = planOf(header.tasks, header.arms, header.runs, header.seed)
    const known = new Set(planned.map(keyOf))
    for (const key of records.keys()) if (!known.has(key)) records.delete(key)
    const left = planned.filter((run) => !records.has(keyOf(run)))
    const tasks = new Map(catalogue.map((task) => [task.id, task]))
    const shown = progress(output, planned.length, records.size, process.stderr.isTTY === true)
    const stopped = await go(left, {
      concurrency: flags.concurrency ?? 1,
      signal,
      make: ({ task, run, arm }: PlannedRun) =>
        runTask(tasks.get(task) as EvalTask, run, arm, {
          configured,
          backend,
          maxRequests: header.maxRequests,
          timeout: header.timeout,
          signal,
        }),
      onBegin: shown.begin,
      onRecord: (record) => {
        records.set(keyOf(record), record)
        shown.end(record)
        file?.append(record)
      },
    })
    shown.clear()
    return conclude(header, [...records.values()], stopped, flags, output)
  } finally {
    interrupt.dispose()
  }
}

function conclude(
  header: EvalHeader,
  records: readonly RunRecord[],
  stopped: Awaited<ReturnType<typeof go>>,
  flags: EvalFlags,
  { out, err }: Output,
): number {
  const report = reportOf(header, records, stopped)
  out(flags.json ? `${safeJson(report)}\n` : `${reportLines(report).map(sanitize).join('\n')}\n`)
  if (report.complete) return EXIT.ok
  const path = flags.resume ?? flags.jsonl
  err(`${report.incomplete}.${path === undefined ? '' : ` To go on: the same command with --resume ${oneLine(path, 200)}`}\n`)
  return stopped?.by === 'person' ? EXIT.cancelled : EXIT.failed
}

/** The model as in a run. Nothing else of the configuration has a say: no agent, rule, limit or instruction. */
async function openForEval(flags: EvalFlags, { err }: Output): Promise<ModelInForce> {
  const { model, baseUrl, context } = flags
  const cwd = workingFolder(undefined)
  const given = { ...(model !== undefined && { model }), ...(baseUrl !== undefined && { baseUrl }) }
  const { settings } = await settled(cwd, () => ({ settings: readSettings(cwd, given, process.env) }), { uses: 'model', tell: err })
  const env = { ...process.env, ...(context !== undefined && { MULLIGAN_CONTEXT: String(context) }) }
  return openModelInForce(settings, undefined, flags.opensInReasoning === true, env)
}

/** @throws UsageError when what is gone on with was begun under others */
async function conditions(
  flags: EvalFlags,
  asked: Chosen,
  { model }: ModelInForce,
  catalogue: readonly EvalTask[],
  before: EvalHeader | undefined,
): Promise<{ readonly header: EvalHeader; readonly backend: BackendName | undefined }> {
  const { backend, reason } = await sandboxHere(flags.sandbox ?? 'auto')
  const sandbox = backend ?? 'none found, no tools for commands'
  const now = {
    version: version(),
    model: model.id,
    where: model.where,
    contextTokens: model.contextTokens,
    fingerprint: fingerprintOf(before ? begunWith(before, catalogue) : asked.tasks.filter(isPossible)),
    sandbox,
  }
  if (before) {
    checkResumed(flags.resume ?? '', before, now, flags)
    return { header: before, backend }
  }
  const tasks = asked.tasks.filter(isPossible)
  if (tasks.length === 0)
    throw new UsageError(
      `all of these tasks need a sandbox, and there is none: ${oneLine(reason ?? '', 300)}`,
      'mulligan doctor says what to do.',
    )
  const leftOut = asked.tasks.filter((task) => !isPossible(task)).map(({ id }) => ({ task: id, why: oneLine(reason ?? '', 300) }))
  const { arms, runs, seed, maxRequests, timeout } = asked
  const run = { tasks: tasks.map(({ id }) => id), leftOut, arms: [...arms], runs, seed, maxRequests, timeout }
  return { header: { type: 'eval', date: new Date().toISOString(), ...now, ...run }, backend }

  function isPossible({ shell }: EvalTask): boolean {
    return backend !== undefined || shell !== true
  }
}

/** @throws UsageError for a task that there is no more */
function begunWith({ tasks }: EvalHeader, catalogue: readonly EvalTask[]): readonly EvalTask[] {
  return tasks.map((id) => {
    const task = catalogue.find((one) => one.id === id)
    if (!task) throw new UsageError(`--resume: there is no task ${oneLine(id, 60)} in this version`, 'Begin a new file with --jsonl.')
    return task
  })
}

/** Tried for real, in a folder like those of the runs. */
async function sandboxHere(asked: 'auto' | BackendName): ReturnType<typeof findSandbox> {
  const place = await makePlace({})
  try {
    const found = await findSandbox(place.dir, asked)
    if (found.backend === undefined && asked !== 'auto')
      throw new UsageError(`--sandbox ${asked}: ${oneLine(found.reason ?? '', 400)}`, 'mulligan doctor says what there is.')
    return found
  } finally {
    await place.remove()
  }
}

function list(catalogue: readonly EvalTask[], { json }: EvalFlags, { out }: Output): number {
  const tasks = catalogue.map(({ id, title, capability, shell = false, prompt }) => ({ id, capability, shell, title, prompt }))
  const rows = tasks.map(({ id, capability, title }) => [id, capability, title])
  out(json ? `${safeJson({ tasks })}\n` : `${table([['TASK', 'KIND', 'WHAT IT IS'], ...rows]).join('\n')}\n`)
  return EXIT.ok
}

const version = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string }).version
