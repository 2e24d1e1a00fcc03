import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { readdir } from 'node:fs/promises'
import { defineTool, empty, ModelRetry, ok, type Tool, type ToolContext, ToolFailure, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { openInside } from '../../workspace/contain.ts'
import { fsError } from '../../workspace/fs-error.ts'
import type { Resolved, Workspace } from '../../workspace/workspace.ts'
import { decoder, type Encoding, sniff } from '../common/encoding.ts'
import { DEFAULT_LIMITS, FILE_TIMEOUT, type FileLimits } from '../common/limits.ts'
import { HEAD_BYTES, type Magic, magic } from '../common/magic.ts'
import { plural, size as sizeText } from '../common/page.ts'
import { fenced } from '../common/unified-diff.ts'
import { type Line, lineWindow } from './line-window.ts'

const DEFAULT_LINES = 2000
const MAX_LINES = 10_000
const CHUNK_BYTES = 256 * 1024
const LISTED = 20

const input = z.object({
  path: z.string().describe('file, relative to the workspace'),
  offset: z.int().min(0).max(1e9).default(0).describe('lines to skip, from 0'),
  limit: z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES).describe('lines'),
})
type Input = z.infer<typeof input>

export interface ReadData {
  readonly path: string
  readonly lines: readonly Line[]
  readonly offset: number
  /** Absent where the file is too large to be read to its end for one page. */
  readonly totalLines?: number
  readonly bytes: number
  readonly encoding: Encoding
  /** Where to go on. */
  readonly nextOffset?: number
}

/** Reads a file of any size in pages; says what a binary file is; remembers the content for `write_file` and `edit_file`. */
export function readFileTool(workspace: Workspace, limits: FileLimits = DEFAULT_LIMITS): Tool {
  return defineTool({
    name: 'read_file',
    description: describe(import.meta.url, { PAGE: `${Math.round(limits.pageBytes / 1024)} KiB` }),
    input,
    effect: 'read',
    timeout: FILE_TIMEOUT,
    aliases: ['read', 'view', 'cat', 'open_file'].map((name) => ({ name, adapt: fromRange })),
    parameterAliases: { path: ['filepath', 'filePath', 'file_path', 'file', 'filename', 'absolute_path'], limit: ['lines', 'max_lines'] },
    target: ({ path }) => workspace.target(path),
    examples: [
      { outcome: 'ok', input: { path: 'src/main.ts' }, files: { 'src/main.ts': 'export const a = 1\nexport const b = 2\n' } },
      { outcome: 'ok', input: { path: 'log.txt', offset: 1, limit: 1 }, files: { 'log.txt': 'one\ntwo\nthree\n' }, why: 'a page' },
      { outcome: 'empty', input: { path: 'empty.txt' }, files: { 'empty.txt': '' } },
      { outcome: 'retry', input: { path: 'src/mian.ts' }, files: { 'src/main.ts': 'export {}\n' }, why: 'the nearest path is named' },
      { outcome: 'retry', input: { path: 'a.txt', offset: 9 }, files: { 'a.txt': 'one\n' }, why: 'past the end' },
      { outcome: 'failed', input: { path: 'data.bin' }, files: { 'data.bin': 'a\0b\0\0c' }, why: 'binary' },
    ],
    execute: (call, ctx) => read(workspace, limits, call, ctx),
  })
}

/** `view_range: [first, last]` and `start_line`/`end_line` count from 1 and include the last line; -1 is the end. */
function fromRange({ view_range: range, start_line, end_line, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const [first, last] = Array.isArray(range) ? range : [start_line, end_line]
  if (typeof first !== 'number' || first < 1) return rest
  const upTo = typeof last === 'number' && last >= first ? { limit: last - first + 1 } : {}
  return { ...rest, offset: first - 1, ...upTo }
}

async function read(workspace: Workspace, limits: FileLimits, call: Input, ctx: ToolContext): Promise<ToolOk> {
  const file = await workspace.resolve(call.path, { mustExist: true })
  if (file.kind === 'directory') throw await isDirectory(file, call.path)
  let handle: FileHandle | undefined
  try {
    handle = await openInside(file.root, file.absolute)
    return await readOpen(workspace, limits, call, ctx, file, handle)
  } catch (error) {
    throw fsError(error, file.relative, 'read')
  } finally {
    await handle?.close()
  }
}

async function readOpen(
  workspace: Workspace,
  limits: FileLimits,
  call: Input,
  ctx: ToolContext,
  file: Resolved,
  handle: FileHandle,
): Promise<ToolOk> {
  const { size } = await handle.stat()
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const first = await handle.read(chunk, 0, HEAD_BYTES, 0)
  const head = chunk.subarray(0, first.bytesRead)
  const found = sniff(head)
  if (found.kind === 'binary') return asMedia(limits, file, handle, size, found.magic ?? magic(head))
  if (found.kind === 'undecodable')
    throw new ToolFailure(`"${file.relative}" is not UTF-8 text; it looks like ${found.guess}. "iconv" in a shell can convert it.`, {
      errorType: 'unsupported',
      status: 'failed',
      parameter: 'path',
      value: call.path,
      constraint: 'a file in UTF-8, or in UTF-16 with a byte order mark',
    })

  const window = lineWindow({ offset: call.offset, limit: call.limit, bytes: limits.pageBytes, chars: limits.lineChars })
  const readThrough = size <= limits.readThroughBytes
  const text = decoder(found.encoding)
  const hash = createHash('sha256')
  let badText = false
  let position = 0
  let whole = true
  for (;;) {
    ctx.signal.throwIfAborted()
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position)
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
  }
  if (whole) {
    window.push(text.decode())
    window.end()
  }
  workspace.seen.set(file.absolute, whole && readThrough ? { hash: hash.digest('hex') } : {})
  const { lines } = window
  if (whole && window.total() === 0)
    return empty(
      { path: file.relative, lines: [], offset: 0, totalLines: 0, bytes: size, encoding: found.encoding },
      `"${file.relative}" is empty.`,
    )
  if (lines.length === 0) throw pastEnd(file, call, window.total())

  const next = call.offset + lines.length
  const more = window.full() || (whole && next < window.total())
  const data: ReadData = {
    path: file.relative,
    lines,
    offset: call.offset,
    ...(whole ? { totalLines: window.total() } : {}),
    bytes: size,
    encoding: found.encoding,
    ...(more ? { nextOffset: next } : {}),
  }
  const of = whole ? plural(window.total(), 'line') : `${sizeText(size)}, lines not counted`
  const body = lines.map(numbered).join('\n')
  const notes = badText ? ['Some bytes are not UTF-8 and are shown as \ufffd.'] : []
  return ok(data, {
    content: more ? `${body}\n(${file.relative}: lines ${call.offset + 1}-${next} of ${of}) more: offset=${next}` : body,
    display: `**${file.relative}** (${of})\n\n${fenced(lines.map((line) => line.text).join('\n'))}`,
    hasMore: more,
    ...(notes.length > 0 ? { notes } : {}),
  })
}

const numbered = ({ number, text, cut }: Line): string =>
  `${String(number).padStart(6)}\t${text}${cut > 0 ? `… [${cut} more characters]` : ''}`

const pastEnd = (file: Resolved, { offset }: Input, total: number): ModelRetry =>
  new ModelRetry(`"${file.relative}" has ${plural(total, 'line')}.`, {
    parameter: 'offset',
    value: offset,
    constraint: `from 0 to ${total - 1}`,
    suggestion: total - 1,
  })

async function isDirectory(file: Resolved, value: string): Promise<ModelRetry> {
  const entries = await readdir(file.absolute, { withFileTypes: true }).catch((error) => {
    throw fsError(error, file.relative, 'list')
  })
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
  const prefix = file.relative === '.' ? '' : `${file.relative}/`
  const rest = names.length > LISTED ? `, and ${names.length - LISTED} more` : ''
  return new ModelRetry(`"${file.relative}" is a directory. In it: ${names.slice(0, LISTED).join(', ') || 'nothing'}${rest}.`, {
    parameter: 'path',
    value,
    constraint: 'a file',
    candidates: entries
      .filter((entry) => entry.isFile())
      .slice(0, LISTED)
      .map((entry) => prefix + entry.name),
    call: { tool: 'list_dir', input: { path: file.relative } },
  })
}

async function asMedia(limits: FileLimits, file: Resolved, handle: FileHandle, size: number, is: Magic | undefined): Promise<ToolOk> {
  if (is && limits.media.includes(is.mediaType) && size <= limits.mediaBytes) {
    const bytes = await handle.readFile()
    return ok(
      { path: file.relative, bytes: size, mediaType: is.mediaType },
      {
        content: [
          { type: 'text', text: `${file.relative}: ${is.what}, ${sizeText(size)}` },
          { type: 'media', mediaType: is.mediaType, data: bytes.toString('base64') },
        ],
      },
    )
  }
  throw new ToolFailure(
    `"${file.relative}" is ${is?.what ?? 'a binary file'} (${sizeText(size)}), not text. It can be read by ${is?.reader ?? '"xxd" or "strings" in a shell'}.`,
    { errorType: 'unsupported', status: 'failed', parameter: 'path', value: file.relative, constraint: 'a text file' },
  )
}
