import { defineTool, isMulliganError, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { sha256 } from '../../sha256.ts'
import { fsError } from '../../workspace/fs-error.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { encode } from '../common/encoding.ts'
import { DEFAULT_LIMITS, FILE_TIMEOUT, type FileLimits } from '../common/limits.ts'
import { size } from '../common/page.ts'
import { hasPaddedMarkers, parsePatch } from './format/parse.ts'
import { targetsOf } from './format/paths.ts'
import { fromOtherShapes } from './other-shapes.ts'
import { type Planned, planPatch } from './plan.ts'
import { type PatchedFile, report } from './report.ts'
import { withCorrection } from './suggest.ts'
import type { PatchFile } from './tree/tree.ts'

const input = z.object({ patch: z.string().describe('*** Begin Patch … *** End Patch, or a unified diff') })
type Input = z.infer<typeof input>

export interface PatchData {
  readonly files: readonly PatchedFile[]
}

/** Changes several files by one patch: all of it or nothing, and no byte but those of the changed lines. */
export function applyPatchTool(workspace: Workspace, limits: FileLimits = DEFAULT_LIMITS): Tool {
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

async function apply(workspace: Workspace, limits: FileLimits, { patch }: Input, ctx: ToolContext): Promise<ToolOk<PatchData>> {
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

/** As it reads best; where that can't be applied, with markers that have spaces before them. */
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

/** What the model has written it knows, unless it changed a file that had changed under it. */
function remember({ seen }: Workspace, { origin, at, original, text }: PatchFile): void {
  const known = origin && seen.get(origin.absolute)
  if (origin && origin.absolute !== at?.absolute) seen.delete(origin.absolute)
  if (!at) return
  if (!origin || (known && known.hash === original?.hash && text !== undefined))
    seen.set(at.absolute, { hash: sha256(encode(text ?? '', original?.encoding ?? 'utf-8')) })
  else if (known) seen.set(at.absolute, known)
}
