/** One execution, raced: it returns, throws, runs out of time or is aborted. Whatever a tool does, the turn goes on. */

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
  const begun = begin(() => start(() => own().signal))
  if (begun.kind !== 'running') return begun
  const running = settle(begun.value)
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
    if (ended === undefined) return { kind: first, stopped: false, late: running }
    if (ended.kind === 'threw' && isAbort(ended.error, own().signal)) return { kind: first, stopped: true, late: running }
    return ended
  } finally {
    clearTimeout(timer)
    if (onAbort) signal?.removeEventListener('abort', onAbort)
  }
}

/** What returns at once has nothing to be raced with: no timer, no signal. */
function begin(start: () => unknown): Outcome | { readonly kind: 'running'; readonly value: unknown } {
  try {
    const value = start()
    return { kind: isThenable(value) ? 'running' : 'returned', value }
  } catch (error) {
    return { kind: 'threw', error }
  }
}

const isThenable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && guarded(() => typeof (value as { then?: unknown }).then === 'function') === true

async function settle(running: unknown): Promise<Outcome> {
  try {
    return { kind: 'returned', value: await running }
  } catch (error) {
    return { kind: 'threw', error }
  }
}

const isAbort = (error: unknown, signal: AbortSignal): boolean =>
  error === signal.reason ||
  guarded(() => error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')) === true

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined))
}
