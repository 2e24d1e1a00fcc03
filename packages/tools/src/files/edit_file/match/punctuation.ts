import type { Stretch } from './align.ts'
import { findLines, type Source, type Strategy, trimmedLines } from './find.ts'
import { fit } from './fit.ts'
import type { Lines } from './reindentation.ts'

/** Lines that are compared one by one. Only a text that repeats itself without end has more. */
const MAX_COMPARED = 1_000_000
const LEFT_OUT = /[,;]$/

const bare = (line: string): string => line.trim().replace(LEFT_OUT, '')
const bareLines = (source: Source): readonly string[] =>
  source.derive(trimmedLines).map((line) => (LEFT_OUT.test(line) ? line.slice(0, -1) : line))

/** What the file has at the end of the line and the old text left out. */
const leftOut = (old: string, found: string): string => found.trim().slice(old.trim().length)

/** The file's line is the old one, or that and one sign more. */
const isLike = (old: string, found: string): boolean =>
  found.trim() === old.trim() || (old.trim() !== '' && bare(found) === old.trim() && !LEFT_OUT.test(old.trim()))

/** Whole lines that are equal but for a comma or semicolon at their end that the old text left out. */
export const punctuation: Strategy = {
  name: 'punctuation',
  note: 'matched apart from commas and semicolons at the ends of lines; lines that stay keep those of the file',
  find(source, oldText, most) {
    const ours = oldText.split('\n')
    const places = findLines(source, oldText, most, bareLines, bare)
    return places.length * ours.length > MAX_COMPARED
      ? []
      : places.filter(({ start, end }) => {
          const theirs = source.text.slice(start, end).split('\n')
          return ours.every((line, at) => isLike(line, theirs[at] ?? ''))
        })
  },
  fit: (found, oldText, newText) => fit(found, oldText, newText, { moves: (old, line) => leftOut(old, line) === '', sound }),
}

/** A line that comes in place of one whose sign was left out, or beside it, must have the sign: else it is left out again. */
function sound({ old: first, oldCount, next: from, nextCount }: Stretch, { old, found, next }: Lines): boolean {
  const sign = (at: number): string => (old[at] === undefined ? '' : leftOut(old[at], found[at] as string))
  const has = (line: string, mark: string): boolean => line.trimEnd().endsWith(mark)
  const lines = next.slice(from, from + nextCount)
  if (lines.every((line) => line.trim() === '')) return true
  if (lines.some((line) => sign(old.indexOf(line)) !== '')) return false
  if (oldCount === nextCount) return lines.every((line, at) => has(line, sign(first + at)))
  if (oldCount > 0) return old.slice(first, first + oldCount).every((_, at) => sign(first + at) === '')
  const last = lines.findLast((line) => line.trim() !== '') ?? ''
  return has(last, sign(first - 1)) && has(last, sign(first))
}
