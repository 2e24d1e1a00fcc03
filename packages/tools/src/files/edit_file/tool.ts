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
import { readTextFile } from '../common/text-file.ts'
import { fenced, unifiedDiff } from '../common/unified-diff.ts'
import { findPlaceholder } from '../write_file/placeholder.ts'
import { fromOtherShapes } from './other-shapes.ts'
import { type Edit, plan } from './plan.ts'
import { refusal } from './refusal.ts'

const MAX_EDITS = 100

const input = z.object({
  path: z.string().describe('file'),
  edits: z
    .array(
      z.object({
        old_text: z.string().describe('copied from the file'),
        new_text: z.string().describe('text to put there'),
        replace_all: z.boolean().default(false).describe('replace every occurrence'),
      }),
    )
    .min(1)
    .max(MAX_EDITS)
    .describe('replacements, in any order'),
})
type Input = z.infer<typeof input>

/** Edits a file by replacing text. All edits are made or none, and all other bytes stay the same. */
export function editFileTool(workspace: Workspace, limits: FileLimits = DEFAULT_FILE_LIMITS): Tool {
  const files = { 'src/main.ts': 'const a = 1\nconst b = 2\nconst c = 1\n' }
  return defineTool({
    name: 'edit_file',
    description: describe(import.meta.url),
    input,
    effect: 'write',
    edits: true,
    priority: 70,
    timeout: FILE_TIMEOUT,
    aliases: ['edit', 'update_file', 'str_replace', 'multi_edit', 'multiedit', 'replace_in_file', 'search_replace'].map((name) => ({
      name,
      adapt: fromOtherShapes,
    })),
    parameterAliases: { path: ['file_path', 'file', 'filename', 'target_file'], edits: ['changes', 'replacements', 'replacement_chunks'] },
    ignoredParameters: ['blocking', 'code_markdown_language', 'target_lint_error_ids'],
    target: ({ path }) => workspace.target(path),
    examples: [
      { outcome: 'ok', input: { path: 'src/main.ts', edits: [{ old_text: 'b = 2', new_text: 'b = 3' }] }, files },
      { outcome: 'ok', input: { path: 'src/new.ts', edits: [{ old_text: '', new_text: 'export {}\n' }] }, why: 'creates the file' },
      { outcome: 'retry', input: { path: 'src/main.ts', edits: [{ old_text: '= 1', new_text: '= 0' }] }, files, why: 'occurs twice' },
      {
        outcome: 'retry',
        input: { path: 'src/main.ts', edits: [{ old_text: 'const b = 4', new_text: 'const b = 5' }] },
        files: { 'src/main.ts': 'import x from "y"\n\nconst b = 2\n' },
        why: 'not there; the closest part is shown',
      },
      { outcome: 'retry', input: { path: 'main.ts', edits: [{ old_text: 'a', new_text: 'b' }] }, files, why: 'the nearest path is named' },
    ],
    execute: (call, ctx) => edit(workspace, limits, call, ctx),
  })
}

async function edit(workspace: Workspace, limits: FileLimits, call: Input, ctx: ToolContext): Promise<ToolOk> {
  const creates = call.edits[0]?.old_text === ''
  const file = await workspace.resolve(call.path, { for: 'write', mustExist: !creates })
  if (file.kind === 'directory' || (file.kind === 'missing' && /[/\\]$/.test(call.path)))
    throw new ModelRetry(
      `"${file.relative}" is a directory.`,
      about('path', call.path, 'a file', file.kind === 'directory' ? tryCall('list_dir', { path: file.relative }) : {}),
    )
  try {
    const current = file.kind === 'missing' ? undefined : await readTextFile(file, limits, { tool: 'edit_file', parameter: 'path' })
    const seen = workspace.seen.get(file.absolute)
    const changed = current !== undefined && seen?.hash !== undefined && seen.hash !== current.hash
    const before = current?.text ?? ''
    const planned = plan(before, call.edits)
    if (!planned.ok && changed && !['empty', 'same', 'unchanged'].includes(planned.problem.kind)) throw conflict(file)
    if (!planned.ok) throw refusal({ path: file.relative, text: before, edits: call.edits, index: planned.edit, problem: planned.problem })
    const { text: after, applied } = planned
    // In a file that changed since it was read, only a single exact match counts as the intended place.
    if (changed && applied.some(({ strategy, lines }) => strategy.name !== 'exact' || lines.length > 1)) throw conflict(file)
    refusePlaceholders(call.edits)

    const bytes = encode(after, current?.encoding ?? 'utf-8', 'edits')
    await workspace.changes.apply(ctx.callId, [{ kind: 'write', file, bytes, before: current?.hash }], ctx.signal)
    if (!current || (seen && !changed)) workspace.seen.set(file.absolute, { hash: sha256(bytes) })
    const diff = unifiedDiff(file.relative, before, after, !current)
    const lines = applied.flatMap((one) => one.lines)
    const notes = applied.flatMap(({ edit: at, strategy }) => (strategy.note ? [`edits[${at}] ${strategy.note}.`] : []))
    if (changed) notes.push('The file was changed elsewhere since it was read.')
    const where = `${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, 10).join(', ')}${lines.length > 10 ? ', …' : ''}`
    return ok(
      { path: file.relative, replacements: lines.length, bytes: bytes.length, created: !current, diff: diff.text },
      {
        content: current
          ? `Edited ${file.relative}: ${plural(lines.length, 'replacement')} (${where}; +${diff.added} -${diff.removed}).`
          : `Created ${file.relative} (${plural(diff.added, 'line')}, ${size(bytes.length)}).`,
        display: fenced(diff.text, 'diff'),
        ...(notes.length > 0 && { notes }),
      },
    )
  } catch (error) {
    throw fsError(error, file.relative, 'write')
  }
}

const conflict = ({ relative }: Resolved): ModelRetry =>
  new ModelRetry(`"${relative}" was changed since it was read, where these edits apply. Nothing was written.`, {
    errorType: 'conflict',
    parameter: 'edits',
    constraint: 'edits of the file as it is now',
    ...tryCall('read_file', { path: relative }),
  })

function refusePlaceholders(edits: readonly Edit[]): void {
  for (const [index, { old_text, new_text }] of edits.entries()) {
    const found = findPlaceholder(new_text)
    if (!found || old_text.includes(found.text)) continue
    const name = `edits[${index}].new_text`
    throw new ModelRetry(
      `${name} has a line that stands for code that was left out: ${JSON.stringify(found.text)}. Nothing was written.`,
      about(name, found.text, 'the text, written out; leave lines that stay out of old_text and new_text'),
    )
  }
}
