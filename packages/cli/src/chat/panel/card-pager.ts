/** Shows the calls of the conversation in full, one at a time: input, repairs, output, and what the model read. */
import { render } from '@mulligan/core'
import type { Repair } from '@mulligan/core/executor'
import { oneLine, sanitize } from '@mulligan/host/light'
import type { Colors } from '../../ui/colors.ts'
import { type ResultEvent, repairText } from '../../ui/events-to-lines.ts'
import { thousands } from '../../ui/text.ts'
import { markdownLines } from '../markdown/lines.ts'
import { cutLine, wrapped } from '../markdown/wrap.ts'
import { FRAME, framed, type Panel, type PanelKey, topOf } from './panel.ts'

/** A finished call. */
export interface CallDetail {
  /** What it acted on, in one line. */
  readonly head: string
  readonly input: unknown
  readonly repairs: readonly Repair[]
  readonly event: ResultEvent
}

/** @param calls the calls so far; more can come while it is open */
export function createCardPager(calls: () => readonly CallDetail[], colors: Colors, changed: () => void, done: () => void): Panel {
  let at = calls().length - 1
  let top = 0
  let page = 1
  /** Whether the calls are listed, to choose one. */
  let isListing = false
  let shown: { readonly at: number; readonly columns: number; readonly lines: readonly string[] } | undefined

  function linesFor(columns: number): readonly string[] {
    const call = calls()[at]
    if (!call) return []
    if (shown?.at !== at || shown.columns !== columns) shown = { at, columns, lines: detailLines(call, columns, colors) }
    return shown.lines
  }

  function turn(by: number): void {
    at = Math.max(0, Math.min(at + by, calls().length - 1))
    top = 0
  }

  const scrolls: Readonly<Record<string, () => number>> = {
    up: () => -1,
    down: () => 1,
    enter: () => 1,
    k: () => -1,
    j: () => 1,
    'page-up': () => -page,
    'page-down': () => page,
    b: () => -page,
    ' ': () => page,
    home: () => -Infinity,
    end: () => Infinity,
    g: () => -Infinity,
    G: () => Infinity,
  }

  /** Applies a key to the list. @returns whether it was meant for it */
  function pressInList(name: string): boolean {
    const by = { up: -1, k: -1, down: 1, j: 1, 'page-up': -page, 'page-down': page, home: -Infinity, end: Infinity }[name]
    if (by !== undefined) turn(by)
    else if (name === 'enter' || name === 'escape' || name === 'l') isListing = false
    else return false
    return true
  }

  function press(key: PanelKey): void {
    const name = key.name === 'text' ? key.text : key.name
    const isOfList = isListing && pressInList(name)
    if (!isOfList && name === 'l') isListing = true
    else if (isOfList) top = 0
    else if (key.name === 'escape' || name === 'q' || (key.name === 'control' && 'oc'.includes(key.text))) done()
    else if (name === 'left' || name === 'p') turn(-1)
    else if (name === 'right' || name === 'n') turn(1)
    else top += scrolls[name]?.() ?? 0
    changed()
  }

  return {
    key: press,
    lines: (size) => {
      page = Math.max(1, size.rows - FRAME)
      if (isListing)
        return framed(
          `Calls · ${calls().length}`,
          listLines(calls(), at, page, size.columns, colors),
          '↑↓ choose · Enter opens · Esc back',
          size,
          colors,
        )
      const lines = linesFor(size.columns)
      top = Math.max(0, Math.min(top, lines.length - page))
      const last = Math.min(top + page, lines.length)
      const foot = `${lines.length > page ? `lines ${top + 1}–${last} of ${lines.length} · ↑↓ PgUp PgDn scroll · ` : ''}← → l other calls · Esc close`
      return framed(`Call ${at + 1} of ${calls().length} · ${calls()[at]?.head ?? ''}`, lines.slice(top, top + page), foot, size, colors)
    },
  }
}

function listLines(
  calls: readonly CallDetail[],
  selected: number,
  room: number,
  columns: number,
  { bold, red }: Colors,
): readonly string[] {
  const top = topOf(selected, calls.length, room)
  return calls.slice(top, top + room).map(({ head, event }, row) => {
    const isSelected = top + row === selected
    const line = cutLine(`${isSelected ? '› ' : '  '}${event.result.ok ? '✓' : '✗'} ${head}`, columns)
    return isSelected ? bold(line) : event.result.ok ? line : red(line)
  })
}

function detailLines({ input, repairs, event }: CallDetail, columns: number, colors: Colors): readonly string[] {
  const { result, attempts, durationMs } = event
  const heading = (text: string): readonly string[] => ['', colors.bold(text)]
  const plain = (text: string): readonly string[] =>
    sanitize(text)
      .replaceAll('\t', '    ')
      .split('\n')
      .flatMap((line) => wrapped(line, columns))
  const about = [
    result.ok ? 'ok' : `${result.status} ${result.errorType}`,
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(attempts > 0 ? [`${thousands(Math.round(durationMs))} ms`] : []),
  ].join(' · ')
  const read = render(result)
  const display = result.display === undefined ? [] : markdownLines(sanitize(result.display), { columns, colors })
  return [
    colors.dim(about),
    ...heading('Input'),
    ...plain(inputText(input)),
    ...(repairs.length > 0 ? [...heading('Repairs'), ...repairs.flatMap((one) => plain(`${one.kind} ${repairText(one)}`))] : []),
    ...(display.length > 0 ? [...heading('Shown to you'), ...display] : []),
    ...heading('Read by the model'),
    ...plain(read),
  ]
}

/** Returns an input with its texts as they are, one parameter after the other. */
function inputText(input: unknown): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return String(JSON.stringify(input, undefined, 2) ?? '')
  return Object.entries(input)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '')
      return text.includes('\n') ? `${oneLine(name, 80)}:\n${text}` : `${oneLine(name, 80)}: ${text}`
    })
    .join('\n')
}
