/** A text as lines that keep their own line ends. Pure. */
import type { Hunk } from '../format/patch.ts'

export type LineEnd = '\n' | '\r\n' | '\r' | ''

export interface TextLine {
  readonly text: string
  /** Empty at most for the last one. */
  readonly end: LineEnd
}

export interface TextLines {
  readonly lines: readonly TextLine[]
  /** What new lines get: the line end that comes first in the text. */
  readonly newline: Exclude<LineEnd, ''>
}

/**
 * Lines end with `\n` or `\r\n`. A carriage return alone is a character, unless the text has no other line ends and the
 * hunks have none of it either: then it is what old Macs wrote.
 */
export function linesOf(text: string, hunks: readonly Hunk[]): TextLines {
  const alone = text.includes('\r') && !text.includes('\n') && !hunks.some((hunk) => hunk.lines.some((line) => line.text.includes('\r')))
  const lines: TextLine[] = []
  const separator = alone ? '\r' : '\n'
  let from = 0
  for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, from)) {
    const returned = !alone && at > from && text[at - 1] === '\r'
    lines.push({ text: text.slice(from, returned ? at - 1 : at), end: returned ? '\r\n' : separator })
    from = at + 1
  }
  if (from < text.length) lines.push({ text: text.slice(from), end: '' })
  return { lines, newline: lines[0]?.end || '\n' }
}

export const joined = (lines: readonly TextLine[]): string => lines.map(({ text, end }) => text + end).join('')
