/** Renders a unified diff for the terminal: line numbers, the words that differ, and both sides next to each other if there is room. Pure. */
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import type { Colors } from './colors.ts'
import { type DiffLine, type DiffRow, parseDiff, runOf } from './diff-parse.ts'
import { type CodePart, codeParts } from './highlight.ts'

export interface DiffLook {
  /** Undefined: no limit. */
  readonly columns: number | undefined
  readonly colors: Colors
  /** What happens to lines that are too long. */
  readonly long: 'wrap' | 'cut'
  /** Whether the name of a single file that existed before is left out, because it is shown already. Default: no. */
  readonly isNamed?: boolean
}

/** Columns from which the old and the new side are next to each other. */
export const SIDE_BY_SIDE = 140

/** Columns, besides those of the line numbers, from which line numbers are shown. */
const MIN_COLUMNS_BESIDE_NUMBERS = 12

/** Returns the lines of a diff that is sanitized for the terminal. */
export function diffLines(diff: string, look: DiffLook): readonly string[] {
  const all = parseDiff(diff)
  const files = all.filter(({ kind }) => kind === 'file')
  const isLeftOut = (row: DiffRow): boolean => look.isNamed === true && row.kind === 'file' && files.length === 1 && !/ \(|→/.test(row.text)
  const rows = all.filter((row) => !isLeftOut(row))
  const paint = painted(rows, look.colors)
  const numbers = rows.flatMap((row) => (isLine(row) && row.now !== undefined ? [`${Math.max(row.old ?? 0, row.now)}`.length] : []))
  const longest = numbers.reduce((most, length) => Math.max(most, length), 0)
  const width = (look.columns ?? Infinity) - longest < MIN_COLUMNS_BESIDE_NUMBERS ? 0 : longest
  const isBoth =
    (look.columns ?? 0) >= SIDE_BY_SIDE && rows.some(({ kind }) => kind === 'added') && rows.some(({ kind }) => kind === 'removed')
  return isBoth ? sideBySide(rows, paint, width, look) : rows.flatMap((row) => unified(row, paint, width, look))
}

const isLine = (row: DiffRow): row is DiffLine => row.kind === 'same' || row.kind === 'added' || row.kind === 'removed'

function unified(row: DiffRow, paint: ReadonlyMap<DiffRow, string>, width: number, look: DiffLook): readonly string[] {
  if (!isLine(row)) return other(row, width, look)
  return cell(row, row.kind === 'removed' ? row.old : row.now, paint.get(row) ?? '', width, look.columns ?? Infinity, look)
}

function other(row: Exclude<DiffRow, DiffLine>, width: number, { columns, colors, long }: DiffLook): readonly string[] {
  if (row.kind === 'gap') return [colors.dim(`${' '.repeat(Math.max(0, width - 1))}⋮`)]
  return fitted(row.kind === 'file' ? colors.bold(row.text) : colors.dim(row.text), columns ?? Infinity, long)
}

const SIGNS = { same: ' ', added: '+', removed: '-' } as const

/** Returns a line with its number and sign, on as many rows as it takes. */
function cell(
  { kind }: DiffLine,
  number: number | undefined,
  text: string,
  width: number,
  columns: number,
  { colors, long }: DiffLook,
): readonly string[] {
  const gutter = width === 0 ? `${SIGNS[kind]} ` : `${String(number ?? '').padStart(width)} ${SIGNS[kind]} `
  const head = kind === 'same' ? colors.dim(gutter) : colors.side[kind](gutter)
  return fitted(text, columns - gutter.length, long).map((part, at) => (at === 0 ? head : ' '.repeat(gutter.length)) + part)
}

/** Wraps or cuts a line at any character, as code is not made of words. */
function fitted(text: string, width: number, long: DiffLook['long']): readonly string[] {
  const room = Math.max(1, width)
  if (stringWidth(text) <= room) return [text]
  const options = { hard: true, wordWrap: false, trim: false }
  if (long === 'wrap') return wrapAnsi(text, room, options).split('\n')
  return [`${wrapAnsi(text, Math.max(1, room - 1), options).split('\n')[0] ?? ''}…`]
}

/** Returns the text of each line in its colors. The sides of a hunk are parsed on their own, as each of them is code. */
function painted(rows: readonly DiffRow[], colors: Colors): ReadonlyMap<DiffRow, string> {
  const texts = new Map<DiffRow, string>()
  for (let at = 0; at < rows.length; ) {
    const hunk: DiffLine[] = []
    for (let row = rows[at]; row && isLine(row); row = rows[++at]) hunk.push(row)
    at++
    for (const without of ['added', 'removed'] as const) {
      const side = hunk.filter(({ kind }) => kind !== without)
      const parts = colors.isColorSupported
        ? codeParts(
            side.map(({ text }) => text),
            side[0]?.language ?? '',
          )
        : []
      for (const [index, row] of side.entries()) texts.set(row, paintedLine(row, parts[index] ?? [{ text: row.text }], colors))
    }
  }
  return texts
}

function paintedLine({ kind, changed }: DiffLine, parts: readonly CodePart[], colors: Colors): string {
  const plain = parts.map(({ text }) => text).join('')
  if (kind === 'same') return partsText(parts, colors)
  const ranges = plain.trim() === '' ? [] : changed
  const { [kind]: side } = colors.side
  const text = colors.isSideColored ? [{ text: plain }] : parts
  const pieces: string[] = []
  let at = 0
  for (const [from, to] of [...ranges, [plain.length, plain.length] as const]) {
    pieces.push(partsText(sliced(text, at, from), colors))
    if (to > from) pieces.push(colors.changed[kind](partsText(sliced(text, from, to), colors)))
    at = to
  }
  return colors.isSideColored ? side(pieces.join('')) : pieces.join('')
}

function sliced(parts: readonly CodePart[], from: number, to: number): readonly CodePart[] {
  let start = 0
  return parts.flatMap(({ text, kind }) => {
    const part = text.slice(Math.max(0, from - start), Math.max(0, to - start))
    start += text.length
    return part === '' ? [] : [{ text: part, kind }]
  })
}

/** Paints the parts of a line of code. */
export const partsText = (parts: readonly CodePart[], { code }: Colors): string =>
  parts.map(({ text, kind }) => (kind === undefined ? text : code[kind](text))).join('')

const BETWEEN = '  '

function sideBySide(rows: readonly DiffRow[], paint: ReadonlyMap<DiffRow, string>, width: number, look: DiffLook): readonly string[] {
  const half = Math.floor(((look.columns ?? SIDE_BY_SIDE) - BETWEEN.length) / 2)
  const side = (row: DiffLine | undefined, which: 'old' | 'now'): readonly string[] =>
    row ? cell(row, row[which], paint.get(row) ?? '', width, half, look) : []
  const joined = (old: DiffLine | undefined, now: DiffLine | undefined): readonly string[] => {
    const [left, right] = [side(old, 'old'), side(now, 'now')]
    return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => {
      const start = left[at] ?? ''
      return `${start}${' '.repeat(Math.max(0, half - stringWidth(start)))}${BETWEEN}${right[at] ?? ''}`
    })
  }
  const lines: string[] = []
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as DiffRow
    const removed = runOf(rows, at, 'removed')
    const added = runOf(rows, at + removed, 'added')
    if (!isLine(row)) lines.push(...other(row, width, look))
    else if (row.kind === 'same') lines.push(...joined(row, row))
    for (let pair = 0; pair < Math.max(removed, added); pair++) {
      const old = pair < removed ? rows[at + pair] : undefined
      const now = pair < added ? rows[at + removed + pair] : undefined
      lines.push(...joined(old as DiffLine | undefined, now as DiffLine | undefined))
    }
    at += Math.max(1, removed + added)
  }
  return lines
}
