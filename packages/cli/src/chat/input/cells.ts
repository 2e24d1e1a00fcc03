/**
 * The input text as cells, the units that a key moves over or deletes. A cell is a grapheme or a whole long paste, so a position between
 * cells is never inside a character. Also computes where each cell is on the screen.
 */
import stringWidth from 'string-width'

/** Limits above which a paste is shown folded. */
const MAX_LINES = 20
const MAX_CHARACTERS = 2000

export type Cells = readonly string[]

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const split = (text: string): string[] => Array.from(graphemes.segment(text), ({ segment }) => segment)

/**
 * Splits inserted text into cells, replacing lone surrogates and normalizing line ends to `\n`. A long text is a single cell.
 * {@link shown} makes control characters harmless.
 */
export function cellsOf(text: string): Cells {
  const clean = text.replace(/\r\n?/g, '\n').toWellFormed()
  return isLong(clean) ? [clean] : split(clean)
}

export const textOf = (cells: Cells): string => cells.join('')

const isLong = (text: string): boolean => text.length > MAX_CHARACTERS || text.split('\n', MAX_LINES + 1).length > MAX_LINES

/** Whether the cell is a long paste. */
export const isFolded = (cell: string): boolean => cell.length > 1 && isLong(cell)

/** Returns the placeholder of a long paste. A trailing newline does not count as another line. */
function foldedName(cell: string): string {
  const lines = cell.replace(/\n$/, '').split('\n').length
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${cell.length} characters]`
}

/**
 * Replaces the cells from `from` to `to`. A mark or joiner after a letter merges with it into one cell, so the text around the seams is
 * split again, up to the ends of the line.
 *
 * @returns the new cells, and the position after the inserted ones
 */
export function replaced(cells: Cells, from: number, to: number, inserted: Cells): { readonly cells: Cells; readonly end: number } {
  let first = from
  while (first > 0 && joins(cells[first - 1] as string)) first--
  let last = to
  while (last < cells.length && joins(cells[last] as string)) last++
  const before = [...cells.slice(first, from), ...inserted]
  const middle = splitAgain([...before, ...cells.slice(to, last)])
  // If the end of the inserted text is now inside a cell, use the position after that cell.
  const end = first + cellAtOffset(middle, textOf(before).length)
  return { cells: [...cells.slice(0, first), ...middle, ...cells.slice(last)], end }
}

/** Whether the cell can merge with its neighbor. */
const joins = (cell: string): boolean => cell !== '\n' && !isFolded(cell)

function splitAgain(cells: Cells): Cells {
  let run = ''
  const done = cells.flatMap((cell) => {
    if (joins(cell)) {
      run += cell
      return []
    }
    const before = split(run)
    run = ''
    return [...before, cell]
  })
  return [...done, ...split(run)]
}

/** Returns the index of the cell at an offset into the text, in UTF-16 code units. */
export function cellAtOffset(cells: Cells, offset: number): number {
  let at = 0
  for (let seen = 0; at < cells.length && seen < offset; at++) seen += (cells[at] as string).length
  return at
}

/** Displayed in place of a tab. */
const TAB = '    '

/** Control, invisible and formatting characters. Joiners and one variation selector are allowed, since they may belong to a grapheme. */
const HIDDEN =
  /[\x80-\x9f\p{Co}]|(?!\p{Variation_Selector}|\p{Join_Control})[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|\p{Variation_Selector}{2,}|^(?:\p{Variation_Selector}|\p{Join_Control})/gu
/** The flags of England, Scotland and Wales, which are written with tag characters. */
const FLAG = /^\u{1f3f4}[\u{e0061}-\u{e007a}]+\u{e007f}$/u

/** Returns a cell as safe to display: on one line, without control or invisible characters. */
export function shown(cell: string): string {
  if (/^[ -~]$/.test(cell)) return cell
  if (cell === '\t') return TAB
  if (isFolded(cell)) return foldedName(cell)
  if (FLAG.test(cell)) return cell
  // A mark without a letter would combine with the preceding cell.
  const based = /^\p{M}/u.test(cell) ? `◌${cell}` : cell
  return based
    .replace(/[\x00-\x1f\x7f]/g, (control) => (control === '\x7f' ? '␡' : String.fromCharCode(0x2400 + control.charCodeAt(0))))
    .replace(HIDDEN, (hidden) => Array.from(hidden, (char) => `<${char.codePointAt(0)?.toString(16)}>`).join(''))
}

/** Cuts text to a width, marking the cut with `…`. */
export function cutTo(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  let cut = ''
  let width = 0
  for (const segment of split(text)) {
    width += stringWidth(segment)
    if (width > columns - 1) break
    cut += segment
  }
  return columns > 0 ? `${cut}…` : ''
}

interface Row {
  readonly text: string
  /** Index of its first cell, and the index after the last cursor position in the row. */
  readonly from: number
  readonly to: number
}

export interface CellPosition {
  readonly row: number
  readonly column: number
}

export interface Layout {
  readonly rows: readonly Row[]
  /** Returns the position of a cell, or of the end of the text if given the number of cells. */
  readonly placeOf: (cell: number) => CellPosition
  /** Returns the cell of a row that is nearest to a column. */
  readonly cellAt: (row: number, column: number) => number
}

/** Lays out the text, wrapping between cells. The cursor can be one column past a full row, so callers must leave that column free. */
export function layoutOf(cells: Cells, columns: number): Layout {
  const rows: Row[] = []
  const places: CellPosition[] = []
  let text = ''
  let column = 0
  let from = 0
  const close = (to: number): void => {
    rows.push({ text, from, to })
    text = ''
    column = 0
    from = to
  }
  for (const [index, cell] of cells.entries()) {
    const isEnd = cell === '\n'
    const seen = isEnd ? '' : cutTo(shown(cell), columns)
    const width = stringWidth(seen)
    if (column > 0 && column + width > columns) close(index)
    places.push({ row: rows.length, column })
    text += seen
    column += width
    if (isEnd) close(index + 1)
  }
  places.push({ row: rows.length, column })
  close(cells.length + 1)

  return {
    rows,
    placeOf: (cell) => places[cell] as CellPosition,
    cellAt: (row, wanted) => {
      const { from, to } = rows[row] as Row
      let at = from
      while (at + 1 < to && (places[at + 1] as CellPosition).column <= wanted) at++
      return at
    },
  }
}

export interface Seen {
  readonly rows: readonly Row[]
  /** Index of the first visible row. */
  readonly top: number
  readonly more: { readonly above: boolean; readonly below: boolean }
}

/** Returns the rows around the cursor if not all of them fit. */
export function seenRows({ rows }: Layout, cursor: CellPosition, most: number): Seen {
  const top = Math.max(0, Math.min(cursor.row - Math.floor(most / 2), rows.length - most))
  const seen = rows.slice(top, top + most)
  return { rows: seen, top, more: { above: top > 0, below: top + seen.length < rows.length } }
}
