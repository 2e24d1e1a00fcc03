import type { FileHandle } from 'node:fs/promises'
import { readdir } from 'node:fs/promises'
import { defineTool, ModelRetry, type Tool, type ToolContext, ToolFailure, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { sha256 } from '../../sha256.ts'
import { openInside, withDirectory } from '../../workspace/contain.ts'
import { fsError } from '../../workspace/fs-error.ts'
import { dirName, printable, toSlash } from '../../workspace/paths.ts'
import type { Resolved, Workspace } from '../../workspace/workspace.ts'
import { decoder, type Encoding, sniff } from '../common/encoding.ts'
import { DEFAULT_LIMITS, FILE_TIMEOUT, type FileLimits } from '../common/limits.ts'
import { HEAD_BYTES, magic } from '../common/magic.ts'
import { lineWindow } from './line-window.ts'
import { asMedia, takes, unsupported } from './media.ts'
import { notebookText } from './notebook.ts'
import type { OpenFile } from './open-file.ts'
import { fromStart, pageResult } from './page.ts'
import { readPdf } from './pdf/pdf.ts'
import { readText } from './text.ts'

const DEFAULT_LINES = 2000
const MAX_LINES = 10_000
const CHUNK_BYTES = 256 * 1024
const LISTED = 20
/** The largest notebook that is taken apart. */
const NOTEBOOK_BYTES = 32 * 1024 * 1024

const input = z.object({
  path: z.string().describe('file, relative to the workspace'),
  offset: z.int().min(-1e9).max(1e9).default(0).describe('lines to skip; -N: the last N'),
  limit: z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES).describe('lines'),
})
type Input = z.infer<typeof input>

/** Reads a file of any size in pages, PDF and notebooks as text; says what a binary file is; remembers the content for `write_file` and `edit_file`. */
export function readFileTool(workspace: Workspace, limits: FileLimits = DEFAULT_LIMITS): Tool {
  return defineTool({
    name: 'read_file',
    description: describe(import.meta.url, { PAGE: `${Math.round(limits.pageBytes / 1024)} KiB` }),
    input,
    effect: 'read',
    priority: 80,
    timeout: FILE_TIMEOUT,
    aliases: ['read', 'view', 'cat', 'open_file'].map((name) => ({ name, adapt: fromRange })),
    parameterAliases: {
      path: ['file_path', 'file', 'filename', 'absolute_path', 'target_file'],
      limit: ['lines', 'max_lines'],
    },
    ignoredParameters: ['should_read_entire_file'],
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

const FIRST = ['start_line', 'startLine', 'StartLine', 'start_line_one_indexed', 'line_start']
const LAST = ['end_line', 'endLine', 'EndLine', 'end_line_one_indexed_inclusive', 'line_end']
const RANGE: ReadonlySet<string> = new Set(['view_range', ...FIRST, ...LAST])

/** `view_range: [first, last]` and `start_line`/`end_line` count from 1 and include the last line; -1 is the end. */
function fromRange(input: Record<string, unknown>): Record<string, unknown> {
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !RANGE.has(name)))
  if (input['should_read_entire_file'] === true) return rest
  const named = (names: readonly string[]): unknown => names.map((name) => input[name]).find((value) => value !== undefined)
  const range = input['view_range']
  const [from, last] = (Array.isArray(range) ? range : [named(FIRST), named(LAST)]).map(asNumber)
  const first = from ?? (last === undefined ? undefined : 1)
  if (typeof first !== 'number' || first < 1) return rest
  const upTo = typeof last === 'number' && last >= first ? { limit: last - first + 1 } : {}
  return { ...rest, offset: first - 1, ...upTo }
}

const asNumber = (value: unknown): unknown => (typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : value)

async function read(workspace: Workspace, limits: FileLimits, call: Input, ctx: ToolContext): Promise<ToolOk> {
  const file = await workspace.resolve(call.path, { mustExist: true }).catch((error) => withListing(workspace, error))
  if (file.kind === 'directory') throw await isDirectory(file, call.path)
  let handle: FileHandle | undefined
  try {
    handle = await openInside(file.root, file.absolute)
    const { size } = await handle.stat()
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    const { bytesRead: first } = await handle.read(chunk, 0, chunk.length, 0)
    return await readOpen(workspace, { file, handle, size, call, limits, signal: ctx.signal, chunk, first })
  } catch (error) {
    throw fsError(error, file.relative, 'read')
  } finally {
    await handle?.close()
  }
}

async function readOpen(workspace: Workspace, open: OpenFile): Promise<ToolOk> {
  const { file, chunk, first, call } = open
  const head = Buffer.from(chunk.subarray(0, Math.min(first, HEAD_BYTES)))
  const found = sniff(head)
  if (found.kind === 'binary') {
    const is = found.magic ?? magic(head)
    if (is && takes(open, is) && call.offset === 0) return asMedia(open, is, head)
    if (is?.mediaType === 'application/pdf') return readPdf(open)
    throw unsupported(open, is, head)
  }
  if (found.kind === 'undecodable')
    throw new ToolFailure(`"${file.relative}" is not UTF-8 text; it looks like ${found.guess}. A person can convert it with "iconv".`, {
      errorType: 'unsupported',
      status: 'failed',
      parameter: 'path',
      value: call.path,
      constraint: 'a file in UTF-8, or in UTF-16 with a byte order mark',
    })
  if (/\.ipynb$/i.test(file.relative)) return readNotebook(workspace, open, found.encoding)
  return readText(workspace, open, found.encoding)
}

async function readNotebook(workspace: Workspace, open: OpenFile, encoding: Encoding): Promise<ToolOk> {
  const { file, handle, size, call, limits } = open
  if (size > NOTEBOOK_BYTES) return readText(workspace, open, encoding, ['A notebook too large to be taken apart: this is its JSON.'])
  const bytes = Buffer.alloc(size)
  const { bytesRead } = await handle.read(bytes, 0, size, 0)
  const text = notebookText(decoder(encoding).decode(bytes.subarray(0, bytesRead)))
  if (text === undefined)
    return readText(workspace, open, encoding, ['Not a notebook that can be taken apart: this is the text of the file.'])
  const total = text === '' ? 0 : text.split('\n').length
  const offset = fromStart(call.offset, total)
  const window = lineWindow({ offset, limit: call.limit, bytes: limits.pageBytes, chars: limits.lineChars })
  window.push(text)
  window.end()
  workspace.seen.set(file.absolute, { hash: sha256(bytes.subarray(0, bytesRead)) })
  const about = { bytes: size, encoding, mediaType: 'application/x-ipynb+json' }
  return pageResult({ path: file.relative, window, asked: call.offset, offset, whole: true, about })
}

/** Where no path is near the one that is missing: the listing of the deepest folder of it that exists. */
async function withListing(workspace: Workspace, error: unknown): Promise<never> {
  if (!(error instanceof ModelRetry) || error.errorType !== 'not_found' || error.details.suggestion !== undefined) throw error
  let folder = toSlash(String(error.details.value))
  do folder = dirName(folder) || '.'
  while (folder !== '.' && (await workspace.resolve(folder).catch(() => undefined))?.kind !== 'directory')
  throw new ModelRetry(error.message, { ...error.details, errorType: 'not_found', call: { tool: 'list_dir', input: { path: folder } } })
}

async function isDirectory(file: Resolved, value: string): Promise<ModelRetry> {
  const entries = await withDirectory(file.root, file.absolute, (base) => readdir(base, { withFileTypes: true })).catch((error) => {
    throw fsError(error, file.relative, 'list')
  })
  const names = entries.map((entry) => printable(entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
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
