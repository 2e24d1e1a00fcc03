/** Text from models, tools and files, made fit for a terminal: nothing in it may move the cursor, recolour, retitle or hide. */

/** CSI, OSC and the other string sequences, then any two-character escape. A string sequence ends at its terminator or its line. */
const SEQUENCES =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]/g
/** C0 but for tab and newline, DEL, C1, and the marks that reorder what is read. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g

/** What is not seen, or seen as another character: controls, marks of direction and of tags, fillers, other blanks than a space. */
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2800\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu

/** Without escape sequences and control characters; tabs and newlines stay. */
export function sanitize(text: string): string {
  return text.replace(SEQUENCES, '').replace(CONTROLS, '')
}

/** The same on one line, and no longer than `most` characters. */
export function oneLine(text: string, most = 200): string {
  const flat = sanitize(text).replace(/\s+/g, ' ').trim()
  return flat.length <= most ? flat : `${flat.slice(0, most - 1)}…`
}

/** The same characters made visible instead of left out, where a person decides about exactly this text. */
export const visible = (text: string): string =>
  text.replace(UNSEEN, (char) => (char.length === 1 ? escaped(char) : `\\u{${char.codePointAt(0)?.toString(16)}}`))

const MAX_BLANKS = 8

/** Long runs of blanks by their number: what is behind them would be out of sight. Those that indent a line stay. */
export const blanksCounted = (text: string): string =>
  text.replace(/(?<=[^\n\t ])[\t ]+/g, (blanks) => (blanks.length > MAX_BLANKS ? ` [${blanks.length} blanks] ` : blanks))

const escaped = (chars: string): string =>
  Array.from({ length: chars.length }, (_, at) => `\\u${chars.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** An unfinished sequence at the end of a piece of a stream; a long one is none. */
const UNFINISHED =
  /(?:\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c\n]*\x1b?|[ -/]*)?|\x9b[0-?]*[ -/]*|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c\n]*\x1b?)$/
const MAX_UNFINISHED = 1000

export interface StreamSanitizer {
  readonly push: (piece: string) => string
  /** What was held back, at the end of the text. */
  readonly end: () => string
}

/** {@link sanitize} for a text that comes in pieces: a sequence may be cut anywhere. */
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

/** JSON that is safe in a terminal too, and the same value: what JSON leaves as it is, is escaped. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(UNSEEN, escaped)
}
