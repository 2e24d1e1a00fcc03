/** A process that dies at a chosen point of its store, without a process: nothing that it waits for arrives any more. */
import type { Store } from './index.ts'

/** A process that can die: from then on, nothing it waits for ever arrives. */
export interface Life {
  /** Names of the points passed. */
  readonly passed: readonly string[]
  /** Passes a point. @returns whether the process is now dead */
  readonly point: (name: string) => boolean
  readonly isDead: () => boolean
  readonly death: Promise<'dead'>
}

export const NEVER = new Promise<never>(() => undefined)

/** @param killAt the point, from 1, at which it dies. Default: never */
export function life(killAt = Number.POSITIVE_INFINITY): Life {
  const { promise: death, resolve } = Promise.withResolvers<'dead'>()
  const passed: string[] = []
  let dead = false
  const point = (name: string): boolean => {
    if (dead) return true
    dead = passed.push(name) >= killAt
    if (dead) resolve('dead')
    return dead
  }
  return { passed, point, isDead: () => dead, death }
}

/** Adds a point before and after each write, and for each journal step before it, before its value is recorded and after that. */
export function mortal(store: Store, { point, isDead }: Life): Store {
  const write =
    <Args extends unknown[]>(name: string, work: (...args: Args) => Promise<void>) =>
    (...args: Args): Promise<void> =>
      point(name) ? NEVER : work(...args).then(() => (point(name) ? NEVER : undefined))
  const other = <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) => {
    return (...args: Args): Promise<T> => (isDead() ? NEVER : work(...args).then((value) => (isDead() ? NEVER : value)))
  }
  const all = Object.fromEntries(Object.entries(store).map(([name, work]) => [name, other(work as () => Promise<unknown>)]))
  return {
    ...(all as unknown as Store),
    saveMessage: write('saveMessage', store.saveMessage),
    saveCall: write('saveCall', store.saveCall),
    append: write('append', store.append),
    endTurn: write('endTurn', store.endTurn),
    park: write('park', store.park),
    unpark: write('unpark', store.unpark),
    journal: other(async (turnId, kept) => {
      const journal = await store.journal(turnId, kept)
      const step =
        (kind: 'step' | 'wait') =>
        <T>(name: string, fn: () => Promise<T>): Promise<T> => {
          if (point(name)) return NEVER
          const value = journal[kind](name, async () => {
            const came = await fn()
            return point(name) ? NEVER : came
          })
          return value.then((came) => (point(name) ? NEVER : came))
        }
      return { step: step('step'), wait: step('wait') }
    }),
  }
}
