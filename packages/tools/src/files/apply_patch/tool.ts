import { defineTool, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { isMulliganError } from '@mulligan/core/executor'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { sha256 } from '../../sha256.ts'
import { fsError } from '../../workspace/errors.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { encode } from '../common/encoding.ts'
import { DEFAULT_FILE_LIMITS, FILE_TIMEOUT, type FileLimits } from '../common/limits.ts'
import { size } from '../common/page.ts'
import { fenced, unifiedDiff } from '../common/unified-diff.ts'
import { hasPaddedMarkers, parsePatch } from './format/parse.ts'
import { targetsOf } from './format/unified.ts'
import { fromOtherShapes } from './other-shapes.ts'
import { type Planned, planPatch } from './plan.ts'
import { withCorrection } from './refusal.ts'
import { isChanged, type PatchFile } from './tree.ts'

const input = z.object({ patch: z.string().describe('*** Begin Patch … *** End Patch, or a unified diff') })
type Input = z.infer<typeof input>

/** Changes several files with one patch. All changes are made or none, and bytes outside the changed lines stay the same. */
export function applyPatchTool(workspace: Workspace, limits: FileLimits = DEFAULT_FILE_LIMITS): Tool {
  const files = { 'src/main.ts': 'const a = 1\nconst b = 2\n', 'old.txt': 'old\n' }
  const patch = (...lines: readonly string[]) => ({ patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })
  return defineTool({
    name: 'apply_patch',
    description: describe(import.meta.url),
    input,
    effect: 'write',
    edits: true,
    timeout: FILE_TIMEOUT,
    aliases: ['patch', 'apply_diff', 'applypatch'].map((name) => ({ name, adapt: fromOtherShapes })),
    parameterAliases: { patch: ['input', 'diff', 'patch_text'] },
    target: ({ patch }) => targetsOf(patch).map(workspace.target),
    examples: [
      {
        outcome: 'ok',
        input: patch(
          '*** Update File: src/main.ts',
          '@@',
          ' const a = 1',
          '-const b = 2',
          '+const b = 3',
          '*** Add File: new.txt',
          '+new',
          '*** Delete File: old.txt',
        ),
        files,
      },
      {
        outcome: 'retry',
        input: patch('*** Update File: src/main.ts', '@@', ' const a = 1', '-const b = 4', '+const b = 5'),
        files,
        why: 'a line that is not there; the closest part is shown',
      },
      { outcome: 'retry', input: patch('*** Add File: old.txt', '+new'), files, why: 'the file exists' },
      { outcome: 'retry', input: patch('*** Update File: main.ts', '@@', '-a', '+b'), files, why: 'the nearest path is named' },
    ],
    execute: (call, ctx) => apply(workspace, limits, call, ctx),
  })
}

async function apply(workspace: Workspace, limits: FileLimits, { patch }: Input, ctx: ToolContext): Promise<ToolOk> {
  if (Buffer.byteLength(patch) > limits.editBytes)
    throw new ModelRetry(`The patch is ${size(Buffer.byteLength(patch))} long. Nothing was written.`, {
      errorType: 'too_large',
      parameter: 'patch',
      constraint: `a patch of at most ${size(limits.editBytes)}`,
    })
  const works = (text: string): Promise<boolean> =>
    plan(workspace, limits, text).then(
      () => true,
      () => false,
    )
  const planned = await plan(workspace, limits, patch).catch(async (error: unknown) => {
    throw await withCorrection(error, patch, works)
  })
  try {
    if (planned.changes.length > 0) await workspace.changes.apply(ctx.callId, planned.changes, ctx.signal)
  } catch (error) {
    throw fsError(error, targetsOf(patch).join('", "'), 'write')
  }
  for (const file of planned.files) remember(workspace, file)
  const { files, content, display } = report(planned.files)
  const notes = [...new Set(planned.notes)]
  return ok({ files }, { content, ...(display !== '' && { display }), ...(notes.length > 0 && { notes }) })
}

/** Plans the patch with indented markers read as context. If it can't be applied that way, reads them as markers. */
async function plan(workspace: Workspace, limits: FileLimits, text: string): Promise<Planned> {
  try {
    return await planPatch(workspace, limits, parsePatch(text))
  } catch (error) {
    if (!isMulliganError(error) || !hasPaddedMarkers(text)) throw error
    try {
      return await planPatch(workspace, limits, parsePatch(text, 'marker'))
    } catch {
      throw error
    }
  }
}

/** Records the new content as read, unless the file had been changed by others before. */
function remember({ seen }: Workspace, { origin, at, original, text }: PatchFile): void {
  const known = origin && seen.get(origin.absolute)
  if (origin && origin.absolute !== at?.absolute) seen.delete(origin.absolute)
  if (!at) return
  if (!origin || (known && known.hash === original?.hash && text !== undefined))
    seen.set(at.absolute, { hash: sha256(encode(text ?? '', original?.encoding ?? 'utf-8')) })
  else if (known) seen.set(at.absolute, known)
}

const LETTERS = { added: 'A', modified: 'M', deleted: 'D', moved: 'R' } as const

/** Reports the changes for the model, the user and programs. */
function report(all: readonly PatchFile[]) {
  const changed = all.flatMap(patched)
  // A file that is deleted and added again counts as modified.
  const pathsOf = (which: Patched['change']): ReadonlySet<string> =>
    new Set(changed.flatMap(({ change, path }) => (change === which ? [path] : [])))
  const [added, deleted] = [pathsOf('added'), pathsOf('deleted')]
  const files = changed
    .filter(({ change, path }) => change !== 'deleted' || !added.has(path))
    .map((file): Patched => (file.change === 'added' && deleted.has(file.path) ? { ...file, change: 'modified' } : file))
  const diffs = files.map(({ change, path, diff }) => (change === 'deleted' ? `Deleted ${path}\n` : diff)).join('')
  const same = files.every(({ change }) => change === 'unchanged')
  const content = same ? `Nothing to change: ${files.map(said).join(', ')}` : files.map(said).join('\n')
  return { files, content, display: diffs === '' ? '' : fenced(diffs, 'diff') }
}

interface Patched {
  readonly change: keyof typeof LETTERS | 'unchanged'
  /** Current path; for a deleted file, its former path. */
  readonly path: string
  /** Former path of a moved file. */
  readonly from?: string
  readonly added: number
  readonly removed: number
  /** Unified diff with three lines of context; empty for deleted files. */
  readonly diff: string
}

function patched(file: PatchFile): Patched[] {
  const { origin, at, original, text } = file
  if (!at) return origin ? [{ change: 'deleted', path: origin.relative, added: 0, removed: 0, diff: '' }] : []
  const from = origin && origin.absolute !== at.absolute ? origin.relative : undefined
  const change = !origin ? 'added' : from !== undefined ? 'moved' : isChanged(file) ? 'modified' : 'unchanged'
  const isShown = change !== 'unchanged' && text !== undefined
  const diff = isShown ? unifiedDiff(at.relative, original?.text ?? '', text, !origin) : { text: '', added: 0, removed: 0 }
  // New files are counted by the diff. For long files the diff may have been abandoned.
  const { added, removed } = (origin && file.counts) || diff
  const head = from === undefined ? '' : `rename from ${from}\nrename to ${at.relative}\n`
  return [{ change, path: at.relative, ...(from !== undefined && { from }), added, removed, diff: head + diff.text }]
}

function said({ change, path, from, added, removed }: Patched): string {
  if (change === 'unchanged') return `${path} is unchanged.`
  const lines = added + removed > 0 ? ` (+${added} -${removed})` : ''
  return `${LETTERS[change]} ${from === undefined ? path : `${from} -> ${path}`}${lines}`
}
