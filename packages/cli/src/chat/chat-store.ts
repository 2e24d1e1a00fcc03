/** A store for React: takes a new snapshot and notifies its subscribers, at most once per frame. */

export interface ChatStore<T> {
  /** The same object until something changes. */
  readonly state: () => T
  /** @returns what ends it */
  readonly subscribe: (listener: () => void) => () => void
  readonly changed: () => void
  /** What has changed is told at once. */
  readonly flush: () => void
}

/** Milliseconds between two looks. */
const FRAME = 40

export function createChatStore<T>(look: () => T): ChatStore<T> {
  const listeners = new Set<() => void>()
  let snapshot = look()
  let timer: NodeJS.Timeout | undefined

  function publish(): void {
    clearTimeout(timer)
    timer = undefined
    snapshot = look()
    for (const listener of listeners) listener()
  }

  return {
    state: () => snapshot,
    flush: publish,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    changed: () => {
      if (timer === undefined) timer = setTimeout(publish, FRAME)
    },
  }
}
