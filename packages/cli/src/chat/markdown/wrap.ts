/** Text with colours, cut into lines of a width between its words. Pure. */
import { widthOf } from '../input/width.ts'

/** Of styles, what ends each of them: `picocolors` writes no others. */
const ENDS: Readonly<Record<string, string>> = { 1: '22', 2: '22', 3: '23', 4: '24', 7: '27', 9: '29' }
const endOf = (code: string): string => ENDS[code] ?? (/^4/.test(code) ? '49' : '39')

const PIECES = /\x1b\[(\d*)m|( +)|((?:(?!\x1b\[\d*m)[^ ])+)/g
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** No line is wider than `width`, and each has its colours for itself. A word that is too long is cut. */
export const wrapped = (text: string, width: number): readonly string[] =>
  text.split('\n').reduce(wrapLine(Math.max(1, width)), NOTHING).lines

/** On one line, with `…` where it was cut. */
export function cutLine(text: string, width: number): string {
  const [first = '', ...rest] = wrapped(text, width)
  return rest.length === 0 ? first : `${wrapped(text, width - 1)[0] ?? ''}…`
}

const QUESTION = /^(?:\x1b\[\d*m)*\?(?:\x1b\[\d*m)* /
const INDENT = /^((?:\x1b\[\d*m)*)( {0,8}(?:\| )?)/

/**
 * What is too long for a line continues below its own beginning. Of a question no part is at the edge of the screen but its mark:
 * there its text could look like what the program says.
 */
export function hanging(line: string, width: number): readonly string[] {
  const mark = QUESTION.exec(line)?.[0]
  const [, styles = '', indent = ''] = INDENT.exec(line) ?? []
  const head = mark ?? indent
  const rest = mark === undefined ? styles + line.slice(styles.length + indent.length) : line.slice(mark.length)
  const room = mark === undefined ? indent.length : 2
  return wrapped(rest, width - room).map((one, at) => (at === 0 ? head : ' '.repeat(room)) + one)
}

interface Wrapped {
  readonly lines: readonly string[]
  /** Codes of the styles that are open. */
  readonly open: readonly string[]
}

const NOTHING: Wrapped = { lines: [], open: [] }
const code = (number: string): string => `\x1b[${number}m`

const wrapLine =
  (width: number) =>
  ({ lines, open: before }: Wrapped, text: string): Wrapped => {
    const done = [...lines]
    let open = before
    /** Those that are open where the line ends as yet. */
    let written = open
    let line = open.map(code).join('')
    let used = 0
    /** What is written only when a word follows it on the line. */
    let waiting = ''
    let blanks = 0

    const breakLine = (): void => {
      done.push(closed(line, written))
      written = open
      line = open.map(code).join('')
      waiting = ''
      used = 0
      blanks = 0
    }
    const put = (word: string, wide: number): void => {
      if (used + blanks + wide > width && (used > 0 || blanks + wide > width)) {
        if (used > 0) breakLine()
        else forget()
      }
      line += waiting + word
      used += blanks + wide
      written = open
      waiting = ''
      blanks = 0
    }
    /** An indentation that leaves no room. */
    const forget = (): void => {
      waiting = waiting.replaceAll(' ', '')
      blanks = 0
    }

    for (const [, style, gap, word = ''] of text.matchAll(PIECES)) {
      if (style !== undefined) {
        open = isEnd(style) ? open.filter((one) => endOf(one) !== style) : [...open, style]
        waiting += code(style)
      } else if (gap !== undefined) {
        waiting += gap
        blanks += gap.length
      } else if (widthOf(word) <= width) put(word, widthOf(word))
      else for (const { segment } of graphemes.segment(word)) put(segment, widthOf(segment))
    }
    return { lines: [...done, closed(line, written)], open }
  }

const isEnd = (style: string): boolean => /^(?:2[2-9]|39|49)$/.test(style)
const closed = (line: string, open: readonly string[]): string =>
  line +
  open
    .toReversed()
    .map((one) => code(endOf(one)))
    .join('')
