/** The data structure of a patch, the same for every notation. Line numbers refer to the patch as it was sent and start at 1. */
import { ModelRetry } from '@mulligan/core'
import { about } from '../../../workspace/errors.ts'
import { cut } from '../../edit_file/closest.ts'

export interface HunkLine {
  readonly kind: 'keep' | 'remove' | 'add'
  readonly text: string
  readonly line: number
}

/** Filled while the lines of the hunk are read. */
export interface Hunk {
  readonly line: number
  /** The texts after `@@`, outermost first. Each one is searched for below the previous one. */
  readonly contexts: string[]
  /** Line at which the old lines begin according to a unified diff, from 0. */
  at?: number
  readonly lines: HunkLine[]
  /** Whether the old lines are the last lines of the file. */
  endOfFile: boolean
  /** Whether `\ No newline at end of file` applies to the new text. */
  bare: boolean
}

export interface Section {
  /** Added files have one hunk of added lines. Deleted files have hunks if a unified diff lists their content. */
  readonly kind: 'add' | 'delete' | 'update'
  readonly line: number
  readonly path: string
  to?: { readonly path: string; readonly line: number }
  readonly hunks: Hunk[]
  /** Whether to apply the hunks literally: a last line without a newline stays without one. */
  readonly literal: boolean
}

export interface Patch {
  readonly sections: readonly Section[]
  /** Repairs made while parsing. */
  readonly notes: readonly string[]
}

/** A line of the patch with its number. */
export interface Line {
  readonly text: string
  readonly number: number
}

export const textsBut = (left: HunkLine['kind'], lines: readonly HunkLine[]): string[] =>
  lines.flatMap(({ kind, text }) => (kind === left ? [] : [text]))

export const openHunk = (line: number): Hunk => ({ line, contexts: [], lines: [], endOfFile: false, bare: false })

const KINDS: Readonly<Record<string, HunkLine['kind']>> = { ' ': 'keep', '-': 'remove', '+': 'add' }

/**
 * Adds a line to a hunk. A blank line counts as an empty context line.
 * @throws ModelRetry for any other line
 */
export function takeLine(hunk: Hunk, line: Line): void {
  const { text, number } = line
  const kind = text === '' ? 'keep' : KINDS[text[0] as string]
  if (kind) hunk.lines.push({ kind, text: text.slice(1), line: number })
  else if (/^\\ ?no newline/i.test(text)) hunk.bare = hunk.lines.at(-1)?.kind !== 'remove'
  else throw notAHunkLine(line)
}

/** The `@@ -12,7 +12,8 @@` header of unified diffs. */
export const RANGES = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** Returns the position, from 0, that a header with ranges names. Without old lines, it is the position after the line of that number. */
export function placeIn(ranges: RegExpExecArray): number {
  const start = Number(ranges[1])
  return ranges[2] === '0' ? start : Math.max(0, start - 1)
}

/** @param header header line of the section */
export function refuseEmptyHunk({ hunks, path }: Section, header: Line, constraint: string): void {
  const empty = hunks.find((hunk) => hunk.lines.length === 0)
  if (empty) throw mistake({ ...header, number: empty.line }, `the hunk of "${path}" that begins here has no lines.`, constraint)
}

/** Returns the error for an invalid part of the patch, with the correct syntax. */
export const mistake = ({ text, number }: Line, says: string, constraint: string, more: Record<string, unknown> = {}): ModelRetry =>
  new ModelRetry(
    `Line ${number} of the patch: ${says} Nothing was written.`,
    about('patch', cut(text), constraint, { line: number, ...more }),
  )

const HEADERS = 'one of "*** Add File: path", "*** Delete File: path", "*** Update File: path", "*** End Patch"'
const MEANT: readonly (readonly [RegExp, string])[] = [
  [/^(?:create|new|write|insert|add)/i, 'Add'],
  [/^(?:remove|rm|unlink|drop|delete)/i, 'Delete'],
  [/^(?:modif|edit|change|patch|replace|update|rename|move)/i, 'Update'],
]
const EITHER = 'either notation alone, not both'
/** `12<tab>text` as `read_file` prints it, or `12| text` as other tools do. */
export const LINE_NUMBER = /^\s*\d+(?:\t|\s*[|│:→] ?)/

/** Returns the error for a line where a header was expected, with the header that was probably meant. */
export function unknownHeader(line: Line): ModelRetry {
  const { text } = line
  if (/^(?:diff --git|--- |\+\+\+ |index [0-9a-f]+\.\.)/.test(text.trim()))
    return mistake(line, 'a header of a unified diff between sections of "*** Begin Patch".', EITHER)
  const word = /^\s*\*\*\*\s*(.*)$/.exec(text)?.[1] ?? ''
  const action = MEANT.find(([pattern]) => pattern.test(word))?.[1]
  const path = /:\s*(\S.*?)\s*$/.exec(word)?.[1] ?? 'path'
  if (action) return mistake(line, `this is not a header. Did you mean "*** ${action} File: ${path}"?`, HEADERS)
  if (/^[-+ @]/.test(text)) return mistake(line, 'a hunk without a header above it.', `${HEADERS}, before its lines`)
  return mistake(line, 'this is not a header.', HEADERS)
}

/** Returns the error for a line in a hunk that begins with none of the three signs. */
function notAHunkLine(line: Line): ModelRetry {
  const asWritten = 'lines that begin with " " (stays), "-" (goes) or "+" (comes)'
  if (/^(?:diff --git|index [0-9a-f]+\.\.)/.test(line.text))
    return mistake(line, 'a header of a unified diff inside of "*** Update File: ".', EITHER)
  if (LINE_NUMBER.test(line.text)) return mistake(line, 'a line number instead of a sign.', `${asWritten}, without line numbers`)
  if (/^(?:<{7}|={7}|>{7})/.test(line.text))
    return mistake(line, 'a marker of search and replace.', `${asWritten}; or edit_file, which takes old and new text`)
  return mistake(line, 'a line of a hunk without a sign at its start.', asWritten)
}
