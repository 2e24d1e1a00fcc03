/** The list of sessions: search, continue, rename, export and delete. */
import type { SessionRow } from '@mulligan/agent'
import { oneLine } from '@mulligan/host/light'
import type { Colors } from '../../ui/colors.ts'
import { localTime, plural } from '../../ui/text.ts'
import { cutLine } from '../markdown/wrap.ts'
import { edited, FRAME, framed, movedBy, type Panel, type PanelKey, type Size, topOf } from './panel.ts'

export interface SessionActions {
  /** Returns the sessions with these words, best first, or all, latest first. */
  readonly find: (words: string, limit: number) => Promise<readonly SessionRow[]>
  /** What a search has found in a session, on one line; empty if the title shows it. */
  readonly found: (session: SessionRow) => string
  readonly rename: (id: string, title: string) => Promise<void>
  /** Each returns what happened, for the user. */
  readonly export: (id: string) => Promise<string>
  readonly delete: (id: string) => Promise<string>
}

export interface PickerOptions {
  readonly actions: SessionActions
  /** The session of the chat. */
  readonly current: string | undefined
  readonly colors: Colors
  readonly changed: () => void
  /** Called once, with the chosen session. */
  readonly done: (id?: string) => void
}

/** Number of sessions loaded first; more are loaded when the end of the list comes near. */
const FIRST = 100

export function createSessionPicker({ actions, current, colors, changed, done }: PickerOptions): Panel {
  let words = ''
  let limit = FIRST
  let rows: readonly SessionRow[] | undefined
  let selected = 0
  let page = 1
  let says = ''
  /** What is being asked about the selected session, and what has been typed. */
  let asks: { readonly what: 'title'; readonly text: string } | { readonly what: 'delete' } | undefined
  let loading = 0

  /** @param keeps whether the selected session stays selected */
  async function load(keeps: boolean): Promise<void> {
    const mine = ++loading
    const found = await actions.find(words, limit).catch(failed)
    if (mine !== loading || !found) return
    const kept = keeps ? rows?.[selected]?.id : undefined
    const at = found.findIndex(({ id }) => id === kept)
    rows = found
    select(at === -1 ? selected : at)
  }

  function failed(error: unknown): undefined {
    says = colors.red(oneLine(error instanceof Error ? error.message : String(error), 300))
    changed()
  }

  function select(at: number): void {
    const count = rows?.length ?? 0
    selected = Math.max(0, Math.min(at, count - 1))
    if (count === limit && selected > count - page * 2) {
      limit *= 4
      void load(true)
    }
    changed()
  }

  function search(next: string): void {
    words = next
    selected = 0
    limit = FIRST
    void load(false)
  }

  async function act(work: Promise<string>): Promise<void> {
    says = oneLine((await work.catch(failed)) ?? says, 300)
    await load(true)
  }

  function answer(key: PanelKey, row: SessionRow): void {
    if (asks?.what === 'delete') {
      asks = undefined
      if (key.name === 'text' && key.text.toLowerCase() === 'y') void act(actions.delete(row.id))
      else says = 'Nothing was deleted.'
    } else if (asks && key.name === 'enter') {
      const { text } = asks
      asks = undefined
      if (text.trim() !== '') void act(actions.rename(row.id, text.trim()).then(() => `Renamed ${row.id}.`))
    } else if (asks && key.name === 'escape') asks = undefined
    else if (asks) asks = { ...asks, text: edited(asks.text, key) }
  }

  function control(letter: string, row: SessionRow | undefined): void {
    if (letter === 'c') done()
    else if (letter === 'u') search('')
    else if (!row) return
    else if (letter === 'r') asks = { what: 'title', text: row.title }
    else if (letter === 'e') void act(actions.export(row.id))
    else if (letter === 'd' && row.id === current)
      says = 'This is the session of the chat. /clear starts another one; then it can be deleted.'
    else if (letter === 'd') asks = { what: 'delete' }
  }

  function press(key: PanelKey): void {
    const row = rows?.[selected]
    says = ''
    const by = movedBy(key, page)
    if (asks && row) answer(key, row)
    else if (by !== undefined) select(selected + by)
    else if (key.name === 'control') control(key.text, row)
    else if (key.name === 'escape') {
      if (words === '') done()
      else search('')
    } else if (key.name === 'enter') {
      if (row) done(row.id)
    } else search(edited(words, key))
    changed()
  }

  function foot(row: SessionRow | undefined): string {
    if (asks?.what === 'title') return 'Enter saves the title · Esc keeps the old one'
    if (asks) return `y deletes ${row?.id} for good · any other key keeps it`
    return 'Enter continue · Ctrl-R rename · Ctrl-E export · Ctrl-D delete · Esc close'
  }

  function body(size: Size): readonly string[] {
    if (!rows) return []
    const none = words === '' ? 'There are no sessions in this folder yet.' : 'No session has these words in its title, prompts or answers.'
    if (rows.length === 0) return [none]
    const top = topOf(selected, rows.length, page)
    return rows.slice(top, top + page).map((row, at) => {
      const { id, title, turns, updatedAt } = row
      const found = actions.found(row)
      const isSelected = top + at === selected
      const mark = isSelected ? '› ' : id === current ? '* ' : '  '
      const name =
        isSelected && asks?.what === 'title' ? `${oneLine(asks.text, 200)}_` : `${oneLine(title, 200)}${found === '' ? '' : ` · ${found}`}`
      const line = cutLine(`${mark}${localTime(updatedAt)}  ${plural(turns, 'turn').padEnd(9)}  ${name}`, size.columns)
      return isSelected ? colors.bold(line) : line
    })
  }

  void load(false)
  return {
    key: press,
    lines: (size) => {
      page = Math.max(1, size.rows - FRAME - 2)
      const count = rows === undefined ? '' : ` · ${rows.length}${rows.length === limit ? ' or more' : ''}`
      const row = rows?.[selected]
      const search = words === '' ? colors.dim('search: type words of a title, a prompt or an answer') : `search: ${oneLine(words, 200)}_`
      const lines = [cutLine(search, size.columns), '', ...body(size)]
      return framed(`Sessions${count}`, lines, says || (asks?.what === 'delete' ? colors.yellow(foot(row)) : foot(row)), size, colors)
    },
  }
}
