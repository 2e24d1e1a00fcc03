/** Reads a page of a text file of any size. */
import { createHash } from 'node:crypto'
import { read } from 'node:fs'
import { promisify } from 'node:util'
import { ToolFailure, type ToolOk } from '@mulligan/core'
import { about } from '../../workspace/errors.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { decoder, type Encoding } from '../common/encoding.ts'
import { fromStart, lineWindow, type OpenFile, pageResult, windowAt } from './page.ts'

/** Bytes read at once. */
export const CHUNK_BYTES = 256 * 1024

/** Reads the bytes of the file from an offset, in chunks that are valid until the next one. */
async function* pieces({ fd, start, signal }: OpenFile, from = 0): AsyncGenerator<Buffer> {
  signal.throwIfAborted()
  if (from === 0) {
    yield start
    if (start.length < CHUNK_BYTES) return
  }
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let at = from || start.length; ; ) {
    signal.throwIfAborted()
    const { bytesRead } = await promisify(read)(fd, chunk, 0, chunk.length, at)
    if (bytesRead === 0) return
    yield chunk.subarray(0, bytesRead)
    at += bytesRead
  }
}

/** @param notes notes for the page */
export async function readText(workspace: Workspace, open: OpenFile, encoding: Encoding, notes: readonly string[] = []): Promise<ToolOk> {
  const { file, size, call, limits } = open
  const readThrough = size <= limits.readThroughBytes
  const bytewise = encoding.startsWith('utf-8')
  if (call.offset < 0 && !bytewise && !readThrough)
    throw new ToolFailure(
      `"${file.relative}" is a large file in UTF-16, whose lines are not counted from the end.`,
      about('offset', call.offset, 'an offset from the start', { errorType: 'unsupported', status: 'retry', suggestion: 0 }),
    )
  const offset = call.offset < 0 ? fromStart(call.offset, await (bytewise ? countLines(open) : countDecoded(open, encoding))) : call.offset
  // A small file is read from the start for its hash and total. In a large one, everything before the page is skipped.
  const skipped = readThrough || !bytewise ? { lines: 0, position: 0 } : await skipLines(open, offset)
  const window = windowAt(open, offset, skipped.lines)
  const text = decoder(encoding)
  const hash = createHash('sha256')
  let badText = false
  let whole = true
  for await (const bytes of pieces(open, skipped.position)) {
    if (readThrough) hash.update(bytes)
    const piece = text.decode(bytes, { stream: true })
    badText ||= piece.includes('\ufffd')
    window.push(piece)
    whole = readThrough || !window.full()
    if (!whole) break
  }
  if (whole) window.end(text.decode())
  workspace.seen.set(file.absolute, whole && readThrough ? { hash: hash.digest('hex') } : {})
  const said = badText ? [...notes, 'Some bytes are not UTF-8 and are shown as \ufffd.'] : notes
  return pageResult(open, window, offset, { kind: { encoding }, whole, notes: said })
}

async function countLines(open: OpenFile): Promise<number> {
  const { lines, position, read } = await skipLines(open, Number.POSITIVE_INFINITY)
  return read > position ? lines + 1 : lines
}

async function countDecoded(open: OpenFile, encoding: Encoding): Promise<number> {
  const window = lineWindow({ offset: Number.POSITIVE_INFINITY, limit: 0, bytes: 0, chars: 0 })
  const text = decoder(encoding)
  for await (const bytes of pieces(open)) window.push(text.decode(bytes, { stream: true }))
  window.end(text.decode())
  return window.total()
}

const NEWLINE = 0x0a

/**
 * Skips up to `count` lines of a UTF-8 file by counting newline bytes, without decoding or keeping anything.
 * @returns the number of lines skipped, where the next one begins, and how many bytes were read
 */
async function skipLines(
  open: OpenFile,
  count: number,
): Promise<{ readonly lines: number; readonly position: number; readonly read: number }> {
  let [lines, position, read] = [0, 0, 0]
  if (count === 0) return { lines, position, read }
  for await (const bytes of pieces(open)) {
    for (let at = bytes.indexOf(NEWLINE); at !== -1 && lines < count; at = bytes.indexOf(NEWLINE, at + 1)) {
      lines++
      position = read + at + 1
    }
    read += bytes.length
    if (lines >= count) break
  }
  return { lines, position, read }
}
