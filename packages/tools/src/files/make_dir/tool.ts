import { defineTool, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { about, fsError } from '../../workspace/errors.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { FILE_TIMEOUT } from '../common/limits.ts'

const input = z.object({ path: z.string().describe('folder') })

/** Creates a folder and its parents. An existing folder is not an error. */
export function makeDirTool(workspace: Workspace): Tool {
  return defineTool({
    name: 'make_dir',
    description: describe(import.meta.url),
    input,
    effect: 'write',
    edits: true,
    timeout: FILE_TIMEOUT,
    aliases: ['mkdir', 'make_directory', 'create_directory', 'create_dir', 'create_folder'].map((name) => ({ name, adapt: fromShell })),
    parameterAliases: { path: ['dir', 'directory', 'dir_path', 'directory_path', 'folder', 'folder_path', 'file_path'] },
    target: ({ path }) => workspace.target(path),
    examples: [
      { outcome: 'ok', input: { path: 'src/new' } },
      { outcome: 'ok', input: { path: 'src' }, files: { 'src/a.ts': '' }, why: 'it is there' },
      { outcome: 'retry', input: { path: 'a.ts' }, files: { 'a.ts': '' }, why: 'a file stands there' },
    ],
    execute: ({ path }, ctx) => make(workspace, path, ctx),
  })
}

/** Drops the flags of `mkdir -p`, which is the default here. */
const fromShell = ({ parents: _, recursive: __, ...rest }: Record<string, unknown>): Record<string, unknown> => rest

async function make(workspace: Workspace, path: string, ctx: ToolContext): Promise<ToolOk> {
  const directory = await workspace.resolve(path, { for: 'write', contents: false })
  const data = { path: directory.relative, created: directory.kind === 'missing' }
  if (directory.kind === 'directory') return ok(data, { content: `${directory.relative} is there already.` })
  if (directory.kind === 'file')
    throw new ModelRetry(`"${directory.relative}" is a file.`, about('path', path, 'a path that is not a file', { errorType: 'conflict' }))
  try {
    await workspace.changes.apply(ctx.callId, [{ kind: 'make_dir', directory }], ctx.signal)
  } catch (error) {
    throw fsError(error, directory.relative, 'write')
  }
  return ok(data, { content: `Made ${directory.relative}.` })
}
