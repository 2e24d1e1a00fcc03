/** Shows text of models, tools and files as it is: characters that would be invisible or reorder the text become visible. Pure. */

/** C0 except tab and newline, DEL, C1, and the marks that reorder displayed text. A carriage return before a newline is left out. */
const HIDDEN = /\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

export const safeText = (text: string): string => text.replace(HIDDEN, shown)

function shown(char: string): string {
  if (char === '\r\n') return '\n'
  const code = char.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '␡' : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
}

/** One line of at most `most` characters, for labels. */
export function oneLine(text: string, most = 160): string {
  const flat = safeText(text.slice(0, most * 4))
    .replace(/\s+/g, ' ')
    .trim()
  return flat.length <= most && text.length <= most * 4 ? flat : `${flat.slice(0, most - 1)}…`
}

export const size = (characters: number): string =>
  characters < 1000
    ? `${characters} characters`
    : characters < 1e6
      ? `${Math.round(characters / 1000)} k characters`
      : `${(characters / 1e6).toFixed(1)} M characters`

/** The text of an error as a sentence: those of the API begin small and have no full stop. */
export const sentence = (text: string): string => (text[0]?.toUpperCase() ?? '') + text.slice(1).replace(/[^.!?…:)"]$/, '$&.')

export interface Piece {
  readonly at: number
  readonly piece: string
  readonly isFound: boolean
}

/** Cuts a text at the words that were searched. @param words lower case */
export function pieces(text: string, words: readonly string[]): readonly Piece[] {
  if (words.length === 0) return [{ at: 0, piece: text, isFound: false }]
  const any = new RegExp(`(${words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, '\\$&')).join('|')})`, 'i')
  let at = 0
  return text.split(any).map((piece, n) => {
    const found = { at, piece, isFound: n % 2 === 1 }
    at += piece.length
    return found
  })
}
