/** A map that forgets the oldest entries. */
export interface Recent<Key, Value> {
  readonly get: (key: Key) => Value | undefined
  readonly set: (key: Key, value: Value) => void
  /** Returns the value and forgets it. */
  readonly take: (key: Key) => Value | undefined
  readonly values: () => Iterable<Value>
  readonly clear: () => void
}

/** @param max entries that are kept. Default 1000 */
export function recent<Key, Value>(max = 1000): Recent<Key, Value> {
  const entries = new Map<Key, Value>()
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      if (entries.size > max) for (const oldest of entries.keys()) return void entries.delete(oldest)
    },
    take(key) {
      const value = entries.get(key)
      entries.delete(key)
      return value
    },
    values: () => entries.values(),
    clear: () => entries.clear(),
  }
}
