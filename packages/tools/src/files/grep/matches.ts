/**
 * What ripgrep prints with `--json`, gathered by file. Pure. A record is parsed only when its page is shown: of a hundred thousand
 * matches that are found, a page shows a hundred.
 */
import { printable } from '../../workspace/paths.ts'

type Text = { readonly text: string } | { readonly bytes: string }

interface Submatch {
  readonly start: number
  readonly end: number
}

interface RgEvent {
  readonly type: 'match' | 'context'
  readonly data: {
    readonly path: Text
    readonly lines: Text
    readonly line_number?: number | null
    readonly absolute_offset?: number
    readonly submatches?: readonly Submatch[]
  }
}

/** How the records begin that are taken, up to the path. */
const MATCH = '{"type":"match","data":{'
const CONTEXT = '{"type":"context","data":{'
/** Longer records are not held as they came: of a minified file, one may have many megabytes. */
const MAX_HELD_CHARS = 4096

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
export interface MatchPosition {
  readonly offset: number
  readonly bytes: number
  readonly match: Submatch | undefined
}

export interface HeldLine extends FoundLine {
  readonly place: MatchPosition
}

export interface HeldInFile {
  readonly path: string
  readonly lines: readonly HeldLine[]
}

/** A line as it came, or already as it is shown. */
type Found = string | HeldLine

interface RecordsOfFile {
  readonly path: string
  readonly records: Found[]
}

export interface Gathered {
  readonly files: readonly RecordsOfFile[]
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
  const files = new Map<string, RecordsOfFile | undefined>()
  let total = 0
  // Of the last record, as it is written in it: the lines of a file come one after the other.
  let path = 'none'
  let file: RecordsOfFile | undefined
  const fileOf = (printed: string): RecordsOfFile | undefined => {
    if (!files.has(printed)) {
      const shown = name(printed)
      files.set(printed, keep(shown) ? { path: shown, records: [] } : undefined)
    }
    return files.get(printed)
  }
  return {
    add(record) {
      const begin = record.startsWith(MATCH) ? MATCH : record.startsWith(CONTEXT) ? CONTEXT : undefined
      if (!begin) return
      if (!record.startsWith(path, begin.length)) {
        path = record.slice(begin.length, record.indexOf(',"lines":{'))
        file = fileOf(plain((JSON.parse(`{${path}}`) as RgEvent['data']).path))
      }
      if (!file) return
      if (begin === MATCH) total++
      if (total > most) return
      file.records.push(record.length > MAX_HELD_CHARS ? held(record, chars) : record)
    },
    result: () => ({
      files: [...files.values()]
        .filter((one): one is RecordsOfFile => one !== undefined && one.records.length > 0)
        .sort((a, b) => (a.path < b.path ? -1 : 1)),
      total,
      overflow: total > most,
    }),
  }
}

const isMatch = (record: Found): boolean => (typeof record === 'string' ? record.startsWith(MATCH) : record.column !== undefined)

function held(record: Found, chars: number): HeldLine {
  if (typeof record !== 'string') return record
  const { type, data } = JSON.parse(record) as RgEvent
  const { start, end } = data.submatches?.[0] ?? { start: 0, end: 0 }
  const match = type === 'match' ? { start, end } : undefined
  const place = { offset: data.absolute_offset ?? 0, bytes: bytesIn(data.lines), match }
  return { line: data.line_number ?? 0, ...shownLine(plain(data.lines), place, chars), place }
}

const plain = (text: Text): string => ('text' in text ? text.text : Buffer.from(text.bytes, 'base64').toString('utf8'))
const bytesIn = (text: Text): number => ('text' in text ? Buffer.byteLength(text.text) : Buffer.byteLength(text.bytes, 'base64'))

/** A line as it is shown, with the column where something matched. */
export function shownLine(line: string, { match }: Pick<MatchPosition, 'match'>, chars: number): Pick<FoundLine, 'text' | 'column'> {
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

export interface PageOptions {
  readonly page: number
  /** Matches on a page. */
  readonly limit: number
  /** Lines around each. */
  readonly context: number
  /** Characters to show of a line. */
  readonly chars: number
}

/** The matches of one page, each with the context around it. */
export function pageOfMatches(files: readonly RecordsOfFile[], { page, limit, context, chars }: PageOptions): HeldInFile[] {
  const first = (page - 1) * limit
  const result: HeldInFile[] = []
  let index = 0
  for (const { path, records } of files) {
    const matches = records.flatMap((record, at) => (isMatch(record) ? [at] : []))
    const [from, to] = [Math.max(0, first - index), Math.min(matches.length, first + limit - index)]
    index += matches.length
    if (from < to) {
      // With the context on both sides, up to the matches of other pages.
      const near = records.slice(from === 0 ? 0 : (matches[from - 1] as number) + 1, matches[to]).map((record) => held(record, chars))
      const taken = near.filter(({ column }) => column !== undefined)
      const lines = near.filter(({ line, column }) => column !== undefined || taken.some((match) => Math.abs(match.line - line) <= context))
      result.push({ path, lines })
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
