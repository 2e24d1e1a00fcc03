import { defineTool, ModelRetry, ok, type Tool, type ToolContext, ToolFailure, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { sha256 } from '../../sha256.ts'
import { fsError } from '../../workspace/fs-error.ts'
import type { Resolved, Workspace } from '../../workspace/workspace.ts'
import { decode, type Encoding, encode, sniff } from '../common/encoding.ts'
import { readWhole } from '../common/file-bytes.ts'
import { DEFAULT_LIMITS, FILE_TIMEOUT, type FileLimits } from '../common/limits.ts'
import { HEAD_BYTES } from '../common/magic.ts'
import { plural, size } from '../common/page.ts'
import { fenced, unifiedDiff } from '../common/unified-diff.ts'
import { findPlaceholder } from './placeholder.ts'

const input = z.object({
  path: z.string().describe('file'),
  content: z.string().describe('all of it'),
  overwrite: z.boolean().default(false).describe('replace an existing file'),
})
type Input = z.infer<typeof input>

export interface WriteData {
  readonly path: string
  readonly created: boolean
  /** Of the file as it is now. */
  readonly bytes: number
  /** Unified; empty when nothing changed. */
  readonly diff: string
}

interface Existing {
  readonly hash: string
  readonly text: string
  readonly encoding: Encoding
}

/** Writes a whole file in one step, and replaces one only when the model knows what it replaces. */
export function writeFileTool(workspace: Workspace, limits: FileLimits = DEFAULT_LIMITS): Tool {
  return defineTool({
    name: 'write_file',
    description: describe(import.meta.url),
    input,
    effect: 'write',
    edits: true,
    priority: 60,
    timeout: FILE_TIMEOUT,
    aliases: ['write', 'create_file', 'create'],
    parameterAliases: {
      path: ['file_path', 'file', 'filename', 'target_file'],
      content: ['contents', 'text', 'file_text', 'code', 'code_content', 'file_content'],
    },
    ignoredParameters: ['overwrite', 'line_count', 'empty_file', 'create_parents'],
    target: ({ path }) => workspace.target(path),
    examples: [
      { outcome: 'ok', input: { path: 'src/new/main.ts', content: 'export const a = 1\n' } },
      { outcome: 'ok', input: { path: 'a.txt', content: 'same\n' }, files: { 'a.txt': 'same\n' }, why: 'nothing to change' },
      { outcome: 'retry', input: { path: 'a.txt', content: 'new\n' }, files: { 'a.txt': 'old\n' }, why: 'it exists: read it first' },
      { outcome: 'retry', input: { path: 'b.ts', content: '// ... rest of the code unchanged\n' }, why: 'a placeholder' },
    ],
    execute: (call, ctx) => write(workspace, limits, call, ctx),
  })
}

async function write(workspace: Workspace, limits: FileLimits, call: Input, ctx: ToolContext): Promise<ToolOk> {
  const file = await workspace.resolve(call.path, { for: 'write' })
  if (file.kind === 'directory' || /[/\\]$/.test(call.path))
    throw new ModelRetry(`"${file.relative}" is a directory.`, {
      errorType: 'conflict',
      parameter: 'path',
      value: call.path,
      constraint: 'the path of a file',
    })
  try {
    const existing = file.kind === 'file' ? await readExisting(file, limits) : undefined
    const bytes = encode(
      stripBom(call.content),
      existing?.encoding ?? (call.content.startsWith('\ufeff') ? 'utf-8-bom' : 'utf-8'),
      'content',
    )
    if (existing) {
      if (sha256(bytes) === existing.hash) return unchanged(file, bytes.length)
      mayReplace(workspace, file, call, existing)
    }
    refusePlaceholder(call, existing)
    await workspace.changes.apply(ctx.callId, [{ kind: 'write', file, bytes, before: existing?.hash }], ctx.signal)
    workspace.seen.set(file.absolute, { hash: sha256(bytes) })
    return written(file, call.content, bytes.length, existing)
  } catch (error) {
    throw fsError(error, file.relative, 'write')
  }
}

const stripBom = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text)

async function readExisting(file: Resolved, limits: FileLimits): Promise<Existing> {
  const { size: length, bytes } = await readWhole(file, limits.editBytes)
  const refuse = (why: string) =>
    new ToolFailure(`"${file.relative}" ${why}, which write_file does not replace.`, {
      errorType: 'unsupported',
      status: 'failed',
      parameter: 'path',
      value: file.relative,
      constraint: `a text file of at most ${size(limits.editBytes)}, or a new path`,
    })
  if (!bytes) throw refuse(`is ${size(length)} long`)
  const found = sniff(bytes.subarray(0, HEAD_BYTES))
  if (found.kind === 'binary') throw refuse(`is ${found.magic?.what ?? 'a binary file'}`)
  const encoding = found.kind === 'text' ? found.encoding : 'utf-8'
  return { hash: sha256(bytes), text: decode(bytes, encoding) ?? bytes.toString('latin1'), encoding }
}

/** @throws ModelRetry (conflict) unless the model asked to replace the file and has read what is in it now */
function mayReplace(workspace: Workspace, file: Resolved, call: Input, existing: Existing): void {
  const seen = workspace.seen.get(file.absolute)
  if (seen?.hash !== existing.hash && !workspace.trustPresent)
    throw new ModelRetry(`"${file.relative}" exists${seen ? ' and was changed since it was read' : ' and was not read yet'}.`, {
      errorType: 'conflict',
      parameter: 'path',
      value: call.path,
      constraint: 'a new file, or one that was read as it is now, for overwrite=true; to change a part use edit_file',
      call: { tool: 'read_file', input: { path: file.relative } },
    })
  if (!call.overwrite)
    throw new ModelRetry(`"${file.relative}" exists.`, {
      errorType: 'conflict',
      parameter: 'overwrite',
      value: call.overwrite,
      constraint: 'true to replace an existing file',
      suggestion: true,
    })
}

function refusePlaceholder({ content, path }: Input, existing: Existing | undefined): void {
  const found = findPlaceholder(content, existing?.text)
  if (!found) return
  throw new ModelRetry(`Line ${found.line} of content stands for code that was left out: ${JSON.stringify(found.text)}.`, {
    parameter: 'content',
    value: found.text,
    constraint: existing ? 'the whole text, written out; to change a part use edit_file' : 'the whole text, written out',
    ...(existing ? { tool: 'edit_file', path } : {}),
  })
}

const unchanged = (file: Resolved, bytes: number): ToolOk<WriteData> =>
  ok({ path: file.relative, created: false, bytes, diff: '' }, { content: `"${file.relative}" is unchanged: it has this content already.` })

function written(file: Resolved, content: string, bytes: number, existing: Existing | undefined): ToolOk<WriteData> {
  const diff = unifiedDiff(file.relative, existing?.text ?? '', stripBom(content), !existing)
  const data = { path: file.relative, created: !existing, bytes, diff: diff.text }
  const lines = existing ? `+${diff.added} -${diff.removed} lines` : plural(diff.added, 'line')
  return ok(data, {
    content: `${existing ? 'Replaced' : 'Created'} ${file.relative} (${lines}, ${size(bytes)}).`,
    display: fenced(diff.text, 'diff'),
  })
}
