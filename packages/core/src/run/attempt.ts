/** Runs one attempt, which returns, throws, times out or is aborted. Whatever the tool does, the turn continues. */

import { isMulliganError } from '../errors.ts'
import { guarded } from './classify.ts'

export type Outcome = { readonly kind: 'returned'; readonly value: unknown } | { readonly kind: 'threw'; readonly error: unknown }

export type Attempt =
  | Outcome
  /** Cut off. `late` settles when the tool does; `stopped` means that the tool obeyed the signal and has ended. */
  | { readonly kind: 'timeout' | 'aborted'; readonly stopped: boolean; readonly late: Promise<Outcome> }

/** The abort reason of a call that timed out. */
export class TimeoutReason extends Error {
  constructor(seconds: number) {
    super(`timed out after ${seconds} s`)
    this.name = 'TimeoutError'
  }
}

interface AttemptLimits {
  readonly ms: number
  readonly graceMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * Runs `start` for at most `ms` milliseconds. On timeout or abort, its signal is aborted and it has `graceMs` to end by itself: a tool
 * that stops its work reports how that went; one that ignores the signal is abandoned.
 */
export function attempt(start: (signal: () => AbortSignal) => unknown, limits: AttemptLimits): Attempt | Promise<Attempt> {
  let controller: AbortController | undefined
  const own = (): AbortController => {
    controller ??= new AbortController()
    return controller
  }
  try {
    const value = start(() => own().signal)
    // A synchronous return needs no race: no timer, no signal.
    return isThenable(value) ? raced(value, own, limits) : returned(value)
  } catch (error) {
    return threw(error)
  }
}

async function raced(value: unknown, own: () => AbortController, { ms, graceMs, signal }: AttemptLimits): Promise<Attempt> {
  const running = Promise.resolve(value).then(returned, threw)
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort: (() => void) | undefined
  const cut = new Promise<'timeout' | 'aborted'>((resolve) => {
    if (ms !== Infinity) timer = setTimeout(() => resolve('timeout'), ms)
    onAbort = () => resolve('aborted')
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort, { once: true })
  })
  try {
    const first = await Promise.race([running, cut])
    if (typeof first !== 'string') return first
    own().abort(first === 'timeout' ? new TimeoutReason(ms / 1000) : signal?.reason)
    const ended = await Promise.race([running, pause(graceMs)])
    // An exception after the cut-off that is not one of the tool's typed errors is taken to be the cut-off itself.
    const stopped = ended?.kind === 'threw' && !isMulliganError(ended.error)
    return ended && !stopped ? ended : { kind: first, stopped, late: running }
  } finally {
    clearTimeout(timer)
    if (onAbort) signal?.removeEventListener('abort', onAbort)
  }
}

const returned = (value: unknown): Outcome => ({ kind: 'returned', value })
const threw = (error: unknown): Outcome => ({ kind: 'threw', error })

const isThenable = (value: unknown): boolean =>
  typeof value === 'object' && guarded(() => typeof (value as PromiseLike<unknown>).then === 'function') === true

const pause = (ms: number): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, ms, undefined))
