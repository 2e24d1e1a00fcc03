/**
 * Estimates the tokens of a text, erring on the high side. Counts by kinds of characters, since digits, base64 or Chinese need three
 * times as many tokens as prose of the same length. Fitted to o200k_base; for other models it is calibrated with their server's
 * counts.
 */

/** Pieces that a tokenizer does not merge: a word in one case, up to three digits, punctuation, white space. */
const PIECES = / ?\p{Lu}?\p{Ll}+| ?\p{Lu}+|\p{Nd}{1,3}|\p{L}\p{M}*| ?[!-/:-@[-`{-~]+|\s+|./gsu

const CR = 13
const SPACE = 32
const IDEOGRAPHS = 0x2e80
const HANGUL = 0xac00
const ASTRAL = 0x10000

/** No estimate is above this many tokens per UTF-16 code unit: those of an emoji are two units. */
export const MOST_PER_CHARACTER = 1.25

/** Estimates the tokens of a text. Hardly ever below a tokenizer's count; up to a third higher for prose and code. */
export function estimateText(text: string): number {
  let tokens = 0
  // In a run of letters and digits: many changes in few characters indicate an id, a hash or base64.
  let characters = 0
  let changes = 0
  let from = 0
  PIECES.lastIndex = 0
  // Every character belongs to a piece. `matchAll` would allocate an array for each, which would cost more than everything else in a long
  // session.
  while (PIECES.test(text)) {
    const start = from
    from = PIECES.lastIndex
    const length = from - start
    const spaced = text.charCodeAt(start) === SPACE
    const code = text.codePointAt(length > 1 && spaced ? start + 1 : start) as number
    if (isLetter(code) || isDigit(code)) {
      if (spaced) characters = changes = 0
      characters += length
      changes++
      tokens += isDigit(code) ? 1 : wordCost(text.slice(start, from), changes > 2 && characters < changes * 3)
      continue
    }
    characters = changes = 0
    const piece = text.slice(start, from)
    tokens += code <= SPACE ? breakCost(piece) : code < 127 ? signsCost(piece) : otherCost(piece, code)
  }
  return Math.ceil(tokens)
}

const isLetter = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Returns the tokens of a word: a dictionary word is one token, an unpronounceable one has a token per two letters. */
function wordCost(piece: string, random: boolean): number {
  const length = piece.charCodeAt(0) === SPACE ? piece.length - 1 : piece.length
  if (length === 1) return 1
  if (random || !isPronounceable(piece)) return Math.max(1.1, length * 0.63)
  return length <= 7 ? 1 : length * 0.2
}

const UNPRONOUNCEABLE = /[bcdfghjklmnpqrstvwxz]{4}|^ ?[bcdfghjklmnpqrstvwxz]+$|[jqvwxz][bcdfghjklmnpqtvwxz]|[jqxz]$/i
/** Cache for recent words: those of JSON and of the topic recur often. */
const pronounceable = new Map<string, boolean>()
const MAX_KNOWN = 2000
/** Longer pieces are not cached, since each would keep its whole source text in memory. */
const MAX_WORD = 12

function isPronounceable(piece: string): boolean {
  const known = pronounceable.get(piece)
  if (known !== undefined) return known
  const is = !UNPRONOUNCEABLE.test(piece)
  if (pronounceable.size >= MAX_KNOWN) pronounceable.clear()
  if (piece.length <= MAX_WORD) pronounceable.set(piece, is)
  return is
}

function breakCost(piece: string): number {
  const indented = piece.length > 1 && piece.charCodeAt(piece.length - 1) === SPACE
  return indented && piece.charCodeAt(0) <= CR ? 2 : 1 + (piece.length >> 5)
}

/** Separators of JSON members, including escaped ones: common runs are one token. */
const GLUE = /^ ?[\\":,{}[\]]+$/

function signsCost(piece: string): number {
  const { length } = piece
  if (length <= 2) return 1
  if (GLUE.test(piece)) return length <= 5 ? length * 0.4 : length * 0.58
  // A line of one repeated character is cheap.
  const same = piece.charCodeAt(1) === piece.charCodeAt(length - 1) && piece.charCodeAt(1) === piece.charCodeAt(length >> 1)
  return same ? 1.5 + length / 8 : length * 0.68
}

function otherCost(piece: string, code: number): number {
  if (code >= ASTRAL) return 2.5
  if (code >= HANGUL) return 0.8
  if (code >= IDEOGRAPHS) return 1
  // Words of other alphabets, by number of letters. Scripts without case arrive letter by letter.
  if (piece.length === 1) return /\p{Lo}/u.test(piece) ? 0.45 : 1
  return Math.max(1, piece.length * 0.3)
}
