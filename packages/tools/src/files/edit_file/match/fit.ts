/** Fits a new text to a place that is written in another way than the old text. Pure. */
import { align, type Stretch } from './align.ts'
import { indentOf, type Lines, reindentation } from './reindentation.ts'

export interface FitOptions {
  /** A new line, indented as the file is, and the old one and the file's in whose place it comes. Default: the new line. */
  readonly changed?: (next: string, old: string, found: string) => string
  /** Whether the file's line may stand elsewhere for the old one. Default: yes. */
  readonly moves?: (old: string, found: string) => boolean
  /** Whether a stretch that is not the same is well defined. Default: yes. */
  readonly sound?: (stretch: Stretch, lines: Lines) => boolean
}

/**
 * Lines of the new text that are lines of the old one keep the bytes of the file; the others get its indentation.
 *
 * @returns undefined where it can't be told which line or which indentation is meant
 */
export function fit(found: string, oldText: string, newText: string, options: FitOptions = {}): string | undefined {
  const ends = oldText.endsWith('\n')
  const split = (text: string): string[] => (ends && text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
  const old = split(oldText)
  const theirs = found.split('\n')
  // The last line of a file may lack the line end that the old text has.
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
        const indented = indent(line)
        if (indented === undefined) return undefined
        const pair = stretch.oldCount === stretch.nextCount
        result.push(pair ? changed(indented, old[stretch.old + at] as string, theirs) : indented)
      }
    }
  }
  return result
}

/**
 * The line of the file for a line of the old text, for lines that the edit moves. Where an old line stands for several of
 * the file that are indented differently, the new text must have as many of it: else it can't be told which one is gone.
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
