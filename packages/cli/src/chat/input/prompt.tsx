/** The chat input: the text with its mark and cursor, and the completion menu below it. */
import {
  Box,
  type CursorPosition,
  type DOMElement,
  measureElement,
  Text,
  useCursor,
  useInput,
  usePaste,
  useStdout,
  useWindowSize,
} from 'ink'
import { type ReactNode, type RefObject, useEffect, useReducer, useRef } from 'react'
import { type Colors, colorsFor } from '../../ui/colors.ts'
import { type CellPosition, cutTo, layoutOf, type Seen, seenRows, textOf } from './cells.ts'
import type { Completer, Takes } from './completion.ts'
import { press, rewritten, wantsCompletions, withCompletions } from './editor.ts'
import type { PromptHistory } from './history.ts'
import { type EditorKey, toKeys } from './keys.ts'
import { MenuView } from './menu.tsx'
import { type EditorState, type Effect, NEW_EDITOR } from './state.ts'

export interface PromptProps {
  /** Whether it reads keys and shows the cursor. Only one prompt may be active at a time. */
  readonly isActive: boolean
  /** Shown while the input is empty. */
  readonly placeholder?: string
  /** The history, to which submitted prompts are added. */
  readonly history: PromptHistory
  readonly complete: Completer
  /** Called with the submitted text: long pastes in full, trailing blanks removed, never empty. */
  readonly onSubmit: (text: string) => void
  /** Called on Ctrl-C with empty input; otherwise Ctrl-C clears the text. Ink's own `exitOnCtrlC` must be off. */
  readonly onInterrupt: () => void
  /** Called on Ctrl-D with empty input. */
  readonly onExit: () => void
  /** Called on Ctrl-O. */
  readonly onExpand?: () => void
  /** Called on Ctrl-Z. */
  readonly onSuspend?: (() => void) | undefined
  /** Called on Ctrl-V. Resolves with what is inserted; undefined inserts nothing. */
  readonly onImage?: () => Promise<string | undefined>
  /** Called on Ctrl-L. */
  readonly onClear?: () => void
  /** Called on Ctrl-G. Resolves with the new text; undefined keeps the text. */
  readonly onEdit?: (text: string) => Promise<string | undefined>
  /** Called on Shift-Tab without an open menu. */
  readonly onCycle?: () => void
  readonly onChange?: (text: string) => void
  /** A text that is put into the input if that is empty, once for each object. */
  readonly draft?: { readonly text: string } | undefined
  /** Called on each key in empty input without a menu or a search. Returns whether it was handled. */
  readonly onEmptyKey?: (key: EditorKey) => boolean
  /** Typed when Escape is pressed twice in empty input. */
  readonly onTwoEscapes?: string
  /** Returns what is inserted for a paste. Default: the text. */
  readonly onPaste?: (text: string) => string
  /** Called on every key and paste. */
  readonly onKey?: () => void
}

const MARK_WIDTH = 2
const MAX_MENU_ROWS = 8

/** Uses the full width of the terminal and at most half of its height, plus the menu. */
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
  const searchText = search && `  ${search.failed ? 'not there' : 'search'}: ${search.query}  (Ctrl-R older, Esc keep)`
  return (
    <Box flexDirection="column" flexShrink={0} ref={box}>
      {seen.rows.map((row, at) => (
        <Text key={row.from} wrap="truncate-end">
          {markOf(seen, at, cells[0] === '!', colors)}
          {cells.length === 0 ? colors.dim(cutTo(placeholder, room)) : isActive ? row.text : colors.dim(row.text)}
        </Text>
      ))}
      {searchText && <Text wrap="truncate-end">{colors.dim(searchText)}</Text>}
      {isActive && menu && left > 0 && <MenuView menu={menu} columns={columns} most={Math.min(MAX_MENU_ROWS, left)} colors={colors} />}
      {isActive && <Cursor box={box} place={{ row: place.row - seen.top, column: place.column + MARK_WIDTH }} />}
    </Box>
  )
}

/** Returns the mark of a row: shows where the text begins, that it is a shell command, or that more rows are hidden. */
function markOf({ top, more, rows }: Seen, at: number, isShell: boolean, colors: Colors): string {
  if (at === 0 && more.above) return colors.dim('↑ ')
  if (at === rows.length - 1 && more.below) return colors.dim('↓ ')
  if (top + at > 0) return ' '.repeat(MARK_WIDTH)
  return isShell ? colors.yellow('$ ') : colors.cyan('> ')
}

/** Places the terminal's own cursor, so that it is visible without colors and input methods and screen readers can find it. */
function Cursor({ box, place }: { readonly box: RefObject<DOMElement | null>; readonly place: CellPosition }): ReactNode {
  const { setCursorPosition } = useCursor()
  setCursorPosition(box.current ? positionIn(box.current, place) : undefined)
  return null
}

/**
 * Computes the position lazily. Ink reads it when writing, after the layout, because content above may have grown since this was rendered.
 */
const positionIn = (box: DOMElement, { row, column }: CellPosition): CursorPosition => ({
  get x() {
    return measureElement(box).x + column
  },
  get y() {
    return measureElement(box).y + row
  },
})

const isIdle = ({ cells, menu, search }: EditorState): boolean => cells.length === 0 && !menu && !search

/**
 * Turns keys into state and effects. Completions are looked up in the background; the next key cancels the lookup.
 * @param columns width of the text, without its mark
 */
function useEditor(props: PromptProps, columns: number): EditorState {
  const { isActive, history, complete } = props
  // Keys can arrive faster than renders, so each one continues from the latest state.
  const state = useRef(NEW_EDITOR)
  const search = useRef<AbortController>(undefined)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    // The cursor position is known only after the input has been rendered.
    if (isActive) redraw()
    return () => search.current?.abort()
  }, [isActive])

  const given = useRef<PromptProps['draft']>(undefined)
  useEffect(() => {
    if (given.current === props.draft) return
    given.current = props.draft
    if (props.draft && state.current.cells.length === 0) take([{ name: 'paste', text: props.draft.text }])
  })

  function settled(before: EditorState): void {
    if (state.current.cells !== before.cells) props.onChange?.(textOf(state.current.cells))
    redraw()
  }

  function take(keys: readonly EditorKey[]): void {
    const before = state.current
    for (const key of keys) {
      // Leaving the list that two escapes opened leaves its command, too.
      const leaves = key.name === 'escape' && state.current.menu && textOf(state.current.cells) === props.onTwoEscapes
      const { state: pressed, effect } = press(state.current, key, { history: history.entries(), columns })
      const next = leaves ? rewritten(pressed, '') : pressed
      const isMoved = next.cells !== state.current.cells || next.cursor !== state.current.cursor
      state.current = next
      if (effect) perform(effect)
      else if (isMoved) lookUp()
    }
    settled(before)
  }

  function perform(effect: Effect): void {
    if (effect.type === 'submit') {
      search.current?.abort()
      history.add(effect.text)
      props.onSubmit(effect.text)
    } else if (effect.type === 'complete') lookUp(effect.takes)
    else if (effect.type === 'interrupt') props.onInterrupt()
    else if (effect.type === 'exit') props.onExit()
    else if (effect.type === 'expand') props.onExpand?.()
    else if (effect.type === 'suspend') props.onSuspend?.()
    else if (effect.type === 'image') void props.onImage?.().then((text) => text !== undefined && take([{ name: 'paste', text }]))
    else if (effect.type === 'editor') void props.onEdit?.(effect.text).then(rewrite)
    else if (effect.type === 'escape') {
      if (props.onTwoEscapes) take([{ name: 'text', text: props.onTwoEscapes }])
    } else props.onClear?.()
  }

  function rewrite(text: string | undefined): void {
    if (text === undefined) return
    const before = state.current
    state.current = rewritten(before, text)
    settled(before)
  }

  function lookUp(takes?: Takes): void {
    search.current?.abort()
    if (!takes && !wantsCompletions(state.current)) {
      state.current = { ...state.current, menu: undefined }
      return
    }
    const running = new AbortController()
    search.current = running
    const settle = (found: Awaited<ReturnType<typeof complete>>): void => {
      if (running.signal.aborted) return
      const before = state.current
      state.current = withCompletions(before, found, takes)
      if (state.current.cells !== before.cells) lookUp()
      settled(before)
    }
    const { cells, cursor } = state.current
    // If completion fails, keep the typed text.
    complete(textOf(cells), textOf(cells.slice(0, cursor)).length, running.signal).then(settle, () => settle(undefined))
  }

  function typed(keys: readonly EditorKey[]): void {
    const [first] = keys
    const isHandled = first !== undefined && isIdle(state.current) && props.onEmptyKey?.(first) === true
    props.onKey?.()
    if (isHandled) return
    if (first?.name === 'backtab' && !state.current.menu) props.onCycle?.()
    else take(keys)
  }

  useInput((input, key) => typed(toKeys(input, key)), { isActive })
  usePaste(
    (text) => {
      props.onKey?.()
      take([{ name: 'paste', text: props.onPaste?.(text) ?? text }])
    },
    { isActive },
  )
  return state.current
}
