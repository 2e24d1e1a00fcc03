/**
 * An in-memory journal as strict as a durable engine: it rejects nested steps, a different order of steps on replay, and values that
 * JSON does not preserve.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Journal } from './journal.ts'

export interface LoggedStep {
  readonly name: string
  /** JSON; absent until the step is done. */
  value?: string
}

/** The turn cannot be replayed by a journal: a defect of the loop. */
export class JournalMisuse extends Error {
  constructor(says: string) {
    super(says)
    this.name = 'JournalMisuse'
  }
}

/**
 * Creates a strict journal.
 * @param log the steps in the order in which they started; a journal created from it replays them
 */
export function strictJournal(log: LoggedStep[] = []): Journal {
  const current = new AsyncLocalStorage<string>()
  const names = new Set<string>()
  let position = 0

  async function step<T>(name: string, fn: () => Promise<T>): Promise<T> {
    const outer = current.getStore()
    if (outer !== undefined) throw new JournalMisuse(`step "${name}" was started inside step "${outer}"`)
    if (names.has(name)) throw new JournalMisuse(`step "${name}" was started twice`)
    const logged = log[position] ?? { name }
    if (logged.name !== name) throw new JournalMisuse(`step "${name}" was started where "${logged.name}" is recorded`)
    names.add(name)
    log[position++] = logged
    logged.value ??= toJson(name, await current.run(name, fn))
    return JSON.parse(logged.value) as T
  }

  return { step, wait: step }
}

function toJson(name: string, value: unknown): string {
  const wrong = notJson(value, '')
  if (wrong !== undefined) throw new JournalMisuse(`the value of step "${name}" is not JSON at "${wrong}"`)
  return JSON.stringify(value)
}

/** Returns the path at which a value would change in a JSON round trip, if any. */
function notJson(value: unknown, at: string): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return undefined
  if (typeof value !== 'object' || !isPlain(value)) return at
  for (const key of Object.keys(value)) {
    const wrong = notJson((value as Record<string, unknown>)[key], `${at}/${key}`)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

const isPlain = (value: object): boolean => Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value))
