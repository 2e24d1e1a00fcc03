/** The text and cursor of the input, and the pure functions that edit them. */
import { type Cells, cellsOf, isFolded, replaced } from './cells.ts'

export interface Draft {
  readonly cells: Cells
  /** Before which cell, from 0 to their number. */
  readonly cursor: number
}

export const EMPTY: Draft = { cells: [], cursor: 0 }

/** A text with the cursor at its end. */
export const draftOf = (text: string): Draft => {
  const cells = cellsOf(text)
  return { cells, cursor: cells.length }
}

export function inserted({ cells, cursor }: Draft, more: Cells): Draft {
  const { cells: all, end } = replaced(cells, cursor, cursor, more)
  return { cells: all, cursor: end }
}

/** Without the cells from `from` to `to`. */
export function removed({ cells }: Draft, from: number, to: number): Draft {
  const { cells: rest, end } = replaced(cells, from, to, [])
  return { cells: rest, cursor: end }
}

export const lineStart = ({ cells, cursor }: Draft): number => (cursor === 0 ? 0 : cells.lastIndexOf('\n', cursor - 1) + 1)

export function lineEnd({ cells, cursor }: Draft): number {
  const end = cells.indexOf('\n', cursor)
  return end === -1 ? cells.length : end
}

type Is = (cell: string) => boolean

const isWord: Is = (cell) => !isFolded(cell) && /^[\p{L}\p{N}\p{M}_]/u.test(cell)
const isBlank: Is = (cell) => !isFolded(cell) && /^\s/.test(cell)

/** Over what is not a word, then over the word. A long paste is a word of its own. */
export function wordEnd({ cells, cursor }: Draft, inWord: Is = isWord): number {
  let at = cursor
  while (at < cells.length && !inWord(cells[at] as string) && !isFolded(cells[at] as string)) at++
  if (at < cells.length && isFolded(cells[at] as string)) return at + 1
  while (at < cells.length && inWord(cells[at] as string)) at++
  return at
}

export function wordStart({ cells, cursor }: Draft, inWord: Is = isWord): number {
  const before = (at: number): string => cells[at - 1] as string
  let at = cursor
  while (at > 0 && !inWord(before(at)) && !isFolded(before(at))) at--
  if (at > 0 && isFolded(before(at))) return at - 1
  while (at > 0 && inWord(before(at))) at--
  return at
}

/** The same where words are what is between blanks. */
export const blankStart = (draft: Draft): number => wordStart(draft, (cell) => !isBlank(cell) && !isFolded(cell))

/** The cell at an offset of the text, in UTF-16 code units. */
export function cellAtOffset(cells: Cells, offset: number): number {
  let at = 0
  for (let seen = 0; at < cells.length && seen < offset; at++) seen += (cells[at] as string).length
  return at
}

export function offsetOf({ cells, cursor }: Draft): number {
  let offset = 0
  for (let at = 0; at < cursor; at++) offset += (cells[at] as string).length
  return offset
}
