/**
 * Collects the `--json` output of ripgrep by file. Pure. Records are parsed only when their page is shown: of a hundred thousand matches, a
 * page shows a hundred.
 */
import { printable } from '../../workspace/paths.ts'

type Text = { readonly text: string } | { readonly bytes: string }

interface RgRecord {
  readonly type: 'match' | 'context'
  readonly data: {
    readonly path: Text
    readonly lines: Text
    readonly line_number?: number | null
    readonly absolute_offset?: number
    readonly submatches?: readonly { readonly start: number; readonly end: number }[]
  }
}

/** Prefixes, up to the path, of the records that are used. */
const MATCH = '{"type":"match","data":{'
const CONTEXT = '{"type":"context","data":{'
/** Longer records are not kept unparsed: in a minified file one may have many megabytes. */
const MAX_HELD_CHARS = 4096

export interface FoundLine {
  readonly line: number
  readonly text: string
  /** From 1, in characters; absent for a context line. */
  readonly column?: number
}

export interface FoundInFile {
  readonly path: string
  readonly lines: FoundLine[]
}

/** Where ripgrep found a line, in bytes of the UTF-8 text, and its first match, in bytes of the line. */
export interface MatchPosition {
  readonly offset: number
  readonly bytes: number
  readonly match: { readonly start: number; readonly end: number } | undefined
}

export interface HeldInFile {
  readonly path: string
  readonly lines: readonly (FoundLine & { readonly place: MatchPosition })[]
}

/** A raw record, or a line already converted for display. */
type Found = string | HeldInFile['lines'][number]

interface RecordsOfFile {
  readonly path: string
  readonly records: Found[]
}

export interface GatherOptions {
  /** Converts a printed path to the form that the model sees. */
  readonly name: (printed: string) => string
  /** Selects the files to include. */
  readonly keep: (path: string) => boolean
  /** Matching lines to keep; others are only counted. */
  readonly most: number
  /** Maximum characters shown of a line. */
  readonly chars: number
}

export function gather({ name, keep, most, chars }: GatherOptions) {
  const files = new Map<string, RecordsOfFile | undefined>()
  let total = 0
  // Path of the last record, as written in it. The lines of a file follow one another.
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
    add(record: string): void {
      const begin = record.startsWith(MATCH) ? MATCH : record.startsWith(CONTEXT) ? CONTEXT : undefined
      if (!begin) return
      if (!record.startsWith(path, begin.length)) {
        path = record.slice(begin.length, record.indexOf(',"lines":{'))
        file = fileOf(plain((JSON.parse(`{${path}}`) as RgRecord['data']).path))
      }
      if (!file) return
      if (begin === MATCH) total++
      if (total <= most) file.records.push(record.length > MAX_HELD_CHARS ? held(record, chars) : record)
    },
    /** Returns the files with their kept lines, and the number of matching lines, kept or not. */
    result: () => ({
      files: [...files.values()]
        .filter((one) => one !== undefined)
        .filter(({ records }) => records.length > 0)
        .sort((a, b) => (a.path < b.path ? -1 : 1)),
      total,
    }),
  }
}

const isMatch = (record: Found): boolean => (typeof record === 'string' ? record.startsWith(MATCH) : record.column !== undefined)

function held(record: Found, chars: number): HeldInFile['lines'][number] {
  if (typeof record !== 'string') return record
  const { type, data } = JSON.parse(record) as RgRecord
  const { start, end } = data.submatches?.[0] ?? { start: 0, end: 0 }
  const match = type === 'match' ? { start, end } : undefined
  const place = { offset: data.absolute_offset ?? 0, bytes: bytesIn(data.lines), match }
  return { line: data.line_number ?? 0, ...shownLine(plain(data.lines), place, chars), place }
}

const plain = (text: Text): string => ('text' in text ? text.text : Buffer.from(text.bytes, 'base64').toString('utf8'))
const bytesIn = (text: Text): number => ('text' in text ? Buffer.byteLength(text.text) : Buffer.byteLength(text.bytes, 'base64'))

/** Returns a line for display, with the column of the match. */
export function shownLine(line: string, { match }: Pick<MatchPosition, 'match'>, chars: number): Pick<FoundLine, 'text' | 'column'> {
  const text = line.replace(/\r?\n$/, '')
  if (!match) return { text: around(text, 0, 0, chars) }
  const start = charsOf(text, match.start)
  const end = Math.max(start, charsOf(text, match.end))
  return { text: around(text, start, end, chars), column: start + 1 }
}

/** Converts ripgrep's byte count to characters. */
function charsOf(text: string, bytes: number): number {
  if (bytes > 3 * text.length) return text.length
  return /^[\0-\x7f]*$/.test(text.slice(0, bytes))
    ? Math.min(bytes, text.length)
    : Buffer.from(text).subarray(0, bytes).toString('utf8').length
}

/** Shortens a line to `chars` characters around the match. */
export function around(text: string, start: number, end: number, chars: number): string {
  if (text.length <= chars) return text
  const spare = Math.max(0, chars - (end - start))
  const from = Math.max(0, Math.min(start - Math.floor(spare / 3), text.length - chars))
  const piece = text.slice(from, from + chars)
  return `${from > 0 ? '…' : ''}${piece}${from + chars < text.length ? `… [${text.length} characters]` : ''}`
}

/**
 * Returns the matches of one page with their context.
 *
 * @param call `limit` matches on a page, `context` lines around each
 * @param chars maximum characters shown of a line
 */
export function pageOfMatches(
  files: readonly RecordsOfFile[],
  { page, limit, context }: { readonly page: number; readonly limit: number; readonly context: number },
  chars: number,
): HeldInFile[] {
  const first = (page - 1) * limit
  const result: HeldInFile[] = []
  let index = 0
  for (const { path, records } of files) {
    const matches = records.flatMap((record, at) => (isMatch(record) ? [at] : []))
    const [from, to] = [Math.max(0, first - index), Math.min(matches.length, first + limit - index)]
    index += matches.length
    if (from < to) {
      // Includes the context on both sides, up to the matches of other pages.
      const near = records.slice(from === 0 ? 0 : (matches[from - 1] as number) + 1, matches[to]).map((record) => held(record, chars))
      const taken = near.filter(({ column }) => column !== undefined)
      const lines = near.filter(({ line, column }) => column !== undefined || taken.some((match) => Math.abs(match.line - line) <= context))
      result.push({ path, lines })
    }
    if (index >= first + limit) break
  }
  return result
}

/** Formats files as headings, with `12:` before a match and `12-` before context. */
export const rendered = (files: readonly FoundInFile[]): string =>
  files
    .map(({ path, lines }) => {
      const shown = lines.map(({ line, text, column }) => `${line}${column === undefined ? '-' : ':'} ${text}`)
      return `${printable(path)}\n${shown.join('\n')}`
    })
    .join('\n\n')
