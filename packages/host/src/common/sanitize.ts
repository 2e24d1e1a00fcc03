/**
 * Makes text from models, tools and files safe for a terminal: it cannot move the cursor, change colours or the title, or hide anything.
 */

/**
 * CSI, OSC and the other string sequences, then any two-character escape. A string sequence ends at its terminator or at the end of the
 * line.
 */
const SEQUENCES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]/g
/** C0 except tab and newline, DEL, C1, and the marks that reorder displayed text. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g

/** Characters that are invisible or look like another one: controls, direction marks and tags, fillers, and blanks other than a space. */
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2800\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu

/** Removes escape sequences and control characters; keeps tabs and newlines. */
export function sanitize(text: string): string {
  return text.replace(SEQUENCES, '').replace(CONTROLS, '')
}

/** Sanitizes text onto one line of at most `most` characters. */
export function oneLine(text: string, most = 200): string {
  const flat = sanitize(text).replace(/\s+/g, ' ').trim()
  return flat.length <= most ? flat : `${flat.slice(0, most - 1)}…`
}

/** Makes such characters visible instead of removing them, where the user decides about exactly this text. */
export const visible = (text: string): string =>
  text.replace(UNSEEN, (char) => (char.length === 1 ? escaped(char) : `\\u{${char.codePointAt(0)?.toString(16)}}`))

const MAX_BLANKS = 8

/** Replaces long runs of blanks by their length, because text after them would be out of sight. Keeps indentation. */
export const blanksCounted = (text: string): string =>
  text.replace(/(?<=[^\n\t ])[\t ]+/g, (blanks) => (blanks.length > MAX_BLANKS ? ` [${blanks.length} blanks] ` : blanks))

const escaped = (chars: string): string =>
  Array.from({ length: chars.length }, (_, at) => `\\u${chars.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** An unfinished sequence at the end of a chunk of a stream. A long one does not count as a sequence. */
const UNFINISHED =
  /(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c\n]*\x1b?|[ -/]*)?|\x9b[0-?]*[ -/]*|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c\n]*\x1b?)$/
const MAX_UNFINISHED = 1000

export interface StreamSanitizer {
  readonly push: (piece: string) => string
  /** Returns the text held back so far. Call it at the end of the stream. */
  readonly end: () => string
}

/** {@link sanitize} for text that arrives in chunks: a sequence may be cut anywhere. */
export function streamSanitizer(): StreamSanitizer {
  let held = ''
  return {
    push: (piece) => {
      const text = held + piece
      const cut = text.search(UNFINISHED)
      const waits = cut !== -1 && text.length - cut <= MAX_UNFINISHED
      held = waits ? text.slice(cut) : ''
      return sanitize(waits ? text.slice(0, cut) : text)
    },
    end: () => {
      const rest = held
      held = ''
      return sanitize(rest)
    },
  }
}

/** Formats JSON that is safe in a terminal and parses to the same value: escapes the characters that JSON leaves unescaped. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNSEEN, escaped)
}
