/** Opens an eval: its model, tasks, sandbox and file. Then makes its runs. */
import { oneLine, UsageError } from '@mulligan/host/light'
import { type EffectiveModel, openEffectiveModel, readSettings, settled, withheldText } from '@mulligan/host/parts'
import type { BackendName } from '@mulligan/sandbox'
import { type Chosen, checkResumed, chosen } from './choose.ts'
import { go } from './go.ts'
import type { EvalOptions } from './options.ts'
import { makePlace } from './place.ts'
import { type PlannedRun, planOf } from './plan.ts'
import { mustAnswer } from './ready.ts'
import { isMeasured, keyOf, type RunRecord } from './record.ts'
import { type EvalReport, reportOf } from './report.ts'
import { type EvalHeader, mustBeNew, newResults, resumeResults } from './results.ts'
import { runTask } from './run.ts'
import type { EvalTask } from './task.ts'
import { fingerprintOf, TASKS } from './tasks/index.ts'
import { findSandbox } from './tools.ts'

/** How the runs are made. */
export interface EvalRunOptions {
  /** Ends the eval when it is aborted. Runs that are over are kept. */
  readonly signal: AbortSignal
  /** Runs at once; more than 1 distorts the seconds. Default: 1. */
  readonly concurrency?: number | undefined
  /** Is given each run as it begins. */
  readonly onBegin?: ((run: PlannedRun) => void) | undefined
  /** Is given each run when it is over, before it is written to the file. */
  readonly onRecord?: ((record: RunRecord) => void) | undefined
}

/** An eval whose conditions are settled. */
export interface Evaluation {
  /** Runs in all. */
  readonly planned: number
  /** Of them, those that the resumed file has. */
  readonly measured: number
  /**
   * Asks the model whether it answers, makes the file, then the runs that are left. Once.
   * @throws UsageError when the model can't be used, or the file can't be made
   */
  readonly run: (options: EvalRunOptions) => Promise<EvalReport>
}

/**
 * Settles what is measured under which conditions. No run is made yet.
 *
 * @example
 * const evaluation = await openEval({ cwd: '/srv/app', env: process.env, version: '1', model: 'ollama/NAME', tasks: ['wrong-path'] })
 * const { arms } = await evaluation.run({ signal: AbortSignal.timeout(600_000) })
 * @throws UsageError for a task or an arm that there is not, a file that can't be used, a file begun under other conditions, no model
 */
export async function openEval(options: EvalOptions): Promise<Evaluation> {
  const asked = chosen(options, TASKS)
  const resumed = options.resume === undefined ? undefined : resumeResults(options.resume)
  if (options.jsonl !== undefined) mustBeNew(options.jsonl)
  const configured = await openForEval(options)
  const { header, backend } = await conditions(options, asked, configured, resumed?.header)
  const planned = planOf(header.tasks, header.arms, header.runs, header.seed)
  const known = new Set(planned.map(keyOf))
  const records = new Map((resumed?.records ?? []).filter(isMeasured).map((record) => [keyOf(record), record]))
  for (const key of records.keys()) if (!known.has(key)) records.delete(key)
  const left = planned.filter((run) => !records.has(keyOf(run)))
  const tasks = new Map(TASKS.map((task) => [task.id, task]))

  async function run({ signal, concurrency = 1, onBegin, onRecord }: EvalRunOptions): Promise<EvalReport> {
    await mustAnswer(configured, signal)
    const file = resumed ?? (options.jsonl === undefined ? undefined : newResults(options.jsonl, header))
    const { maxRequests, timeout } = header
    const stopped = await go(left, {
      concurrency,
      signal,
      make: ({ task, run, arm }) => runTask(tasks.get(task) as EvalTask, run, arm, { configured, backend, maxRequests, timeout, signal }),
      onBegin: (planned) => onBegin?.(planned),
      onRecord: (record) => {
        records.set(keyOf(record), record)
        onRecord?.(record)
        file?.append(record)
      },
    })
    return reportOf(header, [...records.values()], stopped)
  }

  return { planned: planned.length, measured: records.size, run }
}

/** Opens the model as in a run. Ignores the rest of the configuration: agents, rules, limits and instructions. */
async function openForEval(options: EvalOptions): Promise<EffectiveModel> {
  const { cwd, model, baseUrl, context, opensInReasoning = false, report = () => undefined } = options
  const given = { ...(model !== undefined && { model }), ...(baseUrl !== undefined && { baseUrl }) }
  const { settings } = await settled(cwd, () => ({ settings: readSettings(cwd, given, options.env) }), {
    env: options.env,
    uses: 'model',
    onWithheld: (wanted) => report({ kind: 'withheld', text: withheldText(wanted), wanted }),
  })
  const env = { ...options.env, ...(context !== undefined && { MULLIGAN_CONTEXT: String(context) }) }
  const configured = await openEffectiveModel(settings, undefined, opensInReasoning, env)
  if (configured.notice) report({ kind: 'model', text: `The model is ${oneLine(configured.notice, 300)}.` })
  return configured
}

/** @throws UsageError when what is continued was begun under others */
async function conditions(
  options: EvalOptions,
  asked: Chosen,
  { model }: EffectiveModel,
  before: EvalHeader | undefined,
): Promise<{ readonly header: EvalHeader; readonly backend: BackendName | undefined }> {
  const { backend, reason } = await sandboxHere(options.sandbox ?? 'auto')
  const sandbox = backend ?? 'none found, no tools for commands'
  const now = {
    version: options.version,
    model: model.id,
    where: model.where,
    contextTokens: model.contextTokens,
    fingerprint: fingerprintOf(before ? begunWith(before) : asked.tasks.filter(isPossible)),
    sandbox,
  }
  if (before) {
    checkResumed(options.resume ?? '', before, now, options)
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
function begunWith({ tasks }: EvalHeader): readonly EvalTask[] {
  return tasks.map((id) => {
    const task = TASKS.find((one) => one.id === id)
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
