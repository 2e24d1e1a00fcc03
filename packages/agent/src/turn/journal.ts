/**
 * Where a turn writes down what it has done, so that the same loop runs embedded (SQLite) and on a distributed engine.
 * A step that has finished is not run again: its value comes from the journal. Values are small and plain (ids); what
 * they name is in the store.
 */
export interface Journal {
  /** Runs `fn` once, ever: after a restart a finished step returns its recorded value. */
  readonly step: <T>(name: string, fn: () => Promise<T>) => Promise<T>
  /** Like a step, but for an answer from outside (a person): an engine may park the turn until it comes. */
  readonly wait: <T>(name: string, ask: () => Promise<T>) => Promise<T>
}

/** A journal that lasts as long as the process. */
export function memoryJournal(steps: Map<string, unknown> = new Map()): Journal {
  async function step<T>(name: string, fn: () => Promise<T>): Promise<T> {
    if (steps.has(name)) return steps.get(name) as T
    const value = await fn()
    steps.set(name, value)
    return value
  }
  return { step, wait: step }
}
