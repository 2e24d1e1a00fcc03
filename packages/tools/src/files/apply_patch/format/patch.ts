/** A patch as data, whatever notation it came in. Line numbers are those of the patch as it was sent, from 1. */
import { ModelRetry } from '@mulligan/core'
import { cut } from '../../edit_file/closest.ts'

export interface HunkLine {
  readonly kind: 'keep' | 'remove' | 'add'
  readonly text: string
  readonly line: number
}

/** Filled while its lines are read. */
export interface Hunk {
  readonly line: number
  /** The texts after `@@`, outermost first: each is looked for after the one before it. */
  readonly contexts: string[]
  /** Where a unified diff says that the old lines begin, from 0. */
  at?: number
  readonly lines: HunkLine[]
  /** The old lines are the last ones of the file. */
  endOfFile: boolean
  /** `\ No newline at end of file`, said of the new text. */
  bare: boolean
}

export interface Section {
  /** Added files have one hunk, of added lines. Deleted ones have hunks where a unified diff says what the file holds. */
  readonly kind: 'add' | 'delete' | 'update'
  readonly line: number
  readonly path: string
  to?: { readonly path: string; readonly line: number }
  readonly hunks: Hunk[]
  /** Only what the hunks say: a last line without a newline stays so. */
  readonly literal: boolean
}

export interface Patch {
  readonly sections: readonly Section[]
  /** Repairs made while parsing. */
  readonly notes: readonly string[]
}

/** A line of the patch, and its number. */
export interface Line {
  readonly text: string
  readonly number: number
}

export const oldLines = (hunk: Hunk): readonly HunkLine[] => hunk.lines.filter(({ kind }) => kind !== 'add')
export const newLines = (hunk: Hunk): readonly HunkLine[] => hunk.lines.filter(({ kind }) => kind !== 'remove')

export const openHunk = (line: number): Hunk => ({ line, contexts: [], lines: [], endOfFile: false, bare: false })

const KINDS: Readonly<Record<string, HunkLine['kind']>> = { ' ': 'keep', '-': 'remove', '+': 'add' }

/** Takes a line of a hunk; false for any other line. A blank line is an empty line of context. */
export function takeLine(hunk: Hunk, { text, number }: Line): boolean {
  const kind = text === '' ? 'keep' : KINDS[text[0] as string]
  if (kind) hunk.lines.push({ kind, text: text.slice(1), line: number })
  else if (/^\\ ?no newline/i.test(text)) hunk.bare = hunk.lines.at(-1)?.kind !== 'remove'
  else return false
  return true
}

/** `@@ -12,7 +12,8 @@`, as unified diffs have it. */
export const RANGES = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** The place, from 0, that a header with ranges names: of no old lines, it is after the line of that number. */
export function placeIn(ranges: RegExpExecArray): number {
  const start = Number(ranges[1])
  return ranges[2] === '0' ? start : Math.max(0, start - 1)
}

/** @param header of the section */
export function refuseEmptyHunk({ hunks, path }: Section, header: Line, constraint: string): void {
  const empty = hunks.find((hunk) => hunk.lines.length === 0)
  if (empty) throw mistake({ ...header, number: empty.line }, `the hunk of "${path}" that begins here has no lines.`, constraint)
}

/** Refuses a part of the patch, with how it is written. */
export const mistake = ({ text, number }: Line, says: string, constraint: string, more: Record<string, unknown> = {}): ModelRetry =>
  new ModelRetry(`Line ${number} of the patch: ${says} Nothing was written.`, {
    parameter: 'patch',
    value: cut(text),
    constraint,
    line: number,
    ...more,
  })
