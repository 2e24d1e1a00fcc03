/** What was changed, what failed, what is unknown: from the records of the calls. */
import { type CallRecord, inputWords, type Status } from '@mulligan/core'
import { redact } from '../model/secrets.ts'
import type { Ledger, LedgerEntry } from '../outcome.ts'

/** The engine's refusals are not failures of the work. */
const NOT_TOLD = new Set<Status>(['cancelled', 'blocked', 'closed'])

/** Characters of the paths that are named. */
const MAX_TARGET = 300

export interface LedgerOptions {
  /** Calls of earlier turns that may have taken effect and are not settled. Default: none. */
  readonly earlier?: readonly CallRecord[]
  /** Texts that are not shown. */
  readonly secrets?: readonly string[] | undefined
}

export function ledgerOf(records: readonly CallRecord[], { earlier = [], secrets = [] }: LedgerOptions = {}): Ledger {
  const changed: LedgerEntry[] = []
  const failed: LedgerEntry[] = []
  const unknown: LedgerEntry[] = earlier.map((record) => unknownEntry(record, secrets))
  for (const [at, record] of records.entries()) {
    const { id, tool, effect, target, result } = record
    const entry = { callId: id, tool, effect, target }
    // Also of a command that failed: what it changed before is there.
    if (record.changed?.length) changed.push({ ...entry, target: record.changed.join(', ').slice(0, MAX_TARGET) })
    if (result.ok) {
      if (effect !== 'read' && !record.changed) changed.push(entry)
      continue
    }
    if (result.status === 'indeterminate') unknown.push(unknownEntry(record, secrets))
    else if (!NOT_TOLD.has(result.status) && !isSlip(record) && !madeGood(record, records.slice(at + 1)))
      failed.push({ ...entry, status: result.status, says: result.error })
  }
  return { changed, failed, unknown }
}

/** Which call it was: what it acted on, and the first words of its input. */
function unknownEntry({ id, tool, effect, target, input, result }: CallRecord, secrets: readonly string[]): LedgerEntry {
  const hidden = (text: string): string => redact(text, secrets)
  const words = inputWords(input, target, hidden)
  const what = { callId: id, tool, effect, target: hidden(target), ...(words !== '' && { words }) }
  return result.ok ? what : { ...what, status: result.status, says: result.error }
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
    [...new Set(entries.map(({ tool, target, words }) => [tool, target, words && `"${words}"`].filter(Boolean).join(' ')))].join(', ')
  const lines: string[] = []
  if (changed.length > 0) lines.push(`Done: ${list(changed)}.`)
  if (failed.length > 0) lines.push(`Failed: ${list(failed)}.`)
  if (unknown.length > 0) lines.push(`Not known whether it took effect: ${list(unknown)}.`)
  return lines.length > 0 ? lines.join(' ') : 'Nothing was changed.'
}
