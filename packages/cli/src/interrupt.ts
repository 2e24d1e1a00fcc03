/** Ctrl-C and its relatives: the first stops the turn in an orderly way, the second ends the process. */
import { EXIT } from './exit.ts'
import { endProcess } from './own-code.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Interrupt {
  readonly signal: AbortSignal
  /** What a signal does. */
  readonly trigger: () => void
  readonly dispose: () => void
}

/** @param onFirst told once, to let the person know that the process is ending its work */
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
