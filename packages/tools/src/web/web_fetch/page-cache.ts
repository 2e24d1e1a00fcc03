/** Pages as they were rendered, so that page 2 is of the same document as page 1. */

const MINUTES = 5
const MAX_CHARS = 20_000_000

export interface PageCache<T> {
  readonly get: (key: string) => T | undefined
  readonly set: (key: string, value: T, chars: number) => void
}

/** Keeps the newest, up to a number of characters and minutes. */
export function pageCache<T>(now: () => number = Date.now): PageCache<T> {
  const kept = new Map<string, { readonly value: T; readonly chars: number; readonly until: number }>()
  return {
    get(key) {
      const found = kept.get(key)
      return found && found.until > now() ? found.value : undefined
    },
    set(key, value, chars) {
      kept.delete(key)
      kept.set(key, { value, chars, until: now() + MINUTES * 60_000 })
      let total = [...kept.values()].reduce((sum, one) => sum + one.chars, 0)
      for (const [old, one] of kept) {
        if (old === key || (total <= MAX_CHARS && one.until > now())) continue
        kept.delete(old)
        total -= one.chars
      }
    },
  }
}
