/** The session's sandbox: opened with the first command, and again where that failed. */
import type { Sandbox } from '@mulligan/sandbox'

export interface SessionSandbox {
  readonly get: () => Promise<Sandbox>
  readonly close: () => Promise<void>
}

export function memoizedSandbox(open: () => Promise<Sandbox>): SessionSandbox {
  let opened: Promise<Sandbox> | undefined
  return {
    get: () => {
      opened ??= (async () => open())().catch((error: unknown) => {
        opened = undefined
        throw error
      })
      return opened
    },
    close: async () => {
      const sandbox = await opened?.catch(() => undefined)
      opened = undefined
      await sandbox?.close()
    },
  }
}
