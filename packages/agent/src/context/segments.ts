/** Splits text into meaningful pieces: lines, sentences of a long line, members of one-line JSON. */

/** Maximum characters of a piece that is not split. */
const MAX_PIECE = 240
/** Sentence ends, and boundaries between JSON members. */
const SENTENCES = /(?<=[.!?;]["')\]]?)\s+|(?<=[。！？；])/
const MEMBERS = /(?<=[}\]],)\s*|(?<=,)\s*(?=["{])/

/** Returns the pieces in order, except those with neither letters nor digits. */
export function segmentsOf(text: string, most = Number.POSITIVE_INFINITY): readonly string[] {
  const found: string[] = []
  for (const line of text.split(/[\r\n]+/)) {
    if (found.length >= most) break
    for (const piece of pieces(line.trim())) if (/[\p{L}\p{N}]/u.test(piece)) found.push(copyOf(piece))
  }
  return found
}

function pieces(line: string): readonly string[] {
  if (line.length <= MAX_PIECE) return [line]
  for (const boundary of [SENTENCES, MEMBERS]) {
    const parts = line.split(boundary).map((part) => part.trim())
    if (parts.length > 1) return parts.flatMap(pieces)
  }
  return chunks(line)
}

/** Groups words into pieces. Longer words (base64, minified code) are left out, since they can be read again. */
function chunks(line: string): readonly string[] {
  const found: string[] = []
  let chunk = ''
  for (const word of line.split(/\s+/)) {
    if (word.length > MAX_PIECE) continue
    if (chunk !== '' && chunk.length + word.length >= MAX_PIECE) {
      found.push(chunk)
      chunk = ''
    }
    chunk = chunk === '' ? word : `${chunk} ${word}`
  }
  return chunk === '' ? found : [...found, chunk]
}

/** Copies a string: a substring would keep the whole text in memory. */
export const copyOf = (text: string): string => ` ${text}`.slice(1)
