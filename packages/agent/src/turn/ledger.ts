/** What was changed, what failed, what is unknown: from the records of the calls. */
import type { CallRecord, Status } from '@mulligan/core'
import type { Ledger, LedgerEntry } from '../outcome.ts'

/** The engine's refusals are not failures of the work. */
const NOT_TOLD = new Set<Status>(['cancelled', 'blocked', 'closed'])

/** Characters of the paths that are named. */
const MAX_TARGET = 300

export function ledgerOf(records: readonly CallRecord[]): Ledger {
  const changed: LedgerEntry[] = []
  const failed: LedgerEntry[] = []
  const unknown: LedgerEntry[] = []
  for (const [at, record] of records.entries()) {
    const { id, tool, effect, target, result } = record
    const entry = { callId: id, tool, effect, target }
    // Also of a command that failed: what it changed before is there.
    if (record.changed?.length) changed.push({ ...entry, target: record.changed.join(', ').slice(0, MAX_TARGET) })
    if (result.ok) {
      if (effect !== 'read' && !record.changed) changed.push(entry)
      continue
    }
    const told = { ...entry, status: result.status, says: result.error }
    if (result.status === 'indeterminate') unknown.push(told)
    else if (!NOT_TOLD.has(result.status) && !isSlip(record) && !madeGood(record, records.slice(at + 1))) failed.push(told)
  }
  return { changed, failed, unknown }
}

/** A wrong call that would have changed nothing anyway. */
const isSlip = ({ effect, result }: CallRecord): boolean =>
  !result.ok && result.status === 'retry' && (effect === 'read' || result.errorType === 'unknown_tool')

/** The same tool succeeded later: on the same target, or for a wrong call on any. */
const madeGood = (failure: CallRecord, later: readonly CallRecord[]): boolean =>
  later.some(
    (record) =>
      record.result.ok &&
      record.tool === (failure.result.ok ? '' : (failure.result.details?.call?.tool ?? failure.tool)) &&
      ((!failure.result.ok && failure.result.status === 'retry') || record.target === failure.target),
  )

/** The engine's words for a turn that the model could not end itself. */
export function summary({ changed, failed, unknown }: Ledger): string {
  const list = (entries: readonly LedgerEntry[]): string =>
    [...new Set(entries.map(({ tool, target }) => (target === '' ? tool : `${tool} ${target}`)))].join(', ')
  const lines: string[] = []
  if (changed.length > 0) lines.push(`Done: ${list(changed)}.`)
  if (failed.length > 0) lines.push(`Failed: ${list(failed)}.`)
  if (unknown.length > 0) lines.push(`Not known whether it took effect: ${list(unknown)}.`)
  return lines.length > 0 ? lines.join(' ') : 'Nothing was changed.'
}
