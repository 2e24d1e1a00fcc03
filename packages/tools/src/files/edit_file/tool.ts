import { defineTool, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { sha256 } from '../../sha256.ts'
import { fsError } from '../../workspace/fs-error.ts'
import type { Resolved, Workspace } from '../../workspace/workspace.ts'
import { type Encoding, encode } from '../common/encoding.ts'
import { DEFAULT_LIMITS, FILE_TIMEOUT, type FileLimits } from '../common/limits.ts'
import { plural, size } from '../common/page.ts'
import { readTextFile } from '../common/text-file.ts'
import { fenced, unifiedDiff } from '../common/unified-diff.ts'
import { findPlaceholder } from '../write_file/placeholder.ts'
import { fromOtherShapes } from './other-shapes.ts'
import { type Applied, type Edit, plan } from './plan.ts'
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

export interface EditData {
  readonly path: string
  /** Places that were changed. */
  readonly replacements: number
  readonly bytes: number
  readonly created: boolean
  /** Unified, three lines of context. */
  readonly diff: string
}

interface Current {
  readonly text: string
  /** Absent for a file that does not exist. */
  readonly hash: string | undefined
  readonly encoding: Encoding
}

/** Changes places of a file by their text: all edits or none, and no byte but the matched ones. */
export function editFileTool(workspace: Workspace, limits: FileLimits = DEFAULT_LIMITS): Tool {
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
    throw new ModelRetry(`"${file.relative}" is a directory.`, {
      parameter: 'path',
      value: call.path,
      constraint: 'a file',
      ...(file.kind === 'directory' ? { call: { tool: 'list_dir', input: { path: file.relative } } } : {}),
    })
  try {
    const current = file.kind === 'missing' ? NOTHING : await readTextFile(file, limits, { tool: 'edit_file', parameter: 'path' })
    const seen = workspace.seen.get(file.absolute)
    const changed = seen?.hash !== undefined && current.hash !== undefined && seen.hash !== current.hash
    const planned = plan(current.text, call.edits)
    if (!planned.ok && changed && !['empty', 'same', 'unchanged'].includes(planned.problem.kind)) throw conflict(file)
    if (!planned.ok)
      throw refusal({ path: file.relative, text: current.text, edits: call.edits, index: planned.edit, problem: planned.problem })
    // In a changed file only the very text, and once, counts as the place that was meant.
    if (changed && planned.applied.some(({ strategy, lines }) => strategy.name !== 'exact' || lines.length > 1)) throw conflict(file)
    refusePlaceholders(call.edits)

    const bytes = encode(planned.text, current.encoding, 'edits')
    await workspace.changes.apply(ctx.callId, [{ kind: 'write', file, bytes, before: current.hash }], ctx.signal)
    if (!current.hash || (seen && !changed)) workspace.seen.set(file.absolute, { hash: sha256(bytes) })
    return edited(file, current, planned.text, bytes.length, planned.applied, changed)
  } catch (error) {
    throw fsError(error, file.relative, 'write')
  }
}

const NOTHING: Current = { text: '', hash: undefined, encoding: 'utf-8' }

const conflict = (file: Resolved): ModelRetry =>
  new ModelRetry(`"${file.relative}" was changed since it was read, where these edits apply. Nothing was written.`, {
    errorType: 'conflict',
    parameter: 'edits',
    constraint: 'edits of the file as it is now',
    call: { tool: 'read_file', input: { path: file.relative } },
  })

function refusePlaceholders(edits: readonly Edit[]): void {
  for (const [index, { old_text, new_text }] of edits.entries()) {
    const found = findPlaceholder(new_text)
    if (found && !old_text.includes(found.text))
      throw new ModelRetry(
        `edits[${index}].new_text has a line that stands for code that was left out: ${JSON.stringify(found.text)}. Nothing was written.`,
        {
          parameter: `edits[${index}].new_text`,
          value: found.text,
          constraint: 'the text, written out; leave lines that stay out of old_text and new_text',
        },
      )
  }
}

function edited(
  file: Resolved,
  before: Current,
  after: string,
  bytes: number,
  applied: readonly Applied[],
  changed: boolean,
): ToolOk<EditData> {
  const created = before.hash === undefined
  const diff = unifiedDiff(file.relative, before.text, after, created)
  const lines = applied.flatMap((one) => one.lines)
  const notes = applied.flatMap(({ edit, strategy }) => (strategy.note ? [`edits[${edit}] ${strategy.note}.`] : []))
  if (changed) notes.push('The file was changed elsewhere since it was read.')
  const where = `${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, 10).join(', ')}${lines.length > 10 ? ', …' : ''}`
  return ok(
    { path: file.relative, replacements: lines.length, bytes, created, diff: diff.text },
    {
      content: created
        ? `Created ${file.relative} (${plural(diff.added, 'line')}, ${size(bytes)}).`
        : `Edited ${file.relative}: ${plural(lines.length, 'replacement')} (${where}; +${diff.added} -${diff.removed}).`,
      display: fenced(diff.text, 'diff'),
      ...(notes.length > 0 ? { notes } : {}),
    },
  )
}
