/** Computes the screen position of each cell of the input; lines wrap between cells. */
import { type Cells, shown } from './cells.ts'
import { cutTo, widthOf } from './width.ts'

export interface Row {
  readonly text: string
  /** Its first cell, and the one behind its last place for a cursor. */
  readonly from: number
  readonly to: number
  /** False for what was wrapped. */
  readonly beginsLine: boolean
}

export interface CellPosition {
  readonly row: number
  readonly column: number
}

export interface Layout {
  readonly rows: readonly Row[]
  /** Of the cell; of the end of the text for the number of cells. */
  readonly placeOf: (cell: number) => CellPosition
  /** The cell of a row that is nearest to a column. */
  readonly cellAt: (row: number, column: number) => number
}

/** The cursor may stand one column behind a full row, so a row must leave that one free. */
export function layoutOf(cells: Cells, columns: number): Layout {
  const rows: Row[] = []
  const places: CellPosition[] = []
  let text = ''
  let column = 0
  let from = 0
  let beginsLine = true
  const close = (to: number): void => {
    rows.push({ text, from, to, beginsLine })
    text = ''
    column = 0
    from = to
  }
  for (const [index, cell] of cells.entries()) {
    if (cell === '\n') {
      places.push({ row: rows.length, column })
      close(index + 1)
      beginsLine = true
      continue
    }
    const seen = cutTo(shown(cell), columns)
    const width = widthOf(seen)
    if (column > 0 && column + width > columns) {
      close(index)
      beginsLine = false
    }
    places.push({ row: rows.length, column })
    text += seen
    column += width
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
  /** Of the first row that is seen. */
  readonly top: number
  readonly more: { readonly above: boolean; readonly below: boolean }
}

/** The rows around the cursor, where there is no room for all. */
export function seenRows({ rows }: Layout, cursor: CellPosition, most: number): Seen {
  const top = Math.max(0, Math.min(cursor.row - Math.floor(most / 2), rows.length - most))
  const seen = rows.slice(top, top + most)
  return { rows: seen, top, more: { above: top > 0, below: top + seen.length < rows.length } }
}
