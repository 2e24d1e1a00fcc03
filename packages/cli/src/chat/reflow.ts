/**
 * Erases the live area correctly after a resize. Lines that are too long for a new width take several rows, which the renderer does not
 * count: without this, each resize leaves a copy of the area in the scrollback. A terminal that became lower drops rows below the cursor.
 */
import stringWidth from 'string-width'

/** How the renderer erases its area: hides the cursor, moves it up to the first row, and clears everything below. */
const CLEARS = /^\x1b\[\?25l(?:\x1b\[(\d+)A)?\x1b\[1?G\x1b\[J$/
/** How it erases the area before drawing it again: hides the cursor, moves it down to the last row, and clears the lines upward. */
const REDRAWS = /^\x1b\[\?25l(?:\x1b\[(\d+)B)?\x1b\[1?G((?:\x1b\[2K\x1b\[1A)*)\x1b\[2K\x1b\[G/
/** How it places the cursor after drawing: up from the last row, then to a column, from 1. */
const PLACES = /(?:\x1b\[(\d+)A)?\x1b\[(\d*)G\x1b\[\?25h$/
const ESCAPES = /\x1b\[[\d;?]*[A-Za-z]/g
const UP = '\x1b[2K\x1b[1A'

/**
 * Keeps track of what the renderer draws.
 * @param columns returns the current width of the terminal
 */
export function createReflow(columns: () => number) {
  /** What was drawn last, whether the terminal was resized since, and where the cursor was left: rows from the last one, its column from 0. */
  let lines: readonly string[] = []
  let isResized = false
  let up = 0
  let column = 0

  function note(text: string): void {
    const written = text.replace(ESCAPES, '')
    if (written !== '') {
      lines = written.split('\n')
      isResized = false
    }
    const placed = PLACES.exec(text)
    if (written === '' && !placed) return
    up = Number(placed?.[1] ?? 0)
    column = Number(placed?.[2] ?? 1) - 1
  }

  /** Returns the rows of the area above the cursor. @param above lines of the area above the line of the cursor */
  function rowsAbove(above: number): number {
    const cursorLine = lines.length - 1 - up
    const first = Math.max(0, cursorLine - above)
    const rows = (end: number): number =>
      lines.slice(first, end).reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / columns())), 0)
    // Drawn at this width, the cursor was moved up by rows. After a resize, it has stayed at its character.
    return isResized ? rows(cursorLine) + Math.floor(column / columns()) : rows(lines.length - 1) - up
  }

  /** Erases below from the second column: from the first one of the screen, tmux takes it for a cleared screen and keeps a copy. */
  const erase = (rows: number): string => `\x1b[?25l${rows > 0 ? `\x1b[${rows}A` : ''}\x1b[G\x1b[2K\x1b[C\x1b[J\x1b[G`

  function corrected(text: string): string {
    const clears = CLEARS.exec(text)
    if (clears) return erase(rowsAbove(Number(clears[1] ?? 0)))
    const redraws = REDRAWS.exec(text)
    if (!redraws) return text
    const [prefix, down = 0, moves = ''] = redraws
    const above = moves.length / UP.length - Number(down)
    const rows = rowsAbove(above)
    // From the cursor itself, and not from the last row below it, which may be gone.
    return rows === above && !isResized ? text : erase(rows) + text.slice(prefix.length)
  }

  return {
    /** Called when the terminal has been resized, even if it has its former size again. */
    resized: (): void => {
      isResized = true
    },
    /** Returns what the renderer writes, with the rows to erase corrected. */
    pass: (text: string): string => {
      const fixed = corrected(text)
      if (!CLEARS.test(text)) note(text)
      return fixed
    },
  }
}
