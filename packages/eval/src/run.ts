/** One run: a task, in a folder of its own, by one arm, and what came of it. */
import type { RepairKind } from '@mulligan/core'
import type { ConfiguredModel } from '@mulligan/host/parts'
import type { BackendName } from '@mulligan/sandbox'
import type { Arm, ArmInput, ArmOutcome, Ended } from './arms/arm.ts'
import type { Miss } from './check.ts'
import { type Metered, metered } from './meter.ts'
import { makePlace } from './place.ts'
import type { Failure, RunRecord } from './record.ts'
import type { EvalTask } from './task.ts'
import { openTools } from './tools.ts'

export interface RunConditions {
  readonly configured: ConfiguredModel
  readonly backend: BackendName | undefined
  readonly maxRequests: number
  /** Seconds. */
  readonly timeout: number
  /** Aborted when the person stops the eval: the run is given up, and nothing is kept of it. */
  readonly signal: AbortSignal
}

const ARM: Readonly<Record<Arm, () => Promise<(input: ArmInput) => Promise<ArmOutcome>>>> = {
  bare: async () => (await import('./arms/bare.ts')).bare,
  repair: async () => (await import('./arms/repair.ts')).repair,
  full: async () => (await import('./arms/full.ts')).full,
}

/** @returns undefined when it was stopped */
export async function runTask(task: EvalTask, run: number, arm: Arm, conditions: RunConditions): Promise<RunRecord | undefined> {
  const { configured, backend, maxRequests, timeout, signal: stopped } = conditions
  const begin = await ARM[arm]()
  const place = await makePlace(task.files)
  const { tools, ran, run: runCommand, close } = openTools(place, backend)
  const meter = metered((arm === 'bare' ? configured.unrepaired?.() : undefined) ?? configured.model.model)
  const expiry = new AbortController()
  const timer = setTimeout(() => expiry.abort(new Error('its time is up')), timeout * 1000)
  const signal = AbortSignal.any([stopped, expiry.signal])
  try {
    const { files: before } = await place.look()
    const started = performance.now()
    const outcome = await within(
      signal,
      begin({
        configured: { ...configured, model: { ...configured.model, model: meter.model } },
        tools,
        dir: place.dir,
        outputs: place.outputs,
        prompt: task.prompt,
        maxRequests,
        signal,
      }),
    )
    const seconds = (performance.now() - started) / 1000
    if (stopped.aborted) return undefined
    const exitCode = task.verify === undefined ? undefined : await runCommand(task.verify)
    const { files: after, outsideChanged } = await place.look()
    const answer = outcome?.answer ?? ''
    const miss = task.check({ answer, before, after, outsideChanged, ran, ...(exitCode !== undefined && { exitCode }) })
    const ended: Ended = outcome?.ended ?? 'timeout'
    const { fault, ...spent } = meter.read()
    return {
      task: task.id,
      run,
      arm,
      ...verdictOn(ended, miss, fault),
      ended,
      ...spent,
      calls: outcome?.calls ?? 0,
      seconds: Math.round(seconds * 1000) / 1000,
      repaired: counted(outcome?.repaired ?? []),
      answer: answer.slice(0, KEPT),
    }
  } finally {
    clearTimeout(timer)
    expiry.abort()
    await close()
    await place.remove()
  }
}

/** Characters of an answer that are kept. */
const KEPT = 2000

/** Milliseconds that what is cut off is given to end, so that it changes nothing more while it is looked at. */
const GRACE = 2000

/** What `work` comes to, or undefined when its time is up first. */
function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    let grace: NodeJS.Timeout | undefined
    const cutOff = (): void => {
      grace = setTimeout(() => resolve(undefined), GRACE)
    }
    signal.addEventListener('abort', cutOff, { once: true })
    work
      .then(
        (outcome) => resolve(signal.aborted ? undefined : outcome),
        (error: unknown) => (signal.aborted ? resolve(undefined) : reject(error as Error)),
      )
      .finally(() => clearTimeout(grace))
  })
}

const ENDED: Readonly<Partial<Record<Ended, Failure>>> = {
  requests: 'request limit',
  timeout: 'time limit',
  loop: 'loop',
  provider: 'no usable reply',
}

/** What was done counts, however the run ended; the server's absence is nobody's failure. */
function verdictOn(ended: Ended, miss: Miss | undefined, fault: Metered['fault']): Pick<RunRecord, 'ok' | 'failure' | 'says'> {
  if (ended === 'provider' && isAbsence(fault)) return { ok: false, failure: 'not measured', says: 'the model’s server could not be had' }
  if (!miss) return { ok: true }
  return { ok: false, failure: ENDED[ended] ?? miss.reason, says: miss.says }
}

/** Statuses of a server that does not exist, overloaded, or not meant for this person: they say nothing of what was asked. */
const ABSENT = new Set([401, 403, 404, 408, 429, 502, 503, 504])
/** Of provider packages, for a reply that came and could not be read. */
const UNREADABLE = /^AI_(?!APICallError)/

function isAbsence(fault: unknown): boolean {
  const { statusCode, name = '' } = (fault ?? {}) as { readonly statusCode?: unknown; readonly name?: string }
  if (typeof statusCode !== 'number') return !UNREADABLE.test(name)
  return statusCode >= 300 && (statusCode < 400 || ABSENT.has(statusCode))
}

function counted(repaired: readonly (readonly RepairKind[])[]): Partial<Record<RepairKind, number>> {
  const counts: Partial<Record<RepairKind, number>> = {}
  for (const kind of repaired.flat()) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
