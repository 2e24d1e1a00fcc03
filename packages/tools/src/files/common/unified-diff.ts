import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff'

const CONTEXT = 3
/** Past this many changed lines the search for the smallest diff is not worth its time. */
const MAX_CHANGED_LINES = 2000

export interface Diff {
  /** Unified, three lines of context; without hunks where the change is too large to be shown. */
  readonly text: string
  readonly added: number
  readonly removed: number
}

export function unifiedDiff(path: string, before: string, after: string, created = false): Diff {
  const from = created ? '/dev/null' : path
  const patch = structuredPatch(from, path, before, after, undefined, undefined, {
    context: CONTEXT,
    maxEditLength: MAX_CHANGED_LINES,
  })
  if (!patch) {
    const [removed, added] = [lines(before), lines(after)]
    return { text: `--- ${from}\n+++ ${path}\n(too many changes to show: ${removed} lines replaced by ${added})\n`, added, removed }
  }
  let added = 0
  let removed = 0
  for (const hunk of patch.hunks)
    for (const line of hunk.lines)
      if (line.startsWith('+')) added++
      else if (line.startsWith('-')) removed++
  return { text: formatPatch(patch, FILE_HEADERS_ONLY), added, removed }
}

const lines = (text: string): number => (text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0))

/** A fence longer than any run of backticks inside, so that the text can't end it. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.endsWith('\n') ? text : `${text}\n`}${fence}`
}
