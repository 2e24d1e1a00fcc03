/** Adapts a new text to a place that is written differently from the old text. Pure. */
import { diffArrays } from 'diff'
import { indentOf, type Lines, reindentation } from './reindentation.ts'

export interface FitOptions {
  /**
   * Combines a new line, indented like the file, with the old line and the line of the file that it replaces. Default: returns the new
   * line.
   */
  readonly changed?: (next: string, old: string, found: string) => string
  /** Whether the line of the file may be moved in place of the old one. Default: yes. */
  readonly moves?: (old: string, found: string) => boolean
  /** Whether a changed stretch is well defined. Default: yes. */
  readonly sound?: (stretch: Stretch, lines: Lines) => boolean
}

/**
 * Adapts the new text: lines that are also in the old text keep the bytes of the file, the others get its indentation.
 *
 * @returns undefined if it is unclear which line or which indentation is meant
 */
export function fit(found: string, oldText: string, newText: string, options: FitOptions = {}): string | undefined {
  const ends = oldText.endsWith('\n')
  const split = (text: string): string[] => (ends && text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
  const old = split(oldText)
  const theirs = found.split('\n')
  // The last line of a file may lack the line ending that the old text has.
  const whole = theirs.length > old.length
  const lines = fitLines({ found: whole ? theirs.slice(0, -1) : theirs, old, next: split(newText) }, options)
  return lines && lines.join('\n') + (whole && newText.endsWith('\n') ? '\n' : '')
}

function fitLines(given: Lines, { changed = (next) => next, moves = () => true, sound = () => true }: FitOptions): string[] | undefined {
  const { indent, ...lines } = reindentation(given)
  const { found, old, next } = lines
  const stands = standsFor(lines, moves)
  if (!stands) return undefined
  const result: string[] = []
  for (const stretch of align(old, next)) {
    if (!stretch.same && !sound(stretch, lines)) return undefined
    for (let at = 0; at < stretch.nextCount; at++) {
      const line = next[stretch.next + at] as string
      const theirs = found[stretch.old + at] as string
      if (stretch.same) result.push(theirs)
      else if (stands.has(line)) result.push(stands.get(line) as string)
      else if (line.trim() === '') result.push(line)
      else {
        const pair = stretch.oldCount === stretch.nextCount
        const ours = old[stretch.old + at] as string
        // A line that replaces another is indented as that one is in the file, also where the indentation is not uniform.
        const isAlike = pair && indentOf(line) === indentOf(ours)
        const indented = isAlike ? indentOf(theirs) + line.trimStart() : indent(line)
        if (indented === undefined) return undefined
        result.push(pair ? changed(indented, ours, theirs) : indented)
      }
    }
  }
  return result
}

/**
 * Maps lines of the old text to lines of the file, for lines that the edit moves. If an old line stands for several lines of the file with
 * different indentation, the new text must have the same number of them; otherwise it is unclear which one was removed.
 */
function standsFor({ found, old, next }: Lines, moves: (old: string, found: string) => boolean): Map<string, string> | undefined {
  const stands = new Map<string, string | undefined>()
  const depths = new Map<string, string>()
  const count = (lines: readonly string[], line: string): number => lines.filter((one) => one === line).length
  for (const [at, line] of old.entries()) {
    const theirs = found[at] as string
    if (line.trim() === '') continue
    const depth = depths.get(line) ?? indentOf(theirs)
    depths.set(line, depth)
    if (depth !== indentOf(theirs) && ![0, count(old, line)].includes(count(next, line))) return undefined
    stands.set(line, (stands.has(line) && stands.get(line) !== theirs) || !moves(line, theirs) ? undefined : theirs)
  }
  return new Map([...stands].filter((one): one is [string, string] => one[1] !== undefined))
}

/** A stretch of lines in the old text and in the new one. */
export interface Stretch {
  readonly same: boolean
  /** First line in each text, from 0. */
  readonly old: number
  readonly next: number
  readonly oldCount: number
  readonly nextCount: number
}

/** With more changed lines than this, the search for the smallest difference is not worth its time. */
const MAX_CHANGED_LINES = 1000

/**
 * Aligns two lists of lines. Matches what is the same at both ends first, so that of several equal lines the ones the edit plainly keeps
 * stay.
 */
export function align(old: readonly string[], next: readonly string[]): Stretch[] {
  const most = Math.min(old.length, next.length)
  let head = 0
  while (head < most && old[head] === next[head]) head++
  let tail = 0
  while (tail < most - head && old.at(-1 - tail) === next.at(-1 - tail)) tail++
  const stretches: Stretch[] = []
  let [from, to] = [0, 0]
  const add = (same: boolean, oldCount: number, nextCount: number): void => {
    const last = stretches.at(-1)
    if (last && last.same === same)
      stretches[stretches.length - 1] = { ...last, oldCount: last.oldCount + oldCount, nextCount: last.nextCount + nextCount }
    else if (oldCount + nextCount > 0) stretches.push({ same, old: from, next: to, oldCount, nextCount })
    from += oldCount
    to += nextCount
  }
  add(true, head, head)
  const [before, after] = [old.slice(head, old.length - tail), next.slice(head, next.length - tail)]
  const parts = diffArrays(before, after, { maxEditLength: MAX_CHANGED_LINES })
  if (!parts) add(false, before.length, after.length)
  for (const { added, removed, count } of parts ?? []) add(!added && !removed, added ? 0 : count, removed ? 0 : count)
  add(true, tail, tail)
  return stretches
}
