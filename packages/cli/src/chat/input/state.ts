/** The input state, and the functions that move the cursor and edit the text. */
import { type Cells, isFolded, replaced, textOf } from './cells.ts'
import type { Completions, Takes } from './completion.ts'

export interface Draft {
  readonly cells: Cells
  /** The cursor, as the index of the cell after it, from 0 to the number of cells. */
  readonly cursor: number
}

export interface Menu extends Completions {
  readonly selected: number
  /** Whether the text has changed since: the menu stays visible until it is replaced, but ignores keys. */
  readonly stale: boolean
}

export interface Search {
  readonly query: string
  /** Index of the entry shown. */
  readonly at?: number
  /** The text before the search. */
  readonly origin: Draft
  readonly failed: boolean
}

export type Effect =
  | { readonly type: 'submit'; readonly text: string }
  /** Requests completions. */
  | { readonly type: 'complete'; readonly takes: Takes }
  /** Edits the text in the user's own editor. */
  | { readonly type: 'editor'; readonly text: string }
  | { readonly type: 'interrupt' | 'exit' | 'clear' | 'escape' | 'expand' | 'image' | 'suspend' }

export interface EditorState extends Draft {
  readonly undo: readonly Draft[]
  /** Newest last. */
  readonly kills: readonly Cells[]
  /** The kind of the last key, if the next one may continue it. */
  readonly last?: 'typing' | 'kill' | 'yank' | 'vertical' | 'escape' | 'chord' | undefined
  /** The text before the latest yank, while that yank can still be replaced. */
  readonly beforeYank?: Draft | undefined
  /** The column that up and down aim for. */
  readonly goal?: number | undefined
  /** The history entry shown, and the draft that it replaced. */
  readonly recalled?: { readonly at: number; readonly draft: Draft } | undefined
  readonly search?: Search | undefined
  readonly menu?: Menu | undefined
  /** Whether Escape closed the menu. It stays closed until the next word. */
  readonly dismissed: boolean
}

export interface Pressed {
  readonly state: EditorState
  readonly effect?: Effect
}

export const NEW_EDITOR: EditorState = { cells: [], cursor: 0, undo: [], kills: [], dismissed: false }

const MAX_UNDO = 200

/** Returns only the text and cursor of a state. */
export const draftIn = ({ cells, cursor }: Draft): Draft => ({ cells, cursor })

/** Moves the cursor and ends a series such as consecutive kills. */
export function moved(state: EditorState, cursor: number): EditorState {
  return { ...state, cursor, last: undefined, goal: undefined, beforeYank: undefined }
}

/** Changes the text; the change can be undone. Text recalled from the history becomes a new draft. */
export function edited(state: EditorState, { cells, cursor }: Draft, joinsLast = false): EditorState {
  const undo = joinsLast ? state.undo : [...state.undo, draftIn(state)].slice(-MAX_UNDO)
  return { ...moved(state, cursor), cells, undo, recalled: undefined, dismissed: cells.length > 0 && state.dismissed }
}

/** Sends the text and empties the input. */
export const submitted = (state: EditorState): Pressed => ({
  state: { ...NEW_EDITOR, kills: state.kills },
  effect: { type: 'submit', text: textOf(state.cells).trimEnd() },
})

/** Inserts cells at the cursor. */
export function inserted({ cells, cursor }: Draft, more: Cells): Draft {
  const { cells: all, end } = replaced(cells, cursor, cursor, more)
  return { cells: all, cursor: end }
}

/** Removes the cells from `from` to `to`. */
export function removed({ cells }: Draft, from: number, to: number): Draft {
  const { cells: rest, end } = replaced(cells, from, to, [])
  return { cells: rest, cursor: end }
}

export const lineStart = ({ cells, cursor }: Draft): number => (cursor === 0 ? 0 : cells.lastIndexOf('\n', cursor - 1) + 1)

export function lineEnd({ cells, cursor }: Draft): number {
  const end = cells.indexOf('\n', cursor)
  return end === -1 ? cells.length : end
}

type Is = (cell: string | undefined) => boolean

const isWord: Is = (cell = '') => !isFolded(cell) && /^[\p{L}\p{N}\p{M}_]/u.test(cell)
const isNoBlank: Is = (cell = ' ') => !isFolded(cell) && /^\S/.test(cell)

/** Returns the edge of a word, skipping separators first. A long paste counts as one word. */
function wordEdge({ cells, cursor }: Draft, by: 1 | -1, inWord: Is): number {
  const next = (at: number): string | undefined => cells[by === 1 ? at : at - 1]
  let at = cursor
  while (next(at) !== undefined && !inWord(next(at)) && !isFolded(next(at) ?? '')) at += by
  if (isFolded(next(at) ?? '')) return at + by
  while (inWord(next(at))) at += by
  return at
}

export const wordEnd = (draft: Draft): number => wordEdge(draft, 1, isWord)
export const wordStart = (draft: Draft): number => wordEdge(draft, -1, isWord)
/** Returns the start of the previous word, where words are separated only by blanks. */
export const blankStart = (draft: Draft): number => wordEdge(draft, -1, isNoBlank)
