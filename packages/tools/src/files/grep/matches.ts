/** What ripgrep prints with `--json`, gathered by file. Pure. */
import { printable } from '../../workspace/paths.ts'

type Text = { readonly text: string } | { readonly bytes: string }

interface Submatch {
  readonly start: number
  readonly end: number
}

interface RgEvent {
  readonly type: 'begin' | 'match' | 'context' | 'end' | 'summary'
  readonly data: {
    readonly path?: Text
    readonly lines?: Text
    readonly line_number?: number | null
    readonly absolute_offset?: number
    readonly submatches?: readonly Submatch[]
  }
}

export interface FoundLine {
  readonly line: number
  readonly text: string
  /** Absent for a line of context. From 1, in characters. */
  readonly column?: number
}

export interface FoundInFile {
  readonly path: string
  readonly lines: FoundLine[]
}

/** Where ripgrep saw a line: bytes of the text in UTF-8, and of the line the bytes of its first match. */
export interface Place {
  readonly offset: number
  readonly bytes: number
  readonly match: Submatch | undefined
}

export interface HeldLine extends FoundLine {
  readonly place: Place
}

export interface HeldInFile {
  readonly path: string
  readonly lines: HeldLine[]
}

export interface Gathered {
  readonly files: readonly HeldInFile[]
  /** Matching lines, held or not. */
  readonly total: number
  /** Some were only counted. */
  readonly overflow: boolean
}

export interface Gatherer {
  readonly add: (record: string) => void
  readonly result: () => Gathered
}

export interface GatherOptions {
  /** The path as the model sees it. */
  readonly name: (printed: string) => string
  /** Files to take. */
  readonly keep: (path: string) => boolean
  /** Matching lines to hold. */
  readonly most: number
  /** Characters to show of a line. */
  readonly chars: number
}

export function gather({ name, keep, most, chars }: GatherOptions): Gatherer {
  const files = new Map<string, HeldInFile | undefined>()
  let total = 0
  return {
    add(record) {
      if (record === '') return
      const event = JSON.parse(record) as RgEvent
      const { path, lines, line_number: line, absolute_offset: offset = 0, submatches } = event.data
      if ((event.type !== 'match' && event.type !== 'context') || !path || !lines) return
      const printed = plain(path)
      let file = files.get(printed)
      if (!file && !files.has(printed)) {
        const shown = name(printed)
        file = keep(shown) ? { path: shown, lines: [] } : undefined
        files.set(printed, file)
      }
      if (!file) return
      if (event.type === 'match') total++
      if (total > most) return
      const [first] = event.type === 'match' ? (submatches ?? []) : []
      const match = first && { start: first.start, end: first.end }
      const place = { offset, bytes: bytesIn(lines), match }
      file.lines.push({ line: line ?? 0, ...shownLine(plain(lines), place, chars), place })
    },
    result: () => ({
      files: [...files.values()]
        .filter((file): file is HeldInFile => file !== undefined && file.lines.length > 0)
        .sort((a, b) => (a.path < b.path ? -1 : 1)),
      total,
      overflow: total > most,
    }),
  }
}

const plain = (text: Text): string => ('text' in text ? text.text : Buffer.from(text.bytes, 'base64').toString('utf8'))
const bytesIn = (text: Text): number => ('text' in text ? Buffer.byteLength(text.text) : Buffer.byteLength(text.bytes, 'base64'))

/** A line as it is shown, with the column where something matched. */
export function shownLine(line: string, { match }: Pick<Place, 'match'>, chars: number): Pick<FoundLine, 'text' | 'column'> {
  const text = line.replace(/\r?\n$/, '')
  if (!match) return { text: around(text, 0, 0, chars) }
  const start = charsOf(text, match.start)
  const end = Math.max(start, charsOf(text, match.end))
  return { text: around(text, start, end, chars), column: start + 1 }
}

/** ripgrep counts bytes. */
function charsOf(text: string, bytes: number): number {
  if (bytes > 3 * text.length) return text.length
  return /^[\0-\x7f]*$/.test(text.slice(0, bytes))
    ? Math.min(bytes, text.length)
    : Buffer.from(text).subarray(0, bytes).toString('utf8').length
}

/** At most `chars` characters of a line, with the match in them. */
export function around(text: string, start: number, end: number, chars: number): string {
  if (text.length <= chars) return text
  const spare = Math.max(0, chars - (end - start))
  const from = Math.max(0, Math.min(start - Math.floor(spare / 3), text.length - chars))
  const piece = text.slice(from, from + chars)
  return `${from > 0 ? '…' : ''}${piece}${from + chars < text.length ? `… [${text.length} characters]` : ''}`
}

/** The matches of one page, each with the context around it. */
export function pageOfMatches(files: readonly HeldInFile[], page: number, limit: number, context: number): HeldInFile[] {
  const first = (page - 1) * limit
  const result: HeldInFile[] = []
  let index = 0
  for (const file of files) {
    const taken = file.lines.filter((line) => line.column !== undefined && index++ >= first && index <= first + limit)
    if (taken.length > 0) {
      const near = (line: HeldLine) => taken.some((match) => Math.abs(match.line - line.line) <= context)
      const lines = context === 0 ? taken : file.lines.filter((line) => taken.includes(line) || (line.column === undefined && near(line)))
      result.push({ path: file.path, lines })
    }
    if (index >= first + limit) break
  }
  return result
}

/** Files as headings, `12:` before a match and `12-` before context. */
export const rendered = (files: readonly FoundInFile[]): string =>
  files
    .map(({ path, lines }) => {
      const shown = lines.map(({ line, text, column }) => `${line}${column === undefined ? '-' : ':'} ${text}`)
      return `${printable(path)}\n${shown.join('\n')}`
    })
    .join('\n\n')
