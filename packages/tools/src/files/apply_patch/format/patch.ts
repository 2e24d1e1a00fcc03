/** A patch as data, whatever notation it came in. Line numbers are those of the patch as it was sent, from 1. */

export interface HunkLine {
  readonly kind: 'keep' | 'remove' | 'add'
  readonly text: string
  readonly line: number
}

export interface Hunk {
  readonly line: number
  /** The texts after `@@`, outermost first: each is looked for after the one before it. */
  readonly contexts: readonly string[]
  /** Where a unified diff says that the old lines begin, from 0. */
  readonly at?: number
  readonly lines: readonly HunkLine[]
  /** The old lines are the last ones of the file. */
  readonly endOfFile: boolean
  /** `\ No newline at end of file`, said of the new text. */
  readonly bare: boolean
}

export type Section =
  | { readonly kind: 'add'; readonly line: number; readonly path: string; readonly lines: readonly HunkLine[]; readonly bare: boolean }
  /** `hunks`: what a unified diff says the file holds. */
  | { readonly kind: 'delete'; readonly line: number; readonly path: string; readonly hunks: readonly Hunk[] }
  | {
      readonly kind: 'update'
      readonly line: number
      readonly path: string
      readonly to?: { readonly path: string; readonly line: number }
      readonly hunks: readonly Hunk[]
      /** Only what the hunks say: a last line without a newline stays so. */
      readonly literal: boolean
    }

export interface Patch {
  readonly sections: readonly Section[]
  /** What was put right on the way. */
  readonly notes: readonly string[]
}

/** A line of the patch, and its number. */
export interface Line {
  readonly text: string
  readonly number: number
}

export const oldLines = (hunk: Hunk): readonly HunkLine[] => hunk.lines.filter(({ kind }) => kind !== 'add')
export const newLines = (hunk: Hunk): readonly HunkLine[] => hunk.lines.filter(({ kind }) => kind !== 'remove')

/** A hunk while its lines are read. */
export interface OpenHunk {
  readonly line: number
  readonly contexts: string[]
  at?: number
  readonly lines: HunkLine[]
  endOfFile: boolean
  bare: boolean
}

export const openHunk = (line: number): OpenHunk => ({ line, contexts: [], lines: [], endOfFile: false, bare: false })

const KINDS: Readonly<Record<string, HunkLine['kind']>> = { ' ': 'keep', '-': 'remove', '+': 'add' }

/** Takes a line of a hunk; false for one that is none. A wholly blank one is an empty line of context. */
export function takeLine(hunk: OpenHunk, { text, number }: Line): boolean {
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
