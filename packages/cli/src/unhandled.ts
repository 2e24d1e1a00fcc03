/** Exceptions outside every call, such as a promise that an own tool started and forgot. They must not end the run. */
import { fileLog } from '@mulligan/host/parts'
import { fromHome, openDataDir } from './paths.ts'
import type { Output } from './ui/output.ts'

/** Logs them whole, and tells the user once that there was one. @returns what ends the watch. @throws UsageError */
export function catchUnhandled({ err }: Pick<Output, 'err'>): () => void {
  const { log: path } = openDataDir()
  const log = fileLog(path)
  let told = false
  const onUnhandled = (error: unknown): void => {
    log({ error })
    if (!told) err(`Something failed outside every call; see ${fromHome(path)}\n`)
    told = true
  }
  process.on('uncaughtException', onUnhandled).on('unhandledRejection', onUnhandled)
  return () => {
    process.off('uncaughtException', onUnhandled).off('unhandledRejection', onUnhandled)
  }
}
