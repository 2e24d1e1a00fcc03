/** Wraps colored text at word boundaries. Pure. */
import wrapAnsi from 'wrap-ansi'

/** Replaces spaces of an indentation, which wrap-ansi would trim. */
const BLANK = '\u2800'
const INDENTATION = /^((?:\x1b\[\d*m)*)( +)/gm

/** Wraps text so that no line exceeds `width`. Color codes are repeated on each line, and words that are too long are split. */
export function wrapped(text: string, width: number): readonly string[] {
  const kept = text.replace(INDENTATION, (_, styles: string, blanks: string) => styles + BLANK.repeat(blanks.length))
  return wrapAnsi(kept, Math.max(1, width), { hard: true }).replaceAll(BLANK, ' ').split('\n')
}

/** Cuts text to one line, marking the cut with `…`. */
export function cutLine(text: string, width: number): string {
  const [first = '', ...rest] = wrapped(text, width)
  return rest.length === 0 ? first : `${wrapped(text, width - 1)[0] ?? ''}…`
}

const QUESTION = /^(?:\x1b\[\d*m)*\?(?:\x1b\[\d*m)* /
const INDENT = /^((?:\x1b\[\d*m)*)( {0,8}(?:\| )?)/

/**
 * Wraps a line with continuation lines indented like its beginning. In a question, only the mark touches the left edge of the screen,
 * because text there could be mistaken for the program's own output.
 */
export function hanging(line: string, width: number): readonly string[] {
  const mark = QUESTION.exec(line)?.[0]
  const [, styles = '', indent = ''] = INDENT.exec(line) ?? []
  const head = mark ?? indent
  const rest = mark === undefined ? styles + line.slice(styles.length + indent.length) : line.slice(mark.length)
  const room = mark === undefined ? indent.length : 2
  return wrapped(rest, width - room).map((one, at) => (at === 0 ? head : ' '.repeat(room)) + one)
}
