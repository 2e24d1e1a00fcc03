import { fstatSync, read } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { defineTool, ModelRetry, type Tool, type ToolContext, ToolFailure, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { sha256 } from '../../sha256.ts'
import type { Resolved } from '../../workspace/change.ts'
import { withDirectory, withFile } from '../../workspace/contain.ts'
import { about, fsError, tryCall } from '../../workspace/errors.ts'
import { dirName, printable, toSlash } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { decoder, type Encoding, sniff } from '../common/encoding.ts'
import { DEFAULT_FILE_LIMITS, FILE_TIMEOUT, type FileLimits } from '../common/limits.ts'
import { HEAD_BYTES, magic } from '../common/magic.ts'
import { readAll } from '../common/text-file.ts'
import { asMedia, takes, unsupported } from './media.ts'
import { notebookText } from './notebook.ts'
import { type OpenFile, pageOfText } from './page.ts'
import { readPdf } from './pdf/pdf.ts'
import { CHUNK_BYTES, readText } from './text.ts'

const DEFAULT_LINES = 2000
const MAX_LINES = 10_000
const LISTED = 20
/** Largest notebook that is parsed. */
const NOTEBOOK_BYTES = 32 * 1024 * 1024

const input = z.object({
  path: z.string().describe('file, relative to the workspace'),
  offset: z.int().min(-1e9).max(1e9).default(0).describe('lines to skip; -N: the last N'),
  limit: z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES).describe('lines'),
})
type Input = z.infer<typeof input>

/**
 * Reads a file of any size in pages, PDF and notebooks as text. Identifies binary files. Remembers the content for `write_file` and
 * `edit_file`.
 */
export function readFileTool(workspace: Workspace, limits: FileLimits = DEFAULT_FILE_LIMITS): Tool {
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
    execute: (call, ctx) => readFile(workspace, limits, call, ctx),
  })
}

const FIRST = ['start_line', 'startLine', 'StartLine', 'start_line_one_indexed', 'line_start']
const LAST = ['end_line', 'endLine', 'EndLine', 'end_line_one_indexed_inclusive', 'line_end']
const RANGE: ReadonlySet<string> = new Set(['view_range', ...FIRST, ...LAST])

/** Converts `view_range: [first, last]` and `start_line`/`end_line`, which count from 1 and include the last line; -1 is the end. */
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

async function readFile(workspace: Workspace, limits: FileLimits, call: Input, { signal }: ToolContext): Promise<ToolOk> {
  const file = await workspace.resolve(call.path, { mustExist: true }).catch((error) => withListing(workspace, error))
  if (file.kind === 'directory') throw await isDirectory(file, call.path)
  try {
    return await withFile(file.root, file.absolute, async (fd) => {
      const { size } = fstatSync(fd)
      const start = Buffer.allocUnsafe(CHUNK_BYTES)
      const { bytesRead } = await promisify(read)(fd, start, 0, start.length, 0)
      return readOpen(workspace, { file, fd, size, call, limits, signal, start: start.subarray(0, bytesRead) })
    })
  } catch (error) {
    throw fsError(error, file.relative, 'read')
  }
}

async function readOpen(workspace: Workspace, open: OpenFile): Promise<ToolOk> {
  const { file, start, call } = open
  const head = start.subarray(0, HEAD_BYTES)
  const found = sniff(head)
  if (found.kind === 'binary') {
    const is = found.magic ?? magic(head)
    if (is && takes(open, is) && call.offset === 0) return asMedia(open, is)
    if (is?.mediaType === 'application/pdf') return readPdf(open)
    throw unsupported(open, is)
  }
  if (found.kind === 'undecodable')
    throw new ToolFailure(
      `"${file.relative}" is not UTF-8 text; it looks like ${found.guess}. A person can convert it with "iconv".`,
      about('path', call.path, 'a file in UTF-8, or in UTF-16 with a byte order mark', { errorType: 'unsupported' }),
    )
  return /\.ipynb$/i.test(file.relative) ? readNotebook(workspace, open, found.encoding) : readText(workspace, open, found.encoding)
}

async function readNotebook(workspace: Workspace, open: OpenFile, encoding: Encoding): Promise<ToolOk> {
  if (open.size > NOTEBOOK_BYTES) return readText(workspace, open, encoding, ['A notebook too large to be taken apart: this is its JSON.'])
  const bytes = await readAll(open.fd)
  const text = notebookText(decoder(encoding).decode(bytes))
  if (text === undefined)
    return readText(workspace, open, encoding, ['Not a notebook that can be taken apart: this is the text of the file.'])
  workspace.seen.set(open.file.absolute, { hash: sha256(bytes) })
  return pageOfText(open, text, { kind: { encoding, mediaType: 'application/x-ipynb+json' } })
}

/** Suggests listing the deepest existing folder of a missing path if there is no similar path. */
async function withListing(workspace: Workspace, error: unknown): Promise<never> {
  if (!(error instanceof ModelRetry) || error.errorType !== 'not_found' || error.details.suggestion !== undefined) throw error
  let folder = toSlash(String(error.details.value))
  do folder = dirName(folder) || '.'
  while (folder !== '.' && (await workspace.resolve(folder).catch(() => undefined))?.kind !== 'directory')
  throw new ModelRetry(error.message, { ...error.details, errorType: 'not_found', ...tryCall('list_dir', { path: folder }) })
}

async function isDirectory({ root, absolute, relative }: Resolved, value: string): Promise<ModelRetry> {
  const entries = await withDirectory(root, absolute, (base) => readdir(base, { withFileTypes: true })).catch((error) => {
    throw fsError(error, relative, 'list')
  })
  const names = entries.map((entry) => printable(entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
  const rest = names.length > LISTED ? `, and ${names.length - LISTED} more` : ''
  const files = entries.filter((entry) => entry.isFile()).slice(0, LISTED)
  const candidates = files.map(({ name }) => (relative === '.' ? name : `${relative}/${name}`))
  return new ModelRetry(
    `"${relative}" is a directory. In it: ${names.slice(0, LISTED).join(', ') || 'nothing'}${rest}.`,
    about('path', value, 'a file', { candidates, ...tryCall('list_dir', { path: relative }) }),
  )
}
