/** Builds the result of a tool from a page of lines. Used for text files, PDFs and notebooks. */
import { empty, ModelRetry, ok, type ToolOk } from '@mulligan/core'
import type { Resolved } from '../../workspace/change.ts'
import { about } from '../../workspace/errors.ts'
import type { FileLimits } from '../common/limits.ts'
import { plural, size as sizeText } from '../common/page.ts'
import { fenced, linesIn } from '../common/unified-diff.ts'

/** A file opened for reading, and the requested range. */
export interface OpenFile {
  readonly file: Resolved
  readonly fd: number
  /** Bytes. */
  readonly size: number
  readonly call: { readonly path: string; readonly offset: number; readonly limit: number }
  readonly limits: FileLimits
  readonly signal: AbortSignal
  /** The first bytes; all of them for a small file. */
  readonly start: Buffer
}

export interface Line {
  /** From 1. */
  readonly number: number
  readonly text: string
  /** Number of characters cut from the end. */
  readonly cut: number
}

export interface WindowOptions {
  /** Lines to skip. */
  readonly offset: number
  /** Lines to take. */
  readonly limit: number
  /** Bytes of text to take. The first line is taken whatever its length. */
  readonly bytes: number
  /** Characters to keep of each line. */
  readonly chars: number
  /** Number of lines before the pushed text. Default: 0. */
  readonly before?: number
}

export type LineWindow = ReturnType<typeof lineWindow>

/** Selects a range of lines from a stream of text, in memory that does not grow with the text. */
export function lineWindow({ offset, limit, bytes, chars, before = 0 }: WindowOptions) {
  const lines: Line[] = []
  let index = before
  let kept = ''
  let length = 0
  let size = 0
  let closed = false

  const wanted = () => !closed && index >= offset && lines.length < limit
  const add = (piece: string) => {
    length += piece.length
    // Keeps one character more than is shown, to tell a carriage return from a cut.
    if (wanted() && kept.length <= chars) kept += piece.slice(0, chars + 1 - kept.length)
  }
  const finish = () => {
    if (wanted()) {
      const whole = kept.length === length && kept.endsWith('\r') ? kept.slice(0, -1) : kept
      const text = whole.slice(0, chars)
      size += Buffer.byteLength(text) + 1
      const returned = whole.length < length && whole.length <= chars ? 1 : 0
      if (size > bytes && lines.length > 0) closed = true
      else lines.push({ number: index + 1, text, cut: Math.max(0, length - text.length - returned) })
    }
    index++
    kept = ''
    length = 0
  }
  const push = (text: string) => {
    let from = 0
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      add(text.slice(from, at))
      finish()
      from = at + 1
    }
    if (from < text.length) add(text.slice(from))
  }
  return {
    lines: lines as readonly Line[],
    push,
    /** Ends the text. A last line without a newline counts. */
    end(rest = '') {
      push(rest)
      if (length > 0) finish()
    },
    /** Number of lines so far, selected or not, including those before the text. */
    total: () => index,
    /** Whether the window is complete and more lines follow. */
    full: () => closed || (lines.length >= limit && (index > offset + lines.length || length > 0)),
  }
}

/** Returns the window for a call. @param offset from the start */
export const windowAt = ({ call, limits }: OpenFile, offset: number, before = 0): LineWindow =>
  lineWindow({ offset, limit: call.limit, bytes: limits.pageBytes, chars: limits.lineChars, before })

/** A negative offset counts from the end. */
export const fromStart = (offset: number, total: number): number => (offset < 0 ? Math.max(0, total + offset) : offset)

/** Returns a page of a text that is fully in memory. */
export function pageOfText(open: OpenFile, text: string, options: PageOptions): ToolOk {
  const offset = fromStart(open.call.offset, linesIn(text))
  const window = windowAt(open, offset)
  window.end(text)
  return pageResult(open, window, offset, options)
}

interface PageOptions {
  /** Format of the file that the lines come from. */
  readonly kind: { readonly encoding?: string; readonly mediaType?: string }
  /** Whether the window has seen the whole text. Default: true. */
  readonly whole?: boolean
  readonly notes?: readonly string[]
}

/**
 * @param offset offset of the window from the start
 * @throws ModelRetry for an offset past the end
 */
export function pageResult(open: OpenFile, window: LineWindow, offset: number, { kind, whole = true, notes = [] }: PageOptions): ToolOk {
  const path = open.file.relative
  const { lines } = window
  const total = window.total()
  const given = { bytes: open.size, ...kind }
  const also = notes.length > 0 ? { notes } : {}
  if (whole && total === 0) return empty({ path, lines, offset: 0, totalLines: 0, ...given }, `"${path}" is empty.`, also)
  if (lines.length === 0) {
    const last = about('offset', open.call.offset, `from 0 to ${total - 1}`, { suggestion: total - 1 })
    throw new ModelRetry(`"${path}" has ${plural(total, 'line')}.`, last)
  }
  const next = offset + lines.length
  const hasMore = window.full() || (whole && next < total)
  const data = { path, lines, offset, ...(whole && { totalLines: total }), ...given, ...(hasMore && { nextOffset: next }) }
  const of = whole ? plural(total, 'line') : `${sizeText(open.size)}, lines not counted`
  const body = lines.map(numbered).join('\n')
  return ok(data, {
    content: hasMore ? `${body}\n(${path}: lines ${offset + 1}-${next} of ${of}) more: offset=${next}` : body,
    display: `**${path}** (${of})\n\n${fenced(lines.map((line) => line.text).join('\n'))}`,
    hasMore,
    ...also,
  })
}

const numbered = ({ number, text, cut }: Line): string =>
  `${String(number).padStart(6)}\t${text}${cut > 0 ? `… [${cut} more characters]` : ''}`
