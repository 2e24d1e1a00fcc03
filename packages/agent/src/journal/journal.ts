/**
 * The journal of a turn. A turn is a flat sequence of named steps that return values (plain JSON), so the same loop runs embedded
 * (SQLite, memory) and on a distributed engine; a resumed turn replays the recorded values.
 */
import type { CallRecord } from '@mulligan/core'
import type { Message, StoredMessage } from '../history/message.ts'

export interface Journal {
  /**
   * Runs `fn` and records its value; a recorded step returns its value without running again. Steps are not nested and start in the
   * same order in each run of the turn.
   */
  readonly step: <T>(name: string, fn: () => Promise<T>) => Promise<T>
  /** Runs a step that waits for an answer from outside (a person). An engine may park the turn until then. */
  readonly wait: <T>(name: string, ask: () => Promise<T>) => Promise<T>
}

/** Returns the name of the step with the reply to this model request. */
export const requestStep = (step: number): string => `request ${step}`

/** Returns the name of the step with what the person said before this model request. */
export const steerStep = (step: number): string => `steer ${step}`

export interface JournalRow {
  readonly name: string
  /** JSON. */
  readonly value: string
}

/**
 * Creates the journal for a store with rows. Anything the store has already is not kept twice: the value of a request is its message,
 * and a call's record is omitted from its step's value.
 *
 * @param kept the part of the turn's conversation that is in the store
 * @param save stores a new value, as JSON in a row of that name
 */
export function recordedJournal(
  rows: readonly JournalRow[],
  kept: readonly Message[],
  save: (name: string, value: unknown) => void,
): Journal {
  return journalOf(recordedValues(rows, kept), (name, value) => {
    if (!isMessage(value)) save(name, withoutRecord(value))
  })
}

/** Creates a journal with values in memory. @param save called with each new value */
export function journalOf(values: Map<string, unknown>, save: (name: string, value: unknown) => void = () => undefined): Journal {
  async function step<T>(name: string, fn: () => Promise<T>): Promise<T> {
    if (values.has(name)) return values.get(name) as T
    const value = await fn()
    values.set(name, value)
    save(name, value)
    return value
  }
  return { step, wait: step }
}

function recordedValues(rows: readonly JournalRow[], kept: readonly Message[]): Map<string, unknown> {
  const values = new Map<string, unknown>()
  const records = new Map<string, CallRecord>()
  for (const message of kept) if (message.role === 'results') for (const record of message.records) records.set(record.id, record)
  try {
    for (const { name, value } of rows) {
      const read = withRecord(JSON.parse(value), records)
      if (read !== undefined) values.set(name, read)
    }
  } catch {
    // A value is damaged. All steps run again, so that no answer is used for another question; effects that have started are known.
    values.clear()
  }
  for (const message of kept) {
    if (message.role === 'assistant') values.set(requestStep(message.step), message)
    if (message.role === 'user' && message.step !== undefined) values.set(steerStep(message.step), message)
  }
  return values
}

const isMessage = (value: unknown): value is StoredMessage => (value as { role?: unknown } | null)?.role !== undefined

function withoutRecord(value: unknown): unknown {
  const { id } = (value as { record?: Partial<CallRecord> } | null)?.record ?? {}
  return id === undefined ? value : { ...(value as object), record: { id } }
}

/** Adds the record to a step's value. Returns undefined if the store does not have the record. */
function withRecord(value: unknown, records: ReadonlyMap<string, CallRecord>): unknown {
  const { id } = (value as { record?: Partial<CallRecord> } | null)?.record ?? {}
  if (id === undefined) return value
  const record = records.get(id)
  return record && { ...(value as object), record }
}
