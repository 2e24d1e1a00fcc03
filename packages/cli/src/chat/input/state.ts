/** The state of the input, and how keys change it. */
import { type Cells, textOf } from './cells.ts'
import { type Draft, EMPTY } from './draft.ts'
import type { Menu, Search, Takes } from './shown.ts'

export type KeyName =
  | 'enter'
  | 'newline'
  | 'tab'
  | 'backtab'
  | 'escape'
  | 'interrupt'
  | 'abort'
  | 'backspace'
  | 'delete'
  | 'delete-or-exit'
  | 'left'
  | 'right'
  | 'word-left'
  | 'word-right'
  | 'line-start'
  | 'line-end'
  | 'up'
  | 'down'
  | 'kill-line'
  | 'kill-line-left'
  | 'kill-word'
  | 'kill-word-left'
  | 'kill-blank-left'
  | 'yank'
  | 'yank-pop'
  | 'undo'
  | 'search'
  | 'clear'
export type EditorKey = { readonly name: 'text' | 'paste'; readonly text: string } | { readonly name: KeyName }

export type Effect =
  | { readonly type: 'submit'; readonly text: string }
  /** Completions are asked for. */
  | { readonly type: 'complete'; readonly takes: Takes }
  | { readonly type: 'interrupt' | 'exit' | 'clear' }

export interface EditorState extends Draft {
  readonly undo: readonly Draft[]
  /** Newest last. */
  readonly kills: readonly Cells[]
  /** What the last key did, where the next one continues it. */
  readonly last?: 'typing' | 'kill' | 'yank' | 'vertical' | 'escape' | undefined
  /** What was there before the yank that can still be changed. */
  readonly beforeYank?: Draft | undefined
  /** The column that up and down keep to. */
  readonly goal?: number | undefined
  /** Which entry of the history is shown, and what was being written. */
  readonly recalled?: { readonly at: number; readonly draft: Draft } | undefined
  readonly search?: Search | undefined
  readonly menu?: Menu | undefined
  /** The menu was closed by Escape: it stays so until the next word. */
  readonly dismissed: boolean
}

export interface EditorContext {
  /** Oldest first. */
  readonly history: readonly string[]
  /** For the text, without its mark. */
  readonly columns: number
}

export interface Pressed {
  readonly state: EditorState
  readonly effect?: Effect
}

export const NEW_EDITOR: EditorState = { ...EMPTY, undo: [], kills: [], dismissed: false }

const MAX_UNDO = 200

/** Only what is written, of a state. */
export const draftIn = ({ cells, cursor }: Draft): Draft => ({ cells, cursor })

/** Another place for the cursor. What a row of keys had in common ends here. */
export function moved(state: EditorState, cursor: number): EditorState {
  return { ...state, cursor, last: undefined, goal: undefined, beforeYank: undefined }
}

/** Another text. What was there can be had back; from the history it is a text of its own from now on. */
export function edited(state: EditorState, { cells, cursor }: Draft, joinsLast = false): EditorState {
  const undo = joinsLast ? state.undo : [...state.undo, draftIn(state)].slice(-MAX_UNDO)
  return { ...moved(state, cursor), cells, undo, recalled: undefined, dismissed: cells.length > 0 && state.dismissed }
}

/** The text is sent, and the input is empty. */
export const submitted = (state: EditorState): Pressed => ({
  state: { ...NEW_EDITOR, kills: state.kills },
  effect: { type: 'submit', text: textOf(state.cells).trimEnd() },
})
