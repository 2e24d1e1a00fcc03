import { defineTool, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { sha256 } from '../../sha256.ts'
import type { Resolved } from '../../workspace/change.ts'
import { about, fsError, tryCall } from '../../workspace/errors.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { encode } from '../common/encoding.ts'
import { DEFAULT_FILE_LIMITS, FILE_TIMEOUT, type FileLimits } from '../common/limits.ts'
import { plural, size } from '../common/page.ts'
import { readTextFile, type TextFile } from '../common/text-file.ts'
import { fenced, unifiedDiff } from '../common/unified-diff.ts'
import { findPlaceholder } from './placeholder.ts'

const input = z.object({
  path: z.string().describe('file'),
  content: z.string().describe('all of it'),
  overwrite: z.boolean().default(false).describe('replace an existing file'),
})
type Input = z.infer<typeof input>

/** Writes a whole file in one step. Replaces an existing file only if the model knows its content. */
export function writeFileTool(workspace: Workspace, limits: FileLimits = DEFAULT_FILE_LIMITS): Tool {
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
    throw new ModelRetry(`"${file.relative}" is a directory.`, about('path', call.path, 'the path of a file', { errorType: 'conflict' }))
  try {
    const asked = { tool: 'write_file', parameter: 'path', replaces: true }
    const existing = file.kind === 'file' ? await readTextFile(file, limits, asked) : undefined
    const text = call.content.replace(/^\ufeff/, '')
    const bytes = encode(text, existing?.encoding ?? (text === call.content ? 'utf-8' : 'utf-8-bom'), 'content')
    if (existing && sha256(bytes) === existing.hash) {
      const data = { path: file.relative, created: false, bytes: bytes.length, diff: '' }
      return ok(data, { content: `"${file.relative}" is unchanged: it already has this content.` })
    }
    if (existing) mayReplace(workspace, file, call, existing)
    refusePlaceholder(call, existing)
    await workspace.changes.apply(ctx.callId, [{ kind: 'write', file, bytes, before: existing?.hash }], ctx.signal)
    workspace.seen.set(file.absolute, { hash: sha256(bytes) })
    const diff = unifiedDiff(file.relative, existing?.text ?? '', text, !existing)
    const lines = existing ? `+${diff.added} -${diff.removed} lines` : plural(diff.added, 'line')
    return ok(
      { path: file.relative, created: !existing, bytes: bytes.length, diff: diff.text },
      {
        content: `${existing ? 'Replaced' : 'Created'} ${file.relative} (${lines}, ${size(bytes.length)}).`,
        display: fenced(diff.text, 'diff'),
      },
    )
  } catch (error) {
    throw fsError(error, file.relative, 'write')
  }
}

/** @throws ModelRetry (conflict) unless the model asked to replace the file and has read its current content */
function mayReplace(workspace: Workspace, { absolute, relative }: Resolved, { path, overwrite }: Input, existing: TextFile): void {
  const seen = workspace.seen.get(absolute)
  if (seen?.hash !== existing.hash && !workspace.trustPresent) {
    const constraint = 'a new file, or one that was read as it is now, for overwrite=true; to change a part use edit_file'
    throw new ModelRetry(
      `"${relative}" exists and was ${seen ? 'changed since it was read' : 'not read yet'}.`,
      about('path', path, constraint, { errorType: 'conflict', ...tryCall('read_file', { path: relative }) }),
    )
  }
  if (!overwrite)
    throw new ModelRetry(
      `"${relative}" exists.`,
      about('overwrite', overwrite, 'true to replace an existing file', { errorType: 'conflict', suggestion: true }),
    )
}

function refusePlaceholder({ content, path }: Input, existing: TextFile | undefined): void {
  const found = findPlaceholder(content, existing?.text)
  if (!found) return
  const constraint = existing ? 'the whole text, written out; to change a part use edit_file' : 'the whole text, written out'
  throw new ModelRetry(
    `Line ${found.line} of content stands for code that was left out: ${JSON.stringify(found.text)}.`,
    about('content', found.text, constraint, existing && { tool: 'edit_file', path }),
  )
}
