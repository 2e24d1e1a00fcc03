/** Line ends: a text with `\n` only, for matching, and the way back to the offsets of the original. Pure. */

export interface Flat {
  readonly text: string
  /** The offset in the original of an offset in {@link text}. At a line end: before its carriage return. */
  readonly original: (offset: number) => number
  /** The line end to use for text put between two offsets of {@link text}. */
  readonly newline: (start: number, end: number) => '\n' | '\r\n'
}

export function flatten(original: string): Flat {
  if (!original.includes('\r\n')) return { text: original, original: (offset) => offset, newline: () => '\n' }
  const text = original.replaceAll('\r\n', '\n')
  /** Offsets in `text` of the newlines that had a carriage return. */
  const returns: number[] = []
  for (let at = original.indexOf('\r\n'); at !== -1; at = original.indexOf('\r\n', at + 2)) returns.push(at - returns.length)
  const before = (offset: number): number => {
    let [low, high] = [0, returns.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((returns[middle] as number) < offset) low = middle + 1
      else high = middle
    }
    return low
  }
  const hadReturn = (newline: number): boolean => returns[before(newline)] === newline
  return {
    text,
    original: (offset) => offset + before(offset),
    newline(start, end) {
      const inside = text.indexOf('\n', start)
      if (inside !== -1) return hadReturn(inside) ? '\r\n' : '\n'
      const above = text.lastIndexOf('\n', Math.max(start, end) - 1)
      return above !== -1 && hadReturn(above) ? '\r\n' : '\n'
    },
  }
}

export const withNewlines = (text: string, newline: '\n' | '\r\n'): string => {
  const flat = text.replaceAll('\r\n', '\n')
  return newline === '\n' ? flat : flat.replaceAll('\n', '\r\n')
}
