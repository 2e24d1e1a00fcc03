/** Runs one tool to its result: attempts, backoff on transient faults, breaker, timeout, abort. */
import { isMulliganError } from '../errors.ts'
import type { Confinement, ProposedChanges } from '../layer.ts'
import { notOk, type ToolError, type ToolResult } from '../result.ts'
import type { Tool } from '../tool.ts'
import { type Attempt, attempt, type Outcome } from './attempt.ts'
import { isOutcomeUnknown, transientFault } from './classify.ts'
import { fromReturned } from './normalize.ts'
import { type Breakers, backoff, MAX_ATTEMPTS } from './transient.ts'

/** Time and randomness, replaceable so that tests need not wait. Times are in milliseconds. */
export interface Clock {
  readonly now: () => number
  /** Resolves after `ms`, or at once if the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Returns a number in [0, 1). */
  readonly random: () => number
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
      function done(): void {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
    }),
  random: Math.random,
}

export interface RunOptions {
  readonly callId: string
  readonly idempotencyKey: string
  /** The number of the first attempt. Above 1, an earlier process started this call, and it may have taken effect. */
  readonly firstAttempt: number
  readonly signal: AbortSignal | undefined
  readonly graceMs: number
  readonly clock: Clock
  readonly breakers: Breakers
  readonly log: (error: unknown) => void
  /** The result of an exception. */
  readonly failed: (error: unknown) => ToolError
  /** Called before each attempt after the first. */
  readonly mayRetry: (attempt: number) => Promise<boolean>
  readonly progress: (attempt: number, message: string) => void
  readonly secrets: readonly string[] | undefined
  readonly confinement: Confinement | undefined
  readonly propose: ((changes: ProposedChanges) => void) | undefined
}

export interface Ran {
  readonly result: ToolResult
  readonly attempts: number
  /** The eventual result of a tool that did not stop. */
  readonly late?: Promise<ToolResult>
}

/** Maximum characters of a service's name. */
const MAX_SERVICE = 200

/** @param made how the first attempt ended, if it was made already */
export async function runTool(tool: Tool, input: unknown, options: RunOptions, made?: Attempt): Promise<Ran> {
  const { clock, breakers, signal } = options
  const deadline = clock.now() + tool.timeout * 1000
  const service = serviceOf(tool, input)
  let mayHaveTakenEffect = options.firstAttempt > 1 && tool.effect !== 'read'
  /** A later attempt that failed says nothing about the earlier ones, unless it looked for what they did. */
  const afterAll = (result: ToolResult): ToolResult =>
    mayHaveTakenEffect && !result.ok && result.status !== 'indeterminate' ? indeterminate(tool, 'lost its connection') : result
  for (let attempts = options.firstAttempt; ; attempts++) {
    const wait = breakers.wait(service, clock.now())
    if (wait > 0) return { result: afterAll(circuitOpen(service, wait)), attempts: attempts - 1 }
    const begin = (signalOf: () => AbortSignal): unknown =>
      tool.execute(input as never, {
        get signal() {
          return signalOf()
        },
        callId: options.callId,
        idempotencyKey: options.idempotencyKey,
        attempt: attempts,
        progress: (message) => options.progress(attempts, message),
        ...(options.secrets && { secrets: options.secrets }),
        ...(options.confinement && { confinement: options.confinement }),
        ...(options.propose && { propose: options.propose }),
      })
    const limits = { ms: Math.max(1, deadline - clock.now()), graceMs: options.graceMs, signal }
    const attempted = (attempts === options.firstAttempt && made) || attempt(begin, limits)
    const ran = attempted instanceof Promise ? await attempted : attempted
    if (ran.kind === 'returned') {
      breakers.success(service)
      return { result: fromReturned(ran.value, tool), attempts }
    }
    if (ran.kind !== 'threw') {
      breakers.cut(service, clock.now(), ran.kind)
      return { ...cutOff(tool, ran, options), attempts }
    }
    options.log(ran.error)
    const fault = transientFault(ran.error)
    if (!fault) {
      breakers.success(service)
      const failed = options.failed(ran.error)
      return { result: isMulliganError(ran.error) ? failed : afterAll(failed), attempts }
    }
    breakers.fault(service, clock.now())
    mayHaveTakenEffect ||= tool.effect !== 'read' && isOutcomeUnknown(ran.error)
    const given = (): Ran => ({ result: afterAll(unavailable(options.failed(ran.error), fault)), attempts })
    const repeatable = tool.effect === 'read' || tool.idempotent
    const delay = backoff(attempts + 1, clock.random(), fault.retryAfter)
    if (!repeatable || attempts >= MAX_ATTEMPTS || clock.now() + delay >= deadline) return given()
    await clock.sleep(delay, signal)
    if (signal?.aborted)
      return { result: afterAll(notOk('cancelled', `The turn was stopped while ${tool.name} waited to try again.`)), attempts }
    if (!(await options.mayRetry(attempts + 1))) return given()
  }
}

/** Returns the service of a call. If the input does not tell, it is the tool itself. */
function serviceOf({ name, service }: Tool, input: unknown): string {
  if (typeof service === 'string') return service
  try {
    return String(service(input as never)).slice(0, MAX_SERVICE)
  } catch {
    return name
  }
}

function unavailable(result: ToolError, { retryAfter }: { readonly retryAfter?: number }): ToolResult {
  const details = retryAfter === undefined ? result.details : { ...result.details, retryAfter }
  return { ...result, ...(details && { details }) }
}

const circuitOpen = (service: string, wait: number): ToolResult =>
  notOk('network', `${service} has failed several times in a row and is paused for ${Math.ceil(wait / 1000)} s. This call was not run.`, {
    status: 'unavailable',
    details: { retryAfter: Math.ceil(wait / 1000) },
  })

/** Returns the result of a call that timed out or was aborted. If it has effects, their outcome is unknown. */
function cutOff(tool: Tool, ran: Extract<Attempt, { kind: 'timeout' | 'aborted' }>, options: RunOptions): Omit<Ran, 'attempts'> {
  const late = ran.stopped ? undefined : ran.late.then((outcome) => fromOutcome(tool, outcome, options))
  const result = ran.kind === 'timeout' ? timedOut(tool) : aborted(tool)
  return late ? { result, late } : { result }
}

function timedOut(tool: Tool): ToolResult {
  if (tool.effect !== 'read') return indeterminate(tool, `was cut off after ${tool.timeout} s`, 'timeout')
  return notOk('timeout', `${tool.name} was cut off after ${tool.timeout} s.`, {
    details: { timeout: tool.timeout, constraint: 'a smaller piece of work, or another way' },
  })
}

function aborted(tool: Tool): ToolResult {
  if (tool.effect !== 'read') return indeterminate(tool, 'was cut off when the turn was stopped', 'cancelled')
  return notOk('cancelled', `The turn was stopped while ${tool.name} was running.`)
}

const indeterminate = (tool: Tool, how: string, errorType: 'timeout' | 'cancelled' | 'network' = 'network'): ToolResult =>
  notOk(errorType, `${tool.name} ${how}. It is not known whether it took effect.`, { status: 'indeterminate' })

function fromOutcome(tool: Tool, outcome: Outcome, options: RunOptions): ToolResult {
  if (outcome.kind === 'returned') return fromReturned(outcome.value, tool)
  options.log(outcome.error)
  const result = options.failed(outcome.error)
  // An exception of a call that was cut off is often the cut-off itself: only the tool's typed errors settle the outcome.
  return tool.effect === 'read' || isMulliganError(outcome.error) ? result : { ...result, status: 'indeterminate' }
}
