/**
 * The text of the input as cells: what a key moves over or deletes as one. A cell is a grapheme, or a whole long paste, so no
 * position between cells is inside of a character.
 */

/** A longer paste is shown folded. */
export const MAX_LINES = 20
export const MAX_CHARACTERS = 2000

export type Cells = readonly string[]

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const split = (text: string): string[] => Array.from(graphemes.segment(text), ({ segment }) => segment)

/** Line ends as `\n`, and no half of a character. Other control characters stay: {@link shown} makes them harmless. */
export const cleaned = (text: string): string => text.replace(/\r\n?/g, '\n').toWellFormed()

/** Text that is inserted at once. A long one is a single cell. */
export function cellsOf(text: string): Cells {
  const clean = cleaned(text)
  return isLong(clean) ? [clean] : split(clean)
}

export const textOf = (cells: Cells): string => cells.join('')

function isLong(text: string): boolean {
  if (text.length > MAX_CHARACTERS) return true
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines > MAX_LINES
}

/** Whether the cell is a long paste. A grapheme that is long is none: nothing but marks on one letter is. */
export const isFolded = (cell: string): boolean => cell.length > 1 && (cell.length > MAX_CHARACTERS || isLong(cell))

/** What stands for a long paste. A newline at its end begins no line. */
export function foldedName(cell: string): string {
  const lines = cell.replace(/\n$/, '').split('\n').length
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${cell.length} characters]`
}

/**
 * Puts cells in the place of those from `from` to `to`. A mark or joiner that comes after a letter becomes one cell with it, so
 * what is left and right of the seams is cut again, as far as a line reaches.
 *
 * @returns the cells, and where the inserted ones end
 */
export function replaced(cells: Cells, from: number, to: number, inserted: Cells): { readonly cells: Cells; readonly end: number } {
  let first = from
  while (first > 0 && joins(cells[first - 1] as string)) first--
  let last = to
  while (last < cells.length && joins(cells[last] as string)) last++
  const before = cells.slice(first, from)
  const after = cells.slice(to, last)
  const middle: string[] = []
  let run = ''
  let written = 0
  let end = 0
  const target = length(before) + length(inserted)
  const flush = (): void => {
    for (const cell of split(run)) push(cell)
    run = ''
  }
  const push = (cell: string): void => {
    // The end of what was inserted may have become the inside of a cell: it is behind that cell then.
    if (written < target) end = middle.length + 1
    middle.push(cell)
    written += cell.length
  }
  for (const cell of [...before, ...inserted, ...after]) {
    if (joins(cell)) run += cell
    else {
      flush()
      push(cell)
    }
  }
  flush()
  return { cells: [...cells.slice(0, first), ...middle, ...cells.slice(last)], end: first + end }
}

const length = (cells: Cells): number => cells.reduce((sum, cell) => sum + cell.length, 0)

/** Whether the cell may become one with its neighbour. */
const joins = (cell: string): boolean => cell !== '\n' && !isFolded(cell)

/** What stands for a tab. */
const TAB = '    '

/** What acts, hides or is not seen. Joiners and one variation selector may belong to a grapheme. */
const HIDDEN =
  /[\x80-\x9f\p{Co}]|(?!\p{Variation_Selector}|\p{Join_Control})[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|\p{Variation_Selector}{2,}|^(?:\p{Variation_Selector}|\p{Join_Control})/gu
/** The flags of England, Scotland and Wales are written with tags. */
const FLAG = /^\u{1f3f4}[\u{e0061}-\u{e007a}]+\u{e007f}$/u

/** A cell as a terminal may see it: one line, nothing that acts, nothing that hides. */
export function shown(cell: string): string {
  if (/^[ -~]$/.test(cell)) return cell
  if (cell === '\t') return TAB
  if (isFolded(cell)) return foldedName(cell)
  if (FLAG.test(cell)) return cell
  // A mark without a letter would be on what is beside it.
  const based = /^\p{M}/u.test(cell) ? `◌${cell}` : cell
  return based
    .replace(/[\x00-\x1f\x7f]/g, (control) => (control === '\x7f' ? '␡' : String.fromCharCode(0x2400 + control.charCodeAt(0))))
    .replace(HIDDEN, (hidden) => Array.from(hidden, (char) => `<${char.codePointAt(0)?.toString(16)}>`).join(''))
}
