/** A panel fills the screen until it is closed, such as the list of sessions. It is independent of rendering. */
import type { Key } from 'ink'
import type { Colors } from '../../ui/colors.ts'
import { cutLine } from '../markdown/wrap.ts'

export interface Size {
  readonly columns: number
  readonly rows: number
}

export interface Panel {
  /** Returns at most `rows` lines of at most `columns` columns, sanitized for the terminal. */
  readonly lines: (size: Size) => readonly string[]
  readonly key: (key: PanelKey) => void
}

export type PanelKey =
  | { readonly name: 'text'; readonly text: string }
  /** A letter with Ctrl. */
  | { readonly name: 'control'; readonly text: string }
  | {
      readonly name: 'up' | 'down' | 'left' | 'right' | 'page-up' | 'page-down' | 'home' | 'end' | 'enter' | 'escape' | 'backspace'
    }

const NAMED = {
  escape: 'escape',
  return: 'enter',
  upArrow: 'up',
  downArrow: 'down',
  leftArrow: 'left',
  rightArrow: 'right',
  pageUp: 'page-up',
  pageDown: 'page-down',
  home: 'home',
  end: 'end',
  backspace: 'backspace',
  delete: 'backspace',
} as const satisfies Partial<Record<keyof Key, PanelKey['name']>>

export function panelKeys(input: string, key: Key): readonly PanelKey[] {
  const named = (Object.keys(NAMED) as (keyof typeof NAMED)[]).find((one) => key[one])
  if (named) return [{ name: NAMED[named] }]
  if (key.ctrl) return [{ name: 'control', text: input.toLowerCase() }]
  if (key.meta || key.tab) return []
  // Keys that arrive together are reported as one text.
  return (input.match(/[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+/g) ?? []).map((piece): PanelKey => {
    const code = piece.charCodeAt(0)
    if (code > 0x1f && code !== 0x7f) return { name: 'text', text: piece }
    if (code === 0x7f) return { name: 'backspace' }
    return code === 0x0d ? { name: 'enter' } : { name: 'control', text: String.fromCharCode(code + 0x60) }
  })
}

/** Returns the index of the first of `room` visible rows, so that the selected one is among them. */
export const topOf = (selected: number, count: number, room: number): number =>
  Math.max(0, Math.min(selected - Math.floor(room / 2), count - room))

/** Frames the body of a panel: its title above, what the keys do below. The body fills the rows between. */
export function framed(title: string, body: readonly string[], foot: string, { columns, rows }: Size, { bold, dim }: Colors) {
  const room = Math.max(0, rows - FRAME)
  const filled = [...body.slice(0, room), ...Array.from({ length: Math.max(0, room - body.length) }, () => '')]
  return [bold(cutLine(title, columns)), '', ...filled, '', dim(cutLine(foot, columns))].slice(-rows)
}

/** Rows that the frame takes. */
export const FRAME = 4

/** Returns how far a key moves the selection of a list, if it does. @param page rows that are visible */
export function movedBy({ name }: PanelKey, page: number): number | undefined {
  const moves: Partial<Record<PanelKey['name'], number>> = {
    ...{ up: -1, down: 1, 'page-up': -page, 'page-down': page, home: -Infinity, end: Infinity },
  }
  return moves[name]
}

/** Returns a text that is being typed, after a key. */
export const edited = (text: string, key: PanelKey): string =>
  key.name === 'text'
    ? text + key.text
    : key.name === 'backspace'
      ? [...text].slice(0, -1).join('')
      : key.name === 'control' && key.text === 'u'
        ? ''
        : text
