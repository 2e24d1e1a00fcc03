/** Where a sequence occurs in another, overlaps included, in time that grows with their lengths and no faster. Pure. */
import type { Source } from './source.ts'

/** The engine's own search is faster for short texts, and quadratic for long ones that repeat themselves. */
const SHORT = 250

export function textOccurrences(source: Source, wanted: string, most: number): number[] {
  if (wanted.length > SHORT) return occurrences(source.derive(units), unitsOf(wanted), most)
  const { text } = source
  const found: number[] = []
  for (let at = text.indexOf(wanted); at !== -1 && found.length < most; at = text.indexOf(wanted, at + 1)) found.push(at)
  return found
}

const unitsOf = (text: string): Uint16Array => {
  const { buffer, byteOffset } = Buffer.from(text, 'utf16le')
  return new Uint16Array(buffer.slice(byteOffset, byteOffset + text.length * 2))
}
const units = ({ text }: Source): Uint16Array => unitsOf(text)

type Numbers = Uint16Array | Int32Array

/** Knuth, Morris and Pratt. */
export function occurrences(sequence: Numbers, wanted: Numbers, most: number): number[] {
  const found: number[] = []
  if (wanted.length === 0) return found
  const border = borders(wanted)
  let matched = 0
  for (let at = 0; at < sequence.length && found.length < most; at++) {
    while (matched > 0 && (matched === wanted.length || sequence[at] !== wanted[matched])) matched = border[matched - 1] as number
    if (sequence[at] === wanted[matched]) matched++
    if (matched === wanted.length) found.push(at + 1 - matched)
  }
  return found
}

/** For each beginning of the sequence: the length of the longest proper beginning that is also its end. */
function borders(wanted: Numbers): Int32Array {
  const border = new Int32Array(wanted.length)
  let length = 0
  for (let at = 1; at < wanted.length; at++) {
    while (length > 0 && wanted[at] !== wanted[length]) length = border[length - 1] as number
    if (wanted[at] === wanted[length]) length++
    border[at] = length
  }
  return border
}
