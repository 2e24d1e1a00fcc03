/** The menu of completions under the input, and the keys it takes. */
import { cellsOf, replaced, textOf } from './cells.ts'
import { cellAtOffset } from './draft.ts'
import type { Completion, Completions, Menu, Takes } from './shown.ts'
import { type EditorKey, type EditorState, edited, type Pressed, submitted } from './state.ts'

/** With what was found for the text as it is. */
export function withCompletions(state: EditorState, found: Completions | undefined, takes: Takes = 'none'): EditorState {
  const [best] = found?.items ?? []
  if (!found || !best) return { ...state, menu: undefined }
  const menu: Menu = { ...found, selected: 0, stale: false }
  const isTaken = takes === 'best' || (takes === 'only' && found.items.length === 1)
  return isTaken ? completed({ ...state, menu }, best) : { ...state, menu }
}

type Choosing = EditorState & { readonly menu: Menu }

/** What the key does to the menu; `undefined` for a key that is not the menu's. */
export function pressInMenu(state: Choosing, key: EditorKey): Pressed | undefined {
  const { menu } = state
  if (key.name === 'escape') return { state: { ...state, menu: undefined, dismissed: true, last: undefined } }
  if (menu.stale) return key.name === 'up' || key.name === 'down' ? { state } : undefined
  const item = menu.items[menu.selected]
  switch (key.name) {
    case 'up':
    case 'backtab':
      return { state: chosen(state, -1) }
    case 'down':
      return { state: chosen(state, 1) }
    case 'tab':
      return item && { state: completed(state, item) }
    case 'enter': {
      const there = textOf(state.cells).slice(menu.from, menu.to)
      // What is typed in full is sent, not completed once more.
      if (!item || item.insert.trimEnd() === there) return undefined
      return item.submits ? submitted(completed(state, item)) : { state: completed(state, item) }
    }
    default:
      return undefined
  }
}

function chosen(state: Choosing, by: 1 | -1): EditorState {
  const { items, selected } = state.menu
  return { ...state, menu: { ...state.menu, selected: (selected + by + items.length) % items.length }, last: undefined }
}

function completed(state: Choosing, { insert }: Completion): EditorState {
  const { cells, menu } = state
  const from = cellAtOffset(cells, menu.from)
  const to = cellAtOffset(cells, menu.to)
  const goesOn = insert.endsWith(' ') && cells[to] === ' '
  const { cells: next, end } = replaced(cells, from, goesOn ? to + 1 : to, cellsOf(insert))
  return { ...edited(state, { cells: next, cursor: end }), menu: undefined }
}
