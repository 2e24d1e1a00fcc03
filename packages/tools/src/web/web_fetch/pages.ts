/** Splits text into pages, preferably at line ends, and caches recently rendered documents. */

/** Share by which a page may be shorter than requested, so that it ends at a line end. */
const SLACK = 0.1

export function pagesOf(text: string, maxChars: number): readonly string[] {
  const pages: string[] = []
  let from = 0
  while (text.length - from > maxChars) {
    const end = from + maxChars
    const line = text.lastIndexOf('\n', end - 1) + 1
    const isPair = (text.codePointAt(end - 1) ?? 0) > 0xffff
    const cut = line > end - maxChars * SLACK ? line : isPair ? end - 1 : end
    pages.push(text.slice(from, cut))
    from = cut
  }
  return [...pages, text.slice(from)]
}

const MINUTES = 5
const MAX_CHARS = 20_000_000

/** Caches the newest documents, up to a number of characters and minutes, so that page 2 comes from the same document as page 1. */
export function pageCache<T>(now: () => number = Date.now) {
  const kept = new Map<string, { readonly value: T; readonly chars: number; readonly until: number }>()
  return {
    get: (key: string): T | undefined => {
      const found = kept.get(key)
      return found && found.until > now() ? found.value : undefined
    },
    set: (key: string, value: T, chars: number): void => {
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
