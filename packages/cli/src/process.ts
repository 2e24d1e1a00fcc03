/** The process: which own code is running, interrupts, exit codes, and memory use. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { TurnOutcome, TurnStatus } from '@mulligan/agent'
import type { AroundOwnCode } from '@mulligan/host/parts'
import { enterFolder } from './paths.ts'

const running = new AsyncLocalStorage<string>()

/**
 * Runs own code, including async work it leaves behind, under a name known to the user. Before the first run, changes to the folder, so
 * that relative paths of own tools refer to it.
 */
export function ownCodeIn(cwd: string): AroundOwnCode {
  let isEntered = false
  return (name, run) => {
    if (!isEntered) enterFolder(cwd)
    isEntered = true
    return running.run(name, run)
  }
}

let watching = false

/**
 * Watches for an unexpected exit: until {@link endProcess} is called, any exit gets a failure code, and `tell` reports the cause.
 *
 * @param tell must write synchronously, because the process does not wait
 */
export function watchExit(tell: (by: string | undefined) => void): void {
  watching = true
  process.on('exit', () => {
    if (!watching) return
    process.exitCode = EXIT.failed
    tell(running.getStore())
  })
}

/** Ends the process intentionally. */
export function endProcess(code: number): never {
  watching = false
  process.exit(code)
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Interrupt {
  readonly signal: AbortSignal
  /** Acts as if a signal had been received. */
  readonly trigger: () => void
  readonly dispose: () => void
}

/** @param onFirst called once, to tell the user that the process is stopping */
export function watchInterrupts(onFirst: () => void, exit: (code: number) => void = endProcess): Interrupt {
  const controller = new AbortController()
  const trigger = (): void => {
    if (controller.signal.aborted) {
      exit(EXIT.cancelled)
      return
    }
    controller.abort(new Error('interrupted'))
    onFirst()
  }
  for (const signal of SIGNALS) process.on(signal, trigger)
  return {
    signal: controller.signal,
    trigger,
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, trigger)
    },
  }
}

let isSaving = false

/**
 * Keeps the heap close to what is in use; by default, V8 lets it grow to twice as much in a session of 300 file reads. Can be called at any
 * time and takes effect immediately. V8 prints an error for an unknown flag, so it is set only on tested versions (Node 24).
 */
export function saveMemory(): void {
  if (isSaving || !process.versions.v8.startsWith('13.')) return
  isSaving = true
  process.getBuiltinModule('node:v8').setFlagsFromString('--memory-saver-mode')
}

export const EXIT = { ok: 0, failed: 1, usage: 2, stopped: 3, needsApproval: 4, cancelled: 130 } as const

const OF_STATUS: Readonly<Record<TurnStatus, number>> = {
  answered: EXIT.ok,
  failed: EXIT.failed,
  interrupted: EXIT.failed,
  stopped: EXIT.stopped,
  needs_approval: EXIT.needsApproval,
  waiting: EXIT.needsApproval,
  cancelled: EXIT.cancelled,
}

export const exitCodeOf = ({ status }: Pick<TurnOutcome, 'status'>): number => OF_STATUS[status]
