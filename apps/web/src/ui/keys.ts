/** Keyboard: j and k move between entries, / searches, Esc leaves, ? shows help. Entries are elements with `data-nav`. */
import { useEffect } from 'react'

export const SHORTCUTS: readonly (readonly [keys: string, what: string])[] = [
  ['j k', 'next or previous entry: session, turn, call'],
  ['Enter', 'open the entry'],
  ['/', 'search sessions'],
  ['c', 'write a message'],
  ['n', 'new session'],
  ['t', 'timeline of the latest turn, and back'],
  ['r', 'reliability'],
  ['Esc', 'close, or leave the field'],
  ['?', 'this list'],
]

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Moves the focus to the next entry of the part of the page that has it, otherwise of the main part. */
function move(by: 1 | -1): void {
  const active = document.activeElement
  const part = active?.closest('[data-part]') ?? document.querySelector('main[data-part]') ?? document
  const entries = [...part.querySelectorAll<HTMLElement>('[data-nav]')].filter((one) => one.offsetParent !== null)
  const at = entries.findIndex((one) => one === active || one.contains(active))
  const next = at === -1 ? (by === 1 ? entries[0] : entries.at(-1)) : entries[at + by]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

export type Actions = Readonly<Record<'/' | 'c' | 'n' | 't' | 'r' | '?' | 'Escape', () => void>>

export function useKeys(actions: Actions): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === 'Escape') {
        if (isTyping(event.target)) (event.target as HTMLElement).blur()
        else actions.Escape()
        return
      }
      if (isTyping(event.target) || document.querySelector('dialog[open]')) return
      if (event.key === 'j' || event.key === 'k') move(event.key === 'j' ? 1 : -1)
      else if (Object.hasOwn(actions, event.key)) actions[event.key as keyof Actions]()
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
}
