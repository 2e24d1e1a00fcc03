/** Runs one attempt, which returns, throws, times out or is aborted. Whatever the tool does, the turn continues. */

import { isMulliganError } from '../errors.ts'
import { guarded } from './classify.ts'

export type Outcome = { readonly kind: 'returned'; readonly value: unknown } | { readonly kind: 'threw'; readonly error: unknown }

export type Attempt =
  | Outcome
  /** Cut off. `late` settles when the tool does; `stopped` when it has heeded the signal and is over. */
  | { readonly kind: 'timeout' | 'aborted'; readonly stopped: boolean; readonly late: Promise<Outcome> }

/** The reason a signal has when its call ran out of time. */
export class TimeoutReason extends Error {
  constructor(seconds: number) {
    super(`timed out after ${seconds} s`)
    this.name = 'TimeoutError'
  }
}

/**
 * Runs `start` for at most `ms` milliseconds. On timeout or abort its signal is aborted and it is given `graceMs` to
 * end by itself: a tool that stops its work says how that went, one that ignores the signal is left behind.
 */
export async function attempt(
  start: (signal: () => AbortSignal) => unknown,
  { ms, graceMs, signal }: { readonly ms: number; readonly graceMs: number; readonly signal: AbortSignal | undefined },
): Promise<Attempt> {
  let controller: AbortController | undefined
  const own = (): AbortController => {
    controller ??= new AbortController()
    return controller
  }
  let value: unknown
  try {
    value = start(() => own().signal)
  } catch (error) {
    return threw(error)
  }
  // What returns at once has nothing to be raced with: no timer, no signal.
  if (!isThenable(value)) return returned(value)
  const running = Promise.resolve(value).then(returned, threw)
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort: (() => void) | undefined
  const cut = new Promise<'timeout' | 'aborted'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), ms)
    onAbort = () => resolve('aborted')
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort, { once: true })
  })
  try {
    const first = await Promise.race([running, cut])
    if (typeof first !== 'string') return first
    own().abort(first === 'timeout' ? new TimeoutReason(ms / 1000) : signal?.reason)
    const ended = await Promise.race([running, pause(graceMs)])
    // An exception after the cut that is not in the tool's own words is taken for the cut itself.
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
