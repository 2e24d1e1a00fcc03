/** The log file: JSON lines, for the person alone. Exceptions of tools go here whole, and nowhere else. */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import { isMulliganError } from '@mulligan/core'

const MAX_BYTES = 10_000_000

export interface LogEntry {
  readonly callId?: string
  readonly tool?: string
  readonly error: unknown
}

/** Writes at once, so that what led to a crash is in it. A log that can't be written is no reason to fail. */
export function fileLog(path: string): (entry: LogEntry) => void {
  return ({ error, ...entry }) => {
    // The three errors a tool throws are written for everybody: only what is behind one is news.
    if (isMulliganError(error) && error.cause === undefined) return
    try {
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) renameSync(path, `${path}.1`)
      appendFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), ...entry, error: wholeError(error) })}\n`, { mode: 0o600 })
    } catch {
      // nowhere left to tell
    }
  }
}

const MAX_DEPTH = 5

function wholeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'object' ? String(error) : error
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && depth < MAX_DEPTH && { cause: wholeError(cause, depth + 1) }) }
}
