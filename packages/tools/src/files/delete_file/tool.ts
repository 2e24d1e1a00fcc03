import { lstat, readdir } from 'node:fs/promises'
import { defineTool, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { withDirectory } from '../../workspace/contain.ts'
import { about, fsError, tryCall } from '../../workspace/errors.ts'
import type { Resolved, Workspace } from '../../workspace/workspace.ts'
import { FILE_TIMEOUT } from '../common/limits.ts'
import { plural, size } from '../common/page.ts'
import { refuseRoot } from '../common/search-root.ts'

const input = z.object({ path: z.string().describe('file or empty folder') })

/** Deletes one file, folder or link. The change log can restore it. */
export function deleteFileTool(workspace: Workspace): Tool {
  return defineTool({
    name: 'delete_file',
    description: describe(import.meta.url),
    input,
    effect: 'write',
    edits: true,
    timeout: FILE_TIMEOUT,
    aliases: ['delete', 'remove', 'remove_file', 'rm', 'unlink', 'rmdir', 'delete_directory'].map((name) => ({ name, adapt: fromShell })),
    parameterAliases: { path: ['file_path', 'file', 'filename', 'target', 'target_file', 'dir', 'directory'] },
    target: ({ path }) => workspace.target(path),
    examples: [
      { outcome: 'ok', input: { path: 'old.txt' }, files: { 'old.txt': 'x\n' } },
      { outcome: 'retry', input: { path: 'src' }, files: { 'src/a.ts': '' }, why: 'a folder that is not empty' },
      { outcome: 'retry', input: { path: 'odl.txt' }, files: { 'old.txt': '' }, why: 'the nearest path is named' },
    ],
    execute: ({ path }, ctx) => remove(workspace, path, ctx),
  })
}

/** Drops the flags of `rm -rf`; they change nothing here. */
const fromShell = ({ recursive: _, force: __, ...rest }: Record<string, unknown>): Record<string, unknown> => rest

async function remove(workspace: Workspace, path: string, ctx: ToolContext): Promise<ToolOk> {
  const file = await workspace.resolve(path, { for: 'write', mustExist: true, follow: false, contents: false })
  refuseRoot(file, path)
  try {
    if (file.kind === 'directory') await refuseFull(file)
    const was = file.isLink ? 'link' : file.kind === 'directory' ? 'directory' : 'file'
    const bytes = was === 'file' ? (await lstat(file.absolute)).size : undefined
    await workspace.changes.apply(ctx.callId, [{ kind: 'delete', file, before: undefined }], ctx.signal)
    workspace.seen.delete(file.absolute)
    const what = was === 'file' ? size(bytes ?? 0) : was === 'link' ? 'a link' : 'an empty folder'
    return ok({ path: file.relative, was, ...(bytes !== undefined && { bytes }) }, { content: `Deleted ${file.relative} (${what}).` })
  } catch (error) {
    throw fsError(error, file.relative, 'write')
  }
}

async function refuseFull(folder: Resolved): Promise<void> {
  const { length } = await withDirectory(folder.root, folder.absolute, (base) => readdir(base))
  if (length === 0) return
  const more = { errorType: 'conflict', ...tryCall('list_dir', { path: folder.relative, hidden: true }) } as const
  throw new ModelRetry(
    `"${folder.relative}" is a folder with ${plural(length, 'entry', 'entries')} in it.`,
    about('path', folder.relative, 'a file or an empty folder: what is in it is deleted first, one by one', more),
  )
}
