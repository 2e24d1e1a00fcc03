import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff'

const CONTEXT = 3
/** With more changed lines than this, the search for the smallest diff is not worth its time. */
const MAX_CHANGED_LINES = 2000

export interface Diff {
  /** Unified diff with three lines of context; without hunks if the change is too large to show. */
  readonly text: string
  readonly added: number
  readonly removed: number
}

/** @returns undefined if more than `most` lines changed; an empty text if none did */
export function diffOf(from: string, to: string, before: string, after: string, most: number): Diff | undefined {
  const patch = structuredPatch(from, to, before, after, undefined, undefined, { context: CONTEXT, maxEditLength: most })
  if (!patch) return undefined
  const lines = patch.hunks.flatMap((hunk) => hunk.lines)
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length
  return { text: formatPatch(patch, FILE_HEADERS_ONLY), added: count('+'), removed: count('-') }
}

export function unifiedDiff(path: string, before: string, after: string, created = false): Diff {
  const from = created ? '/dev/null' : path
  const diff = diffOf(from, path, before, after, MAX_CHANGED_LINES)
  if (diff) return diff
  const [removed, added] = [linesIn(before), linesIn(after)]
  return { text: `--- ${from}\n+++ ${path}\n(too many changes to show: ${removed} lines replaced by ${added})\n`, added, removed }
}

/** Counts lines, including a last line without a newline. */
export const linesIn = (text: string): number => (text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0))

/** Fences a text with more backticks than any run inside it, so that the text can't end the fence. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.endsWith('\n') ? text : `${text}\n`}${fence}`
}
