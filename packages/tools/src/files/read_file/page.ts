/** A page of lines as the tool's result: the same for a text, the text of a PDF and a notebook. */
import { empty, ModelRetry, ok, type ToolOk } from '@mulligan/core'
import type { Encoding } from '../common/encoding.ts'
import { plural, size as sizeText } from '../common/page.ts'
import { fenced } from '../common/unified-diff.ts'
import type { Line, LineWindow } from './line-window.ts'

export interface ReadData {
  readonly path: string
  readonly lines: readonly Line[]
  readonly offset: number
  /** Absent where the file was not read to its end for one page. */
  readonly totalLines?: number
  readonly bytes: number
  /** Of a text file. */
  readonly encoding?: Encoding
  /** What the lines were taken out of, where the file itself is no text. */
  readonly mediaType?: string
  /** Where to go on. */
  readonly nextOffset?: number
}

export interface PageOf {
  readonly path: string
  readonly window: LineWindow
  /** As asked for. */
  readonly asked: number
  /** From the start. */
  readonly offset: number
  /** The window has seen all there is. */
  readonly whole: boolean
  readonly about: Pick<ReadData, 'bytes' | 'encoding' | 'mediaType'>
  readonly notes?: readonly string[]
}

/** A negative offset counts from the end. */
export const fromStart = (offset: number, total: number): number => (offset < 0 ? Math.max(0, total + offset) : offset)

/** @throws ModelRetry for an offset past the end */
export function pageResult({ path, window, asked, offset, whole, about, notes = [] }: PageOf): ToolOk {
  const { lines } = window
  const total = window.total()
  const also = notes.length > 0 ? { notes } : {}
  if (whole && total === 0) {
    const data: ReadData = { path, lines: [], offset: 0, totalLines: 0, ...about }
    return empty(data, `"${path}" is empty.`, also)
  }
  if (lines.length === 0) throw pastEnd(path, asked, total)
  const next = offset + lines.length
  const more = window.full() || (whole && next < total)
  const data: ReadData = {
    path,
    lines,
    offset,
    ...(whole ? { totalLines: total } : {}),
    ...about,
    ...(more ? { nextOffset: next } : {}),
  }
  const of = whole ? plural(total, 'line') : `${sizeText(about.bytes)}, lines not counted`
  const body = lines.map(numbered).join('\n')
  return ok(data, {
    content: more ? `${body}\n(${path}: lines ${offset + 1}-${next} of ${of}) more: offset=${next}` : body,
    display: `**${path}** (${of})\n\n${fenced(lines.map((line) => line.text).join('\n'))}`,
    hasMore: more,
    ...also,
  })
}

const numbered = ({ number, text, cut }: Line): string =>
  `${String(number).padStart(6)}\t${text}${cut > 0 ? `… [${cut} more characters]` : ''}`

const pastEnd = (path: string, value: number, total: number): ModelRetry =>
  new ModelRetry(`"${path}" has ${plural(total, 'line')}.`, {
    parameter: 'offset',
    value,
    constraint: `from 0 to ${total - 1}`,
    suggestion: total - 1,
  })
