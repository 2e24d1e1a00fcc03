/** Opens an eval: its model, tasks, sandbox and file. Then makes its runs. */
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { requestFault } from '@mulligan/agent'
import { oneLine, UsageError } from '@mulligan/host/light'
import { type ConfiguredModel, type EffectiveModel, openEffectiveModel, readSettings, settled, withheldText } from '@mulligan/host/parts'
import type { BackendName } from '@mulligan/sandbox'
import { readReply } from './arms/loop.ts'
import { go, type PlannedRun, planOf } from './go.ts'
import { type Chosen, checkResumed, chosen, type EvalOptions } from './options.ts'
import { type EvalReport, reportOf } from './report.ts'
import { append, type EvalHeader, isMeasured, keyOf, mustBeNew, newResults, type RunRecord, resumeResults } from './results.ts'
import { runTask } from './run.ts'
import type { EvalTask } from './task.ts'
import { fingerprintOf, TASKS, taskOf } from './tasks/index.ts'
import { findSandbox } from './tools.ts'

/** How the runs are made. */
export interface EvalRunOptions {
  /** Ends the eval when aborted. Completed runs are kept. */
  readonly signal: AbortSignal
  /** Number of runs at the same time; more than 1 distorts the durations. Default: 1. */
  readonly concurrency?: number | undefined
  /** Called when a run begins. */
  readonly onBegin?: ((run: PlannedRun) => void) | undefined
  /** Called when a run is over, before it is written to the file. */
  readonly onRecord?: ((record: RunRecord) => void) | undefined
}

/** An eval whose conditions are fixed. */
export interface Evaluation {
  /** Total number of runs. */
  readonly planned: number
  /** Number of runs that the resumed file already has. */
  readonly measured: number
  /**
   * Checks that the model replies, creates the file, and makes the remaining runs. Can be called once.
   * @throws UsageError if the model can't be used, or the file can't be created
   */
  readonly run: (options: EvalRunOptions) => Promise<EvalReport>
}

/**
 * Determines what is measured under which conditions, without making a run.
 *
 * @example
 * const evaluation = await openEval({ cwd: '/srv/app', env: process.env, version: '1', model: 'ollama/NAME', tasks: ['wrong-path'] })
 * const { arms } = await evaluation.run({ signal: AbortSignal.timeout(600_000) })
 * @throws UsageError if a task or an arm does not exist, a file can't be used or was begun under other conditions, or there is no model
 */
export async function openEval(options: EvalOptions): Promise<Evaluation> {
  const asked = chosen(options, TASKS)
  const resumed = options.resume === undefined ? undefined : resumeResults(options.resume)
  if (options.jsonl !== undefined) mustBeNew(options.jsonl)
  const configured = await openForEval(options)
  const { header, backend } = await conditions(options, asked, configured, resumed?.header)
  const planned = planOf(header.tasks, header.arms, header.runs, header.seed)
  const known = new Set(planned.map(keyOf))
  const kept = resumed?.records.filter((record) => isMeasured(record) && known.has(keyOf(record))) ?? []
  const records = new Map(kept.map((record) => [keyOf(record), record]))
  const left = planned.filter((run) => !records.has(keyOf(run)))

  async function run(how: EvalRunOptions): Promise<EvalReport> {
    const { signal, onBegin, onRecord } = how
    await mustAnswer(configured, signal)
    if (!resumed && options.jsonl !== undefined) newResults(options.jsonl, header)
    const path = options.resume ?? options.jsonl
    const make = async (planned: PlannedRun): Promise<RunRecord | undefined> => {
      onBegin?.(planned)
      const record = await runTask(planned, { ...header, configured, backend, signal })
      if (!record) return undefined
      records.set(keyOf(record), record)
      onRecord?.(record)
      if (path !== undefined) append(path, record)
      return record
    }
    const stopped = await go(left, make, how)
    return reportOf(header, [...records.values()], stopped)
  }

  return { planned: planned.length, measured: records.size, run }
}

/** Opens the model as for a run. Ignores the rest of the configuration: agents, rules, limits and instructions. */
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

/** @throws UsageError if the resumed eval was begun under other conditions */
async function conditions(
  options: EvalOptions,
  asked: Chosen,
  { model }: EffectiveModel,
  before: EvalHeader | undefined,
): Promise<{ readonly header: EvalHeader; readonly backend: BackendName | undefined }> {
  const { backend, reason = '' } = await findSandbox(options.sandbox ?? 'auto')
  const isPossible = ({ shell }: EvalTask): boolean => backend !== undefined || shell !== true
  const tasks = before ? before.tasks.map(knownTask) : asked.tasks.filter(isPossible)
  const now = {
    version: options.version,
    model: model.id,
    where: model.where,
    contextTokens: model.contextTokens,
    fingerprint: fingerprintOf(tasks),
    sandbox: backend ?? 'none found, no tools for commands',
  }
  if (before) {
    checkResumed(options.resume ?? '', before, now, options)
    return { header: before, backend }
  }
  const why = oneLine(reason, 300)
  if (tasks.length === 0)
    throw new UsageError(`all of these tasks need a sandbox, and there is none: ${why}`, '`mulligan doctor` shows what to do.')
  const leftOut = asked.tasks.filter((task) => !isPossible(task)).map(({ id }) => ({ task: id, why }))
  return { header: { type: 'eval', date: new Date().toISOString(), ...now, ...asked, tasks: tasks.map(({ id }) => id), leftOut }, backend }
}

/** @throws UsageError if the task no longer exists */
function knownTask(id: string): EvalTask {
  const task = taskOf(id)
  if (!task) throw new UsageError(`--resume: this version has no task ${oneLine(id, 60)}`, 'Begin a new file with --jsonl.')
  return task
}

/** Seconds; the server may have to load the model first. */
const PATIENCE = 600

const TOOL: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'read_file',
  description: 'Reads a text file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}

/**
 * Sends one request before the runs, so that the server loads the model. The request has a tool, to detect a model without tool support.
 * @throws UsageError that says what to do
 */
async function mustAnswer({ model, secrets }: ConfiguredModel, signal: AbortSignal): Promise<void> {
  const expiry = AbortSignal.timeout(PATIENCE * 1000)
  try {
    await readReply(model.model, {
      ...model.sampling,
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Say that you are ready, in one word. Call no tool.' }] }],
      tools: [TOOL],
      toolChoice: { type: 'auto' },
      abortSignal: AbortSignal.any([signal, expiry]),
    })
  } catch (error) {
    if (signal.aborted) return
    const says = expiry.aborted ? `it did not reply within ${PATIENCE} s` : requestFault(error, secrets).message
    throw new UsageError(
      `${model.id} on ${model.where} can't be evaluated: ${oneLine(says, 400)}`,
      'Start its server, and check --model and --base-url: `mulligan "say hi"` with the same flags must give an answer.',
    )
  }
}
