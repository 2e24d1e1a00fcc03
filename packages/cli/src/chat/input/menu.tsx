/** Shows the completions. Where there are more than fit, lines above and below say how many. */
import { Text } from 'ink'
import type { ReactNode } from 'react'
import stringWidth from 'string-width'
import type { Colors } from '../../ui/colors.ts'
import { cutTo } from './cells.ts'
import type { Menu } from './state.ts'

interface MenuViewProps {
  readonly menu: Menu
  readonly columns: number
  /** Maximum lines. */
  readonly most: number
  readonly colors: Colors
}

/** Columns of the mark of the selected one. */
const MARK_WIDTH = 2

export function MenuView({ menu: { items, selected, stale }, columns, most, colors }: MenuViewProps): ReactNode {
  const { top, end } = windowOf(selected, items.length, most)
  const seen = items.slice(top, end)
  const wide = Math.min(Math.max(...seen.map(({ label }) => stringWidth(label))), Math.max(1, columns - MARK_WIDTH - 1))
  const more = (count: number): ReactNode =>
    most >= MIN_MARKED && count > 0 && <Text>{colors.dim(cutTo(`  … ${count} more`, columns - 1))}</Text>
  return (
    <>
      {more(top)}
      {seen.map(({ label, description = '' }, at) => {
        const name = cutTo(label, wide)
        const text = description === '' ? name : `${name}${' '.repeat(wide - stringWidth(name))}  ${description}`
        const isSelected = top + at === selected && !stale
        const line = cutTo(`${isSelected ? '› ' : '  '}${text}`, columns - 1)
        return <Text key={label}>{isSelected ? colors.bold(line) : colors.dim(line)}</Text>
      })}
      {more(items.length - end)}
    </>
  )
}

/** Lines below which there is no room for marks. */
const MIN_MARKED = 4

/** Returns the rows to show, so that with the marks they take at most `most` lines, and the selected one is among them. */
export function windowOf(selected: number, count: number, most: number): { readonly top: number; readonly end: number } {
  const from = (rows: number): number => Math.max(0, Math.min(selected - Math.floor(rows / 2), count - rows))
  if (count <= most || most < MIN_MARKED) return { top: from(most), end: Math.min(count, from(most) + most) }
  const rows = most - 2
  const top = from(rows)
  if (top <= 1) return { top: 0, end: most - 1 }
  if (top + rows >= count - 1) return { top: count - (most - 1), end: count }
  return { top, end: top + rows }
}
