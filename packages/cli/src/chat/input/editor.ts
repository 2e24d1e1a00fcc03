/**
 * The input as a state machine: a key and a state give the next state, and what the program is to do. The keys are those of
 * readline; which bytes mean which key is told in keys.ts.
 */
import { cellsOf, textOf } from './cells.ts'
import { blankStart, type Draft, draftOf, EMPTY, inserted, lineEnd, lineStart, removed, wordEnd, wordStart } from './draft.ts'
import { layoutOf } from './layout.ts'
import { pressInMenu } from './menu.ts'
import { kept, pressInSearch } from './search.ts'
import { draftIn, type EditorContext, type EditorKey, type EditorState, edited, moved, type Pressed, submitted } from './state.ts'

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

/** Whether completions are to be looked for without being asked for. */
export const wantsCompletions = ({ cells, search, recalled, dismissed }: EditorState): boolean =>
  cells.length > 0 && !search && !recalled && !dismissed

function pressInText(state: EditorState, key: EditorKey, context: EditorContext): Pressed {
  const { cells, cursor } = state
  switch (key.name) {
    case 'text':
      return { state: typed(state, key.text) }
    case 'paste':
      return { state: edited(state, inserted(state, cellsOf(key.text))) }
    case 'newline':
      return { state: edited(state, inserted(state, ['\n'])) }
    case 'enter':
      return entered(state)
    case 'tab':
      // Where a menu is on its way, it is the same Tab that would come after it.
      return {
        state: { ...moved(state, cursor), dismissed: false },
        effect: { type: 'complete', takes: wantsCompletions(state) ? 'best' : 'only' },
      }
    case 'escape':
      if (state.last === 'escape') return { state: cleared(state) }
      return { state: { ...moved(state, cursor), last: 'escape' } }
    case 'interrupt':
      return cells.length > 0 ? { state: cleared(state) } : { state, effect: { type: 'interrupt' } }
    case 'clear':
      return { state, effect: { type: 'clear' } }
    case 'delete-or-exit':
      return cells.length > 0 ? { state: without(state, cursor, cursor + 1) } : { state, effect: { type: 'exit' } }
    case 'delete':
      return { state: without(state, cursor, cursor + 1) }
    case 'backspace':
      return { state: without(state, cursor - 1, cursor) }
    case 'left':
      return { state: moved(state, Math.max(0, cursor - 1)) }
    case 'right':
      return { state: moved(state, Math.min(cells.length, cursor + 1)) }
    case 'word-left':
      return { state: moved(state, wordStart(state)) }
    case 'word-right':
      return { state: moved(state, wordEnd(state)) }
    case 'line-start':
      return { state: moved(state, lineStart(state)) }
    case 'line-end':
      return { state: moved(state, lineEnd(state)) }
    case 'up':
    case 'down':
      return { state: vertical(state, key.name === 'up' ? -1 : 1, context) }
    case 'kill-line':
      // at the end of a line the line's end is what is left of it
      return { state: killed(state, cursor, Math.max(lineEnd(state), Math.min(cursor + 1, cells.length))) }
    case 'kill-line-left':
      return { state: killed(state, Math.min(lineStart(state), Math.max(0, cursor - 1)), cursor) }
    case 'kill-word':
      return { state: killed(state, cursor, wordEnd(state)) }
    case 'kill-word-left':
      return { state: killed(state, wordStart(state), cursor) }
    case 'kill-blank-left':
      return { state: killed(state, blankStart(state), cursor) }
    case 'yank':
      return { state: yanked(state, state) }
    case 'yank-pop':
      return { state: popped(state) }
    case 'undo':
      return { state: undone(state) }
    case 'search':
      return { state: { ...moved(state, cursor), menu: undefined, search: { query: '', origin: draftIn(state), failed: false } } }
    case 'backtab':
    case 'abort':
      return { state: moved(state, cursor) }
  }
}

const cleared = (state: EditorState): EditorState => ({ ...edited(state, EMPTY), menu: undefined })

/** A word that is typed is taken back as one. */
function typed(state: EditorState, text: string): EditorState {
  const ends = /\s/.test(text)
  const next = edited(state, inserted(state, cellsOf(text)), state.last === 'typing' && !ends)
  return { ...next, last: 'typing', dismissed: state.dismissed && !ends }
}

function without(state: EditorState, from: number, to: number): EditorState {
  if (from < 0 || to > state.cells.length) return moved(state, state.cursor)
  return edited(state, removed(state, from, to))
}

function entered(state: EditorState): Pressed {
  const text = textOf(state.cells)
  const slashes = /\\+$/.exec(text)?.[0].length ?? 0
  if (slashes % 2 === 1 && state.cursor === state.cells.length)
    return { state: edited(state, inserted(removed(state, state.cursor - 1, state.cursor), ['\n'])) }
  return text.trim() === '' ? { state: cleared(state) } : submitted(state)
}

/** Kills that follow on one another are yanked as one. */
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
  const at = moved(state, state.cursor)
  if (state.recalled) return { ...at, ...state.recalled.draft, recalled: undefined }
  const before = state.undo.at(-1)
  return before ? { ...at, ...before, undo: state.undo.slice(0, -1) } : at
}

/** Within the text first; from its first and last row on, through the history. */
function vertical(state: EditorState, by: 1 | -1, { history, columns }: EditorContext): EditorState {
  const layout = layoutOf(state.cells, columns)
  const { row, column } = layout.placeOf(state.cursor)
  const goal = state.last === 'vertical' ? (state.goal ?? column) : column
  if (layout.rows[row + by]) return { ...moved(state, layout.cellAt(row + by, goal)), last: 'vertical', goal }
  const at = (state.recalled?.at ?? history.length) + by
  const draft = state.recalled?.draft ?? draftIn(state)
  const entry = history[at]
  if (entry !== undefined) return { ...moved(state, 0), ...draftOf(entry), recalled: { at, draft }, menu: undefined }
  if (state.recalled && by === 1) return { ...moved(state, 0), ...draft, recalled: undefined }
  return moved(state, state.cursor)
}
