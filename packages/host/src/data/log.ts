/** The log file: JSON lines, readable by the user only. The only place where exceptions of tools are written in full. */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import { isMulliganError } from '@mulligan/core/executor'

const MAX_BYTES = 10_000_000

export interface LogEntry {
  readonly callId?: string
  readonly tool?: string
  readonly error: unknown
}

/** Writes synchronously, so that the log has what led to a crash. A log that cannot be written is not an error. */
export function fileLog(path: string): (entry: LogEntry) => void {
  return ({ error, ...entry }) => {
    // The three errors that tools throw are messages for the user anyway; log them only for their cause.
    if (isMulliganError(error) && error.cause === undefined) return
    try {
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) renameSync(path, `${path}.1`)
      appendFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), ...entry, error: wholeError(error) })}\n`, { mode: 0o600 })
    } catch {
      // Logging failed; ignore.
    }
  }
}

const MAX_DEPTH = 5

function wholeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'object' ? String(error) : error
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && depth < MAX_DEPTH && { cause: wholeError(cause, depth + 1) }) }
}
