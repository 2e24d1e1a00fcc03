/** A text with typographic characters made plain, and the way back to its offsets. Pure. */

export interface Folded {
  readonly text: string
  /** The offset in the original; undefined within what one character or sequence became. */
  readonly original: (offset: number) => number | undefined
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
/** What may be composed in another way, with all that is composed with it. Marks and jamo do not stand alone. */
const SEQUENCES = /[\u1100-\u11ff\uac00-\ud7ff]+|[^\n\p{M}]\p{M}+|[^\p{ASCII}]/gu

export const isAscii = (text: string): boolean => !/[^\p{ASCII}]/u.test(text)

export function fold(original: string): Folded {
  if (isAscii(original)) return { text: original, original: (offset) => offset }
  const pattern = original.normalize('NFC') === original ? TYPOGRAPHIC : SEQUENCES
  /** Where the lengths part: offset in the folded text, offset in the original, length of each; four numbers for one. */
  const shifts: number[] = []
  const plain = new Map<string, string>()
  let drift = 0
  const text = original.replace(pattern, (sequence: string, from: number) => {
    let folded = plain.get(sequence)
    if (folded === undefined) {
      const composed = sequence.normalize('NFC')
      folded = TABLE.get(composed) ?? composed
      plain.set(sequence, folded)
    }
    if (folded.length !== sequence.length) {
      shifts.push(from + drift, from, folded.length, sequence.length)
      drift += folded.length - sequence.length
    }
    return folded
  })
  return {
    text,
    original(offset) {
      let [low, high] = [0, shifts.length / 4]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((shifts[middle * 4] as number) <= offset) low = middle + 1
        else high = middle
      }
      if (low === 0) return offset
      const [at, from, long, was] = shifts.slice(low * 4 - 4, low * 4) as [number, number, number, number]
      if (offset === at) return from
      return offset < at + long ? undefined : offset - at - long + from + was
    },
  }
}
