/** A page of a text file of any size. */
import { createHash } from 'node:crypto'
import { ToolFailure, type ToolOk } from '@mulligan/core'
import type { Workspace } from '../../workspace/workspace.ts'
import { decoder, type Encoding } from '../common/encoding.ts'
import { type LineWindow, lineWindow } from './line-window.ts'
import type { OpenFile } from './open-file.ts'
import { fromStart, pageResult } from './page.ts'

/** @param notes that go with the page */
export async function readText(workspace: Workspace, open: OpenFile, encoding: Encoding, notes: readonly string[] = []): Promise<ToolOk> {
  const { file, handle, size, call, limits, signal, chunk } = open
  const readThrough = size <= limits.readThroughBytes
  const start = await startOf(open, encoding, readThrough)
  const window = lineWindow({ ...start, limit: call.limit, bytes: limits.pageBytes, chars: limits.lineChars })
  const text = decoder(encoding)
  const hash = createHash('sha256')
  let position = start.position
  let badText = false
  let whole = true
  for (;;) {
    signal.throwIfAborted()
    const isFirst = position === 0 && call.offset >= 0
    const { bytesRead } = isFirst ? { bytesRead: open.first } : await handle.read(chunk, 0, chunk.length, position)
    if (bytesRead === 0) break
    position += bytesRead
    if (readThrough) hash.update(chunk.subarray(0, bytesRead))
    const piece = text.decode(chunk.subarray(0, bytesRead), { stream: true })
    badText ||= piece.includes('\ufffd')
    window.push(piece)
    if (!readThrough && window.full()) {
      whole = false
      break
    }
    if (bytesRead < chunk.length) break
  }
  if (whole) finish(window, text.decode())
  workspace.seen.set(file.absolute, whole && readThrough ? { hash: hash.digest('hex') } : {})
  return pageResult({
    path: file.relative,
    window,
    asked: call.offset,
    offset: start.offset,
    whole,
    about: { bytes: size, encoding },
    notes: badText ? [...notes, 'Some bytes are not UTF-8 and are shown as \ufffd.'] : notes,
  })
}

function finish(window: LineWindow, rest: string): void {
  window.push(rest)
  window.end()
}

interface Start {
  /** Lines to skip, from the start of the file. */
  readonly offset: number
  /** Lines before {@link Start.position}. */
  readonly before: number
  /** Where to begin to read. */
  readonly position: number
}

/** A small file is read from its start, for its hash and its total; in a large one what comes before the page is passed over. */
async function startOf({ handle, size, file, call, chunk, signal }: OpenFile, encoding: Encoding, readThrough: boolean): Promise<Start> {
  const bytewise = encoding === 'utf-8' || encoding === 'utf-8-bom'
  let { offset } = call
  if (offset < 0) {
    if (!bytewise && !readThrough)
      throw new ToolFailure(`"${file.relative}" is a large file in UTF-16, whose lines are not counted from the end.`, {
        errorType: 'unsupported',
        status: 'retry',
        parameter: 'offset',
        value: offset,
        constraint: 'an offset from the start',
        suggestion: 0,
      })
    offset = fromStart(offset, bytewise ? await countLines(handle, chunk, signal) : await countDecoded({ handle, size, chunk }, encoding))
  }
  if (readThrough || !bytewise) return { offset, before: 0, position: 0 }
  const { lines, position } = await skipLines(handle, offset, chunk, signal)
  return { offset, before: lines, position }
}

async function countLines(handle: OpenFile['handle'], chunk: Buffer, signal: AbortSignal): Promise<number> {
  const { lines, rest } = await skipLines(handle, Number.POSITIVE_INFINITY, chunk, signal)
  return rest > 0 ? lines + 1 : lines
}

async function countDecoded({ handle, size }: Pick<OpenFile, 'handle' | 'size' | 'chunk'>, encoding: Encoding): Promise<number> {
  const bytes = Buffer.alloc(size)
  await handle.read(bytes, 0, size, 0)
  const window = lineWindow({ offset: Number.POSITIVE_INFINITY, limit: 0, bytes: 0, chars: 0 })
  finish(window, decoder(encoding).decode(bytes))
  return window.total()
}

const NEWLINE = 0x0a

interface Skipped {
  /** Lines passed over. */
  readonly lines: number
  /** Where the next one begins, in bytes. */
  readonly position: number
  /** How many bytes the file has after that; 0 when it ends with a newline. Only counted when the file was read to its end. */
  readonly rest: number
}

/** Passes over up to `count` lines of a file in UTF-8: newlines are counted in the bytes, nothing is decoded or kept. */
async function skipLines(handle: OpenFile['handle'], count: number, chunk: Buffer, signal: AbortSignal): Promise<Skipped> {
  let lines = 0
  let position = 0
  let read = 0
  while (lines < count) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, read)
    if (bytesRead === 0) break
    const bytes = chunk.subarray(0, bytesRead)
    for (let at = bytes.indexOf(NEWLINE); at !== -1 && lines < count; at = bytes.indexOf(NEWLINE, at + 1)) {
      lines++
      position = read + at + 1
    }
    read += bytesRead
  }
  return { lines, position, rest: Math.max(0, read - position) }
}
