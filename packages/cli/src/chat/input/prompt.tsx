/** The input of the chat: what is typed with its mark, the cursor in it, and under it the menu of completions. */
import { Box, type CursorPosition, type DOMElement, measureElement, Text, useCursor, useStdout, useWindowSize } from 'ink'
import { type ReactNode, type RefObject, useRef } from 'react'
import { type Colors, colorsFor } from '../../ui/colors.ts'
import { type CellPosition, layoutOf, type Seen, seenRows } from './layout.ts'
import type { Menu, Search } from './shown.ts'
import { type PromptProps, useEditor } from './use-editor.ts'
import { cutTo, widthOf } from './width.ts'

const MARK_WIDTH = 2
const MAX_MENU_ROWS = 8

/** Takes the width of the terminal, and at most half of its height, and the menu besides. */
export function Prompt(props: PromptProps): ReactNode {
  const { isActive, placeholder = '' } = props
  const { columns, rows } = useWindowSize()
  const colors = colorsFor(useStdout().stdout as NodeJS.WriteStream)
  const room = Math.max(1, columns - MARK_WIDTH - 1)
  const { cells, cursor, search, menu } = useEditor(props, room)
  const box = useRef<DOMElement>(null)
  const layout = layoutOf(cells, room)
  const place = layout.placeOf(cursor)
  const seen = seenRows(layout, place, Math.max(1, Math.floor(rows / 2)))
  const left = rows - seen.rows.length - 3
  return (
    <Box flexDirection="column" flexShrink={0} ref={box}>
      {seen.rows.map((row, at) => (
        <Text key={row.from} wrap="truncate-end">
          {markOf(seen, at, cells[0] === '!', colors)}
          {cells.length === 0 ? colors.dim(cutTo(placeholder, room)) : isActive ? row.text : colors.dim(row.text)}
        </Text>
      ))}
      {search && <Text wrap="truncate-end">{colors.dim(searchLine(search))}</Text>}
      {isActive && menu && left > 0 && <MenuView menu={menu} columns={columns} most={Math.min(MAX_MENU_ROWS, left)} colors={colors} />}
      {isActive && <Cursor box={box} place={{ row: place.row - seen.top, column: place.column + MARK_WIDTH }} />}
    </Box>
  )
}

/** Of a row: where the text begins, that it is a command for the shell, that more of it is out of sight. */
function markOf({ top, more, rows }: Seen, at: number, isShell: boolean, colors: Colors): string {
  if (at === 0 && more.above) return colors.dim('↑ ')
  if (at === rows.length - 1 && more.below) return colors.dim('↓ ')
  if (top + at > 0) return ' '.repeat(MARK_WIDTH)
  return isShell ? colors.yellow('$ ') : colors.cyan('> ')
}

const searchLine = ({ query, failed }: Search): string => `  ${failed ? 'not there' : 'search'}: ${query}  (Ctrl-R older, Esc keep)`

interface MenuViewProps {
  readonly menu: Menu
  readonly columns: number
  readonly most: number
  readonly colors: Colors
}

function MenuView({ menu: { items, selected, stale }, columns, most, colors }: MenuViewProps): ReactNode {
  const top = Math.max(0, Math.min(selected - Math.floor(most / 2), items.length - most))
  const seen = items.slice(top, top + most)
  const wide = Math.min(Math.max(...seen.map(({ label }) => widthOf(label))), Math.max(1, columns - MARK_WIDTH - 1))
  return seen.map(({ label, description = '' }, at) => {
    const name = cutTo(label, wide)
    const text = description === '' ? name : `${name}${' '.repeat(wide - widthOf(name))}  ${description}`
    const isSelected = top + at === selected && !stale
    const line = cutTo(`${isSelected ? '› ' : '  '}${text}`, columns - 1)
    return <Text key={label}>{isSelected ? colors.bold(line) : colors.dim(line)}</Text>
  })
}

interface CursorProps {
  readonly box: RefObject<DOMElement | null>
  readonly place: CellPosition
}

/** The terminal's own, so that it is seen without colours, and input methods and screen readers find it. */
function Cursor({ box, place }: CursorProps): ReactNode {
  const { setCursorPosition } = useCursor()
  setCursorPosition(box.current ? positionIn(box.current, place) : undefined)
  return null
}

/** Ink asks for it when it writes, after the layout: what overrides may have grown since this was drawn. */
const positionIn = (box: DOMElement, { row, column }: CellPosition): CursorPosition => ({
  get x() {
    return measureElement(box).x + column
  },
  get y() {
    return measureElement(box).y + row
  },
})
