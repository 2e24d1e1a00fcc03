/** Splits text into meaningful pieces: lines, sentences of a long line, members of one-line JSON. */

/** Characters of a piece that is taken whole. */
const MAX_PIECE = 240
/** Ends of sentences, and the places between members of JSON. */
const SENTENCES = /(?<=[.!?;]["')\]]?)\s+|(?<=[。！？；])/
const MEMBERS = /(?<=[}\]],)\s*|(?<=,)\s*(?=["{])/

/** In their order, without what has neither letter nor digit. */
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

/** Words up to the size of a piece. What has no words that long (base64, minified code) can be read again, and is left out. */
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

/** A part of a text keeps all of it in memory; this is a text of its own. */
export const copyOf = (text: string): string => ` ${text}`.slice(1)
