/** A list to choose from, which typing narrows. */
import { oneLine } from '@mulligan/host/light'
import stringWidth from 'string-width'
import type { Colors } from '../../ui/colors.ts'
import { cutLine } from '../markdown/wrap.ts'
import { edited, FRAME, framed, movedBy, type Panel, type PanelKey, type Size, topOf } from './panel.ts'

export interface ListRow {
  readonly value: string
  readonly description: string
}

export interface ListOptions {
  readonly title: string
  /** Loads the rows; never rejects. */
  readonly load: () => Promise<readonly ListRow[]>
  /** The value in force, which is marked. */
  readonly current: string
  /** Shown until something is typed. */
  readonly hint: string
  readonly colors: Colors
  readonly changed: () => void
  /** Called once, with the chosen value. */
  readonly done: (value?: string) => void
}

export function createListPicker({ title, load, current, hint, colors, changed, done }: ListOptions): Panel {
  let words = ''
  let all: readonly ListRow[] | undefined
  let selected = 0
  let page = 1

  const rows = (): readonly ListRow[] => {
    const wanted = words.toLowerCase().split(/\s+/)
    return (all ?? []).filter(({ value, description }) => {
      const text = `${value} ${description}`.toLowerCase()
      return wanted.every((word) => text.includes(word))
    })
  }

  function narrow(next: string): void {
    words = next
    selected = 0
  }

  function press(key: PanelKey): void {
    const by = movedBy(key, page)
    if (by !== undefined) selected = Math.max(0, Math.min(selected + by, rows().length - 1))
    else if (key.name === 'control' && key.text === 'c') done()
    else if (key.name === 'escape' && words === '') done()
    else if (key.name === 'escape') narrow('')
    else if (key.name === 'enter') {
      const chosen = rows()[selected]
      if (chosen) done(chosen.value)
    } else narrow(edited(words, key))
    changed()
  }

  function body({ columns }: Size): readonly string[] {
    if (!all) return [colors.dim('Looking …')]
    const shown = rows()
    if (shown.length === 0) return ['Nothing in the list has these words.']
    const top = topOf(selected, shown.length, page)
    const names = shown.map(({ value }) => oneLine(value, 120))
    const wide = Math.min(Math.floor(columns / 2), Math.max(...names.map((name) => stringWidth(name))))
    return shown.slice(top, top + page).map(({ value, description }, at) => {
      const isSelected = top + at === selected
      const name = names[top + at] as string
      const gap = ' '.repeat(Math.max(0, wide - stringWidth(name)))
      const line = cutLine(`${isSelected ? '› ' : value === current ? '* ' : '  '}${name}${gap}  ${oneLine(description, 200)}`, columns)
      return isSelected ? colors.bold(line) : line
    })
  }

  void load().then((loaded) => {
    all = loaded
    selected = Math.max(
      0,
      rows().findIndex(({ value }) => value === current),
    )
    changed()
  })

  return {
    key: press,
    lines: (size) => {
      page = Math.max(1, size.rows - FRAME - 2)
      const filter = words === '' ? colors.dim(hint) : `search: ${oneLine(words, 200)}_`
      const count = all === undefined ? '' : ` · ${rows().length}`
      return framed(`${title}${count}`, [cutLine(filter, size.columns), '', ...body(size)], 'Enter choose · Esc close', size, colors)
    },
  }
}
