/** Builds the ledger of changes, failures and unknown effects from the records of the calls. */
import type { CallRecord } from '@mulligan/core'
import { inputWords, type Status } from '@mulligan/core/executor'
import { redact } from '../model/secrets.ts'
import type { Ledger, LedgerEntry } from '../outcome.ts'
import { taskOf } from '../tasks/task-result.ts'

/** The engine's refusals are not failures of the work. */
const NOT_TOLD = new Set<Status>(['cancelled', 'blocked', 'closed'])

/** Maximum characters of the listed paths. */
const MAX_TARGET = 300

export interface LedgerOptions {
  /** Unsettled calls of earlier turns that may have taken effect. Default: none. */
  readonly earlier?: readonly CallRecord[]
  /** Texts to redact. */
  readonly secrets?: readonly string[] | undefined
}

export function ledgerOf(records: readonly CallRecord[], { earlier = [], secrets = [] }: LedgerOptions = {}): Ledger {
  const changed: LedgerEntry[] = []
  const failed: LedgerEntry[] = []
  const unknown: LedgerEntry[] = earlier.map((record) => unknownEntry(record, secrets))
  for (const [at, record] of records.entries()) {
    const done = taskOf(record)
    changed.push(...(done?.ledger.changed ?? []))
    failed.push(...(done?.ledger.failed ?? []))
    unknown.push(...(done?.ledger.unknown ?? []))
    const { id, tool, effect, target, result } = record
    const entry = { callId: id, tool, effect, target }
    // Even if the command failed: its earlier changes remain.
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

/** Describes an unknown effect by its target and the first words of its input. */
function unknownEntry({ id, tool, effect, target, input, result }: CallRecord, secrets: readonly string[]): LedgerEntry {
  const hidden = (text: string): string => redact(text, secrets)
  const words = inputWords(input, target, hidden)
  const what = { callId: id, tool, effect, target: hidden(target), ...(words !== '' && { words }) }
  return result.ok ? what : { ...what, status: result.status, says: result.error }
}

/** Returns whether it was a wrong call that would not have changed anything anyway. */
const isSlip = ({ effect, result }: CallRecord): boolean =>
  !result.ok && result.status === 'retry' && (effect === 'read' || result.errorType === 'unknown_tool')

/** Returns whether the same tool succeeded later: on the same target or, for a wrong call, on any. */
const madeGood = (failure: CallRecord, later: readonly CallRecord[]): boolean =>
  later.some(
    (record) =>
      record.result.ok &&
      record.tool === (failure.result.ok ? '' : (failure.result.details?.call?.tool ?? failure.tool)) &&
      ((!failure.result.ok && failure.result.status === 'retry') || record.target === failure.target),
  )

/** Writes the engine's summary for a turn that the model could not conclude. */
export function summary({ changed, failed, unknown }: Ledger): string {
  const list = (entries: readonly LedgerEntry[]): string =>
    [...new Set(entries.map(({ tool, target, words }) => [tool, target, words && `"${words}"`].filter(Boolean).join(' ')))].join(', ')
  const lines: string[] = []
  if (changed.length > 0) lines.push(`Done: ${list(changed)}.`)
  if (failed.length > 0) lines.push(`Failed: ${list(failed)}.`)
  if (unknown.length > 0) lines.push(`Not known whether it took effect: ${list(unknown)}.`)
  return lines.length > 0 ? lines.join(' ') : 'Nothing was changed.'
}
