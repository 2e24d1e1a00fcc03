/** Exceptions outside every call, such as a promise that an own tool started and forgot. They must not end the run. */
import type { LogEntry } from './log.ts'

/** Logs them whole, and tells the person once that there was one. @returns what ends the watch */
export function watchStray(log: (entry: LogEntry) => void, tell: () => void): () => void {
  let told = false
  const onStray = (error: unknown): void => {
    log({ error })
    if (!told) tell()
    told = true
  }
  process.on('uncaughtException', onStray).on('unhandledRejection', onStray)
  return () => {
    process.off('uncaughtException', onStray).off('unhandledRejection', onStray)
  }
}
