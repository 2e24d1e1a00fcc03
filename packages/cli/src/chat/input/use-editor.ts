/** The editor in a component: keys in, what they come to out. Completions are looked for beside it; the next key stops the search. */
import { useInput, usePaste } from 'ink'
import { useEffect, useReducer, useRef } from 'react'
import { textOf } from './cells.ts'
import type { Completer } from './completion.ts'
import { offsetOf } from './draft.ts'
import { press, wantsCompletions } from './editor.ts'
import type { PromptHistory } from './history.ts'
import { toKeys } from './keys.ts'
import { withCompletions } from './menu.ts'
import type { Takes } from './shown.ts'
import { type EditorKey, type EditorState, type Effect, NEW_EDITOR } from './state.ts'

export interface PromptProps {
  /** Keys are read, and the cursor is here. One at a time may be. */
  readonly isActive: boolean
  /** Shown while nothing is typed. */
  readonly placeholder?: string
  /** What is sent is added to it. */
  readonly history: PromptHistory
  readonly complete: Completer
  /** With a long paste in full, without blanks at the end, never empty. */
  readonly onSubmit: (text: string) => void
  /** Ctrl-C with nothing typed; with text it clears the text first. Ink's own `exitOnCtrlC` must be off. */
  readonly onInterrupt: () => void
  /** Ctrl-D with nothing typed. */
  readonly onExit: () => void
  /** Ctrl-L. */
  readonly onClear?: () => void
  readonly onChange?: (text: string) => void
}

/** @param columns for the text, without its mark */
export function useEditor(props: PromptProps, columns: number): EditorState {
  const { isActive, history, complete } = props
  // Keys may come faster than they are drawn: each continues from the state that the one before has left.
  const state = useRef(NEW_EDITOR)
  const search = useRef<AbortController>(undefined)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    // Where the cursor belongs is known once the input was drawn.
    if (isActive) redraw()
    return () => search.current?.abort()
  }, [isActive])

  function settled(before: EditorState): void {
    if (state.current.cells !== before.cells) props.onChange?.(textOf(state.current.cells))
    redraw()
  }

  function take(keys: readonly EditorKey[]): void {
    const before = state.current
    for (const key of keys) {
      const { state: next, effect } = press(state.current, key, { history: history.entries(), columns })
      const isMoved = next.cells !== state.current.cells || next.cursor !== state.current.cursor
      state.current = next
      if (effect) perform(effect)
      else if (isMoved) lookUp()
    }
    settled(before)
  }

  function perform(effect: Effect): void {
    switch (effect.type) {
      case 'submit':
        search.current?.abort()
        history.add(effect.text)
        props.onSubmit(effect.text)
        break
      case 'complete':
        lookUp(effect.takes)
        break
      case 'interrupt':
        props.onInterrupt()
        break
      case 'exit':
        props.onExit()
        break
      case 'clear':
        props.onClear?.()
    }
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
    // What can't be completed is typed.
    complete(textOf(state.current.cells), offsetOf(state.current), running.signal).then(settle, () => settle(undefined))
  }

  useInput((input, key) => take(toKeys(input, key)), { isActive })
  usePaste((text) => take([{ name: 'paste', text }]), { isActive })
  return state.current
}
