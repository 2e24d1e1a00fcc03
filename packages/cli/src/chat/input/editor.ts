/** The input editor as a state machine: a key and a state yield the next state and an effect. Key bindings follow readline. */
import { cellAtOffset, cellsOf, layoutOf, replaced, textOf } from './cells.ts'
import type { Completion, Completions, Takes } from './completion.ts'
import type { EditorKey, KeyName } from './keys.ts'
import {
  blankStart,
  type Draft,
  draftIn,
  type EditorState,
  edited,
  inserted,
  lineEnd,
  lineStart,
  type Menu,
  moved,
  type Pressed,
  removed,
  type Search,
  submitted,
  wordEnd,
  wordStart,
} from './state.ts'

export interface EditorContext {
  /** Oldest first. */
  readonly history: readonly string[]
  /** Width available to the text, without its mark. */
  readonly columns: number
}

const MAX_KILLS = 20

export function press(state: EditorState, key: EditorKey, context: EditorContext): Pressed {
  if (state.search) return pressInSearch({ ...state, search: state.search }, key, context) ?? press(kept(state), key, context)
  const chosen = state.menu && pressInMenu({ ...state, menu: state.menu }, key)
  if (chosen) return chosen
  const pressed = pressInText(state, key, context)
  const next = pressed.state
  if (!next.menu || (next.cells === state.cells && next.cursor === state.cursor)) return pressed
  return { ...pressed, state: { ...next, menu: wantsCompletions(next) ? { ...next.menu, stale: true } : undefined } }
}

/** Whether to search for completions without being asked. */
export const wantsCompletions = ({ cells, search, recalled, dismissed }: EditorState): boolean =>
  cells.length > 0 && !search && !recalled && !dismissed

function pressInText(state: EditorState, key: EditorKey, context: EditorContext): Pressed {
  const isEmpty = state.cells.length === 0
  switch (key.name) {
    case 'text':
      return { state: typed(state, key.text) }
    case 'paste':
      return { state: edited(state, inserted(state, cellsOf(key.text))) }
    case 'enter':
      return entered(state)
    case 'tab': {
      // If a menu is being loaded, act as if Tab had been pressed after it opened.
      const takes = wantsCompletions(state) ? 'best' : 'only'
      return { state: { ...moved(state, state.cursor), dismissed: false }, effect: { type: 'complete', takes } }
    }
    case 'interrupt':
      return isEmpty ? { state, effect: { type: 'interrupt' } } : { state: cleared(state) }
    case 'escape':
      if (isEmpty && state.last === 'escape') return { state: cleared(state), effect: { type: 'escape' } }
      return { state: isEmpty || state.last !== 'escape' ? { ...moved(state, state.cursor), last: 'escape' } : cleared(state) }
    case 'editor':
      return { state: moved(state, state.cursor), effect: { type: 'editor', text: textOf(state.cells) } }
    case 'line-end':
      return state.last === 'chord' ? pressInText(state, { name: 'editor' }, context) : { state: EDITS['line-end'](state, context) }
    case 'clear':
    case 'expand':
    case 'image':
    case 'suspend':
      return { state, effect: { type: key.name } }
    case 'delete-or-exit':
      return isEmpty ? { state, effect: { type: 'exit' } } : { state: without(state, 0, 1) }
    default:
      return { state: EDITS[key.name](state, context) }
  }
}

/** Keys that only move or edit. */
const EDITS: Readonly<
  Record<
    Exclude<KeyName, 'enter' | 'tab' | 'escape' | 'interrupt' | 'clear' | 'expand' | 'image' | 'suspend' | 'editor' | 'delete-or-exit'>,
    (state: EditorState, context: EditorContext) => EditorState
  >
> = {
  newline: (state) => edited(state, inserted(state, ['\n'])),
  backspace: (state) => without(state, -1, 0),
  delete: (state) => without(state, 0, 1),
  left: (state) => moved(state, Math.max(0, state.cursor - 1)),
  right: (state) => moved(state, Math.min(state.cells.length, state.cursor + 1)),
  'word-left': (state) => moved(state, wordStart(state)),
  'word-right': (state) => moved(state, wordEnd(state)),
  'line-start': (state) => moved(state, lineStart(state)),
  'line-end': (state) => moved(state, lineEnd(state)),
  up: (state, context) => vertical(state, -1, context),
  down: (state, context) => vertical(state, 1, context),
  // At the end of a line, cut the line break.
  'kill-line': (state) => killed(state, state.cursor, Math.max(lineEnd(state), Math.min(state.cursor + 1, state.cells.length))),
  'kill-line-left': (state) => killed(state, Math.min(lineStart(state), Math.max(0, state.cursor - 1)), state.cursor),
  'kill-word': (state) => killed(state, state.cursor, wordEnd(state)),
  'kill-word-left': (state) => killed(state, wordStart(state), state.cursor),
  'kill-blank-left': (state) => killed(state, blankStart(state), state.cursor),
  yank: (state) => yanked(state, state),
  'yank-pop': popped,
  undo: undone,
  search: (state) => ({ ...moved(state, state.cursor), menu: undefined, search: { query: '', origin: draftIn(state), failed: false } }),
  backtab: (state) => moved(state, state.cursor),
  chord: (state) => ({ ...moved(state, state.cursor), last: 'chord' }),
}

const cleared = (state: EditorState): EditorState => ({ ...edited(state, { cells: [], cursor: 0 }), menu: undefined })

/** Inserts typed text. A word is undone as a whole. */
function typed(state: EditorState, text: string): EditorState {
  const ends = /\s/.test(text)
  const next = edited(state, inserted(state, cellsOf(text)), state.last === 'typing' && !ends)
  return { ...next, last: 'typing', dismissed: state.dismissed && !ends }
}

/** Removes the cells between two positions relative to the cursor. */
function without(state: EditorState, before: number, after: number): EditorState {
  const [from, to] = [state.cursor + before, state.cursor + after]
  return from < 0 || to > state.cells.length ? moved(state, state.cursor) : edited(state, removed(state, from, to))
}

function entered(state: EditorState): Pressed {
  const text = textOf(state.cells)
  const slashes = /\\+$/.exec(text)?.[0].length ?? 0
  if (slashes % 2 === 1 && state.cursor === state.cells.length)
    return { state: edited(state, inserted(removed(state, state.cursor - 1, state.cursor), ['\n'])) }
  return text.trim() === '' ? { state: cleared(state) } : submitted(state)
}

/** Cuts text. Consecutive kills are yanked as one. */
function killed(state: EditorState, from: number, to: number): EditorState {
  const cut = state.cells.slice(from, to)
  if (cut.length === 0) return moved(state, state.cursor)
  const newest = state.last === 'kill' ? (state.kills.at(-1) ?? []) : []
  const rest = state.last === 'kill' ? state.kills.slice(0, -1) : state.kills
  const kill = from < state.cursor ? [...cut, ...newest] : [...newest, ...cut]
  return { ...edited(state, removed(state, from, to)), kills: [...rest, kill].slice(-MAX_KILLS), last: 'kill' }
}

function yanked(state: EditorState, into: Draft): EditorState {
  const kill = state.kills.at(-1)
  if (!kill) return moved(state, state.cursor)
  return { ...edited(state, inserted(into, kill), into !== state), last: 'yank', beforeYank: draftIn(into) }
}

function popped(state: EditorState): EditorState {
  const { beforeYank, kills } = state
  if (state.last !== 'yank' || !beforeYank) return moved(state, state.cursor)
  return yanked({ ...state, kills: [...kills.slice(-1), ...kills.slice(0, -1)] }, beforeYank)
}

function undone(state: EditorState): EditorState {
  const now = moved(state, state.cursor)
  if (state.recalled) return { ...now, ...state.recalled.draft, recalled: undefined }
  const before = state.undo.at(-1)
  return before ? { ...now, ...before, undo: state.undo.slice(0, -1) } : now
}

/** Moves up or down in the text, and beyond its first or last row through the history. */
function vertical(state: EditorState, by: 1 | -1, { history, columns }: EditorContext): EditorState {
  const layout = layoutOf(state.cells, columns)
  const { row, column } = layout.placeOf(state.cursor)
  const goal = state.last === 'vertical' ? (state.goal ?? column) : column
  if (layout.rows[row + by]) return { ...moved(state, layout.cellAt(row + by, goal)), last: 'vertical', goal }
  const index = (state.recalled?.at ?? history.length) + by
  const draft = state.recalled?.draft ?? draftIn(state)
  const entry = history[index]
  if (entry !== undefined) {
    const cells = cellsOf(entry)
    return { ...moved(state, cells.length), cells, recalled: { at: index, draft }, menu: undefined }
  }
  if (state.recalled && by === 1) return { ...moved(state, 0), ...draft, recalled: undefined }
  return moved(state, state.cursor)
}

/** Replaces the text, as by an editor. The change can be undone. */
export const rewritten = (state: EditorState, text: string): EditorState => {
  const cells = cellsOf(text)
  return { ...edited(state, { cells, cursor: cells.length }), menu: undefined, search: undefined }
}

/** Adds the completions found for the current text. */
export function withCompletions(state: EditorState, found: Completions | undefined, takes: Takes = 'none'): EditorState {
  const [best] = found?.items ?? []
  if (!found || !best) return { ...state, menu: undefined }
  const menu: Menu = { ...found, selected: 0, stale: false }
  const isTaken = takes === 'best' || (takes === 'only' && found.items.length === 1)
  return isTaken ? completed({ ...state, menu }, best) : { ...state, menu }
}

type Choosing = EditorState & { readonly menu: Menu }

/** Applies a key to the menu; returns `undefined` if the menu does not handle it. */
function pressInMenu(state: Choosing, { name }: EditorKey): Pressed | undefined {
  const { menu } = state
  if (name === 'escape') return { state: { ...state, menu: undefined, dismissed: true, last: undefined } }
  if (menu.stale) return name === 'up' || name === 'down' ? { state } : undefined
  const item = menu.items[menu.selected]
  if (name === 'up' || name === 'backtab') return { state: chosen(state, -1) }
  if (name === 'down') return { state: chosen(state, 1) }
  if (name === 'tab') return item && { state: completed(state, item) }
  // A completely typed item is submitted instead of completed again.
  if (name !== 'enter' || !item || item.insert.trimEnd() === textOf(state.cells).slice(menu.from, menu.to)) return undefined
  return item.submits ? submitted(completed(state, item)) : { state: completed(state, item) }
}

function chosen(state: Choosing, by: 1 | -1): EditorState {
  const { items, selected } = state.menu
  return { ...state, menu: { ...state.menu, selected: (selected + by + items.length) % items.length }, last: undefined }
}

function completed(state: Choosing, { insert }: Completion): EditorState {
  const { cells, menu } = state
  const to = cellAtOffset(cells, menu.to)
  const goesOn = insert.endsWith(' ') && cells[to] === ' '
  const { cells: next, end } = replaced(cells, cellAtOffset(cells, menu.from), goesOn ? to + 1 : to, cellsOf(insert))
  return { ...edited(state, { cells: next, cursor: end }), menu: undefined }
}

type Searching = EditorState & { readonly search: Search }

/** Applies a key to the history search (Ctrl-R); returns `undefined` for a key that ends it. */
function pressInSearch(state: Searching, key: EditorKey, context: EditorContext): Pressed | undefined {
  const { query, at, origin } = state.search
  const newest = context.history.length
  switch (key.name) {
    case 'text':
      return { state: found(state, query + key.text, (at ?? newest - 1) + 1, context) }
    case 'backspace':
      return { state: found(state, Array.from(query).slice(0, -1).join(''), newest, context) }
    case 'search':
      return { state: found(state, query, at ?? newest, context) }
    case 'interrupt':
    case 'editor':
      return { state: { ...state, ...origin, search: undefined } }
    case 'enter':
      return state.cells.length > 0 ? submitted(kept(state)) : { state: kept(state) }
    default:
      return key.name === 'escape' ? { state: kept(state) } : undefined
  }
}

/** Keeps the entry in the input, as if reached with the arrow keys. */
function kept({ search, ...state }: EditorState): EditorState {
  return search?.at === undefined ? state : { ...state, recalled: { at: search.at, draft: search.origin } }
}

/** Finds the newest entry before `before` that contains the query. The search is case-sensitive if the query has a capital letter. */
function found(state: Searching, query: string, before: number, { history }: EditorContext): EditorState {
  const { search } = state
  if (query === '') return { ...state, ...search.origin, search: { query, origin: search.origin, failed: false } }
  const fold = query === query.toLowerCase() ? (text: string) => text.toLowerCase() : (text: string) => text
  const index = history.slice(0, before).findLastIndex((entry) => fold(entry).includes(query))
  const entry = history[index]
  if (entry === undefined) return { ...state, search: { ...search, query, failed: true } }
  const cells = cellsOf(entry)
  return {
    ...state,
    cells,
    cursor: cellAtOffset(cells, fold(entry).indexOf(query)),
    search: { ...search, query, at: index, failed: false },
  }
}
