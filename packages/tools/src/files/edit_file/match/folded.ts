/** A text with replaced sequences, and the mapping back to its original offsets. Pure. */

export interface Folded {
  readonly text: string
  /** Returns the offset in the original; undefined inside a replaced character or sequence. */
  readonly original: (offset: number) => number | undefined
}

export function replaced(original: string, pattern: RegExp, by: (sequence: string) => string): Folded {
  /** Where the lengths differ: offsets in the new text, and for each one the offset in the original and both lengths. */
  const parts: number[] = []
  const shifts: { readonly from: number; readonly long: number; readonly was: number }[] = []
  let drift = 0
  const text = original.replace(pattern, (sequence: string, from: number) => {
    const next = by(sequence)
    if (next.length !== sequence.length) {
      parts.push(from + drift)
      shifts.push({ from, long: next.length, was: sequence.length })
      drift += next.length - sequence.length
    }
    return next
  })
  return {
    text,
    original(offset) {
      const index = firstFrom(parts, offset + 1) - 1
      const shift = shifts[index]
      if (!shift) return offset
      const past = offset - (parts[index] as number)
      if (past === 0) return shift.from
      return past < shift.long ? undefined : past - shift.long + shift.from + shift.was
    },
  }
}

/** Returns the index of the first number in a sorted list that is at least `least`. */
export function firstFrom(sorted: readonly number[], least: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < least) low = middle + 1
    else high = middle
  }
  return low
}

const PLAIN: readonly (readonly [string, string])[] = [
  ["'", '‘’‚‛′'],
  ['"', '“”„‟″«»'],
  ['-', '‐‑‒–—―−'],
  [' ', '\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000'],
  ['...', '…'],
]
const TABLE: ReadonlyMap<string, string> = new Map(PLAIN.flatMap(([plain, ones]) => [...ones].map((one) => [one, plain] as const)))
const TYPOGRAPHIC = new RegExp(`[${[...TABLE.keys()].join('')}]`, 'gu')
/** Sequences that may be composed differently, including everything they are composed with. Marks and jamo do not stand alone. */
const SEQUENCES = /[\u1100-\u11ff\uac00-\ud7ff]+|[^\n\p{M}]\p{M}+|[^\p{ASCII}]/gu

export const isAscii = (text: string): boolean => !/[^\p{ASCII}]/u.test(text)

/** Replaces typographic characters with plain ones, and full-width and other compatibility forms with ordinary ones (Unicode's NFKC). */
export function fold(text: string): Folded {
  if (isAscii(text)) return { text, original: (offset) => offset }
  const plain = new Map<string, string>()
  return replaced(text, text.normalize('NFKC') === text ? TYPOGRAPHIC : SEQUENCES, (sequence) => {
    const known = plain.get(sequence)
    if (known !== undefined) return known
    const composed = sequence.normalize('NFC')
    const folded = TABLE.get(composed) ?? composed.normalize('NFKC')
    plain.set(sequence, folded)
    return folded
  })
}
