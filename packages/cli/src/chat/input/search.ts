/** Ctrl-R: searches the history backwards for the typed text. */
import { cellAtOffset, draftOf } from './draft.ts'
import type { Search } from './shown.ts'
import { type EditorContext, type EditorKey, type EditorState, type Pressed, submitted } from './state.ts'

type Searching = EditorState & { readonly search: Search }

/** What the key does to the search; `undefined` for a key that ends it. */
export function pressInSearch(state: Searching, key: EditorKey, context: EditorContext): Pressed | undefined {
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
    case 'abort':
      return { state: { ...state, ...origin, search: undefined } }
    case 'escape':
      return { state: kept(state) }
    case 'enter':
      return state.cells.length > 0 ? submitted(kept(state)) : { state: kept(state) }
    default:
      return undefined
  }
}

/** The entry stays in the input, as if it had been reached with the arrow keys. */
export function kept({ search, ...state }: EditorState): EditorState {
  return search?.at === undefined ? state : { ...state, recalled: { at: search.at, draft: search.origin } }
}

/** The newest entry before `before` that has the query. Capitals count where the query has one. */
function found(state: Searching, query: string, before: number, { history }: EditorContext): EditorState {
  const { search } = state
  if (query === '') return { ...state, ...search.origin, search: { query, origin: search.origin, failed: false } }
  const fold = query === query.toLowerCase() ? (text: string) => text.toLowerCase() : (text: string) => text
  for (let at = Math.min(before, history.length) - 1; at >= 0; at--) {
    const entry = history[at] as string
    const offset = fold(entry).indexOf(query)
    if (offset === -1) continue
    const { cells } = draftOf(entry)
    return { ...state, cells, cursor: cellAtOffset(cells, offset), search: { ...search, query, at, failed: false } }
  }
  return { ...state, search: { ...search, query, failed: true } }
}
