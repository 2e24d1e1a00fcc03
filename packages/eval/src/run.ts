/** Makes one run (a task in its own folder, done by one arm) and its record. */
import type { RepairKind } from '@mulligan/core/executor'
import type { ConfiguredModel } from '@mulligan/host/parts'
import type { BackendName } from '@mulligan/sandbox'
import type { Arm, ArmInput, ArmOutcome, Ended } from './arms/arm.ts'
import type { Miss } from './check.ts'
import type { PlannedRun } from './go.ts'
import { type Metered, metered } from './meter.ts'
import { makePlace } from './place.ts'
import type { EvalConditions, Failure, RunRecord } from './results.ts'
import type { EvalTask } from './task.ts'
import { taskOf } from './tasks/index.ts'
import { openTools } from './tools.ts'

export interface RunConditions extends Pick<EvalConditions, 'maxRequests' | 'timeout'> {
  readonly configured: ConfiguredModel
  readonly backend: BackendName | undefined
  /** Aborted when the user stops the eval; the run is then discarded. */
  readonly signal: AbortSignal
}

const ARM: Readonly<Record<Arm, () => Promise<(input: ArmInput) => Promise<ArmOutcome>>>> = {
  bare: async () => (await import('./arms/loop.ts')).bare,
  repair: async () => (await import('./arms/repair.ts')).repair,
  full: async () => (await import('./arms/full.ts')).full,
}

/** Maximum number of characters kept of an answer. */
const KEPT = 2000

/** Makes the run. @returns undefined if the eval was stopped */
export async function runTask({ task: id, run, arm }: PlannedRun, conditions: RunConditions): Promise<RunRecord | undefined> {
  const { configured, backend, maxRequests, timeout, signal: stopped } = conditions
  const task = taskOf(id) as EvalTask
  const begin = await ARM[arm]()
  await using place = await makePlace(task.files)
  await using open = openTools(place, backend)
  const { dir, outputs } = place
  const { tools, ran } = open
  const meter = metered((arm === 'bare' ? configured.unrepaired?.() : undefined) ?? configured.model.model)
  const model = { ...configured, model: { ...configured.model, model: meter.model } }
  const { files: before } = await place.look()
  const started = performance.now()
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeout * 1000)])
  const outcome = await within(signal, begin({ configured: model, tools, dir, outputs, prompt: task.prompt, maxRequests, signal }))
  const seconds = (performance.now() - started) / 1000
  if (stopped.aborted) return undefined
  const exitCode = task.verify === undefined ? undefined : await open.run(task.verify)
  const { files: after, outsideChanged } = await place.look()
  const { ended = 'timeout', answer = '', calls = 0, repaired = [] } = outcome ?? {}
  const miss = task.check({ answer, before, after, outsideChanged, ran, ...(exitCode !== undefined && { exitCode }) })
  const { fault, ...spent } = meter.read()
  return {
    task: id,
    run,
    arm,
    ...verdictOn(ended, miss, fault),
    ended,
    ...spent,
    calls,
    seconds: Math.round(seconds * 1000) / 1000,
    repaired: counted(repaired.flat()),
    answer: answer.slice(0, KEPT),
  }
}

/** Milliseconds that an aborted run gets to end, so that it changes nothing while the folder is inspected. */
const GRACE = 2000

/** The result of `work`, or undefined if the signal was aborted first. */
function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>()
  let grace: NodeJS.Timeout | undefined
  const cutOff = (): void => {
    grace = setTimeout(() => resolve(undefined), GRACE)
  }
  signal.addEventListener('abort', cutOff, { once: true })
  work
    .then((outcome) => resolve(signal.aborted ? undefined : outcome))
    .catch((error) => (signal.aborted ? resolve(undefined) : reject(error)))
    .finally(() => clearTimeout(grace))
  return promise
}

const ENDED: Readonly<Partial<Record<Ended, Failure>>> = {
  requests: 'request limit',
  timeout: 'time limit',
  loop: 'loop',
  provider: 'no usable reply',
}

/** Completed work counts, however the run ended. An unreachable server is not a failure of the model. */
function verdictOn(ended: Ended, miss: Miss | undefined, fault: Metered['fault']): Pick<RunRecord, 'ok' | 'failure' | 'says'> {
  if (ended === 'provider' && isAbsence(fault)) return { ok: false, failure: 'not measured', says: 'the model’s server was unavailable' }
  if (!miss) return { ok: true }
  return { ok: false, failure: ENDED[ended] ?? miss.reason, says: miss.says }
}

/** Statuses of a server that is missing, overloaded, or denies access: they say nothing about the request itself. */
const ABSENT = new Set([401, 403, 404, 408, 429, 502, 503, 504])
/** Errors of provider packages for a reply that arrived but could not be parsed. */
const UNREADABLE = /^AI_(?!APICallError)/

function isAbsence(fault: unknown): boolean {
  const { statusCode, name = '' } = (fault ?? {}) as { readonly statusCode?: unknown; readonly name?: string }
  if (typeof statusCode !== 'number') return !UNREADABLE.test(name)
  return statusCode >= 300 && (statusCode < 400 || ABSENT.has(statusCode))
}

function counted(kinds: readonly RepairKind[]): Partial<Record<RepairKind, number>> {
  const counts: Partial<Record<RepairKind, number>> = {}
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
