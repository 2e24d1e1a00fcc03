import { isAbsolute, join, posix, relative } from 'node:path'
import { defineTool, ModelRetry, ok, type Tool, type ToolContext, ToolFailure, type ToolOk } from '@mulligan/core'
import { isMulliganError } from '@mulligan/core/executor'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { about, fsError } from '../../workspace/errors.ts'
import { baseName } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { FILE_TIMEOUT } from '../common/limits.ts'
import { refuseRoot } from '../common/search-root.ts'

const input = z.object({
  path: z.string().describe('file or folder'),
  to: z.string().describe('new path, or folder/'),
})
type Input = z.infer<typeof input>

/** Moves a file, folder or link to a path that does not exist yet. */
export function moveFileTool(workspace: Workspace): Tool {
  return defineTool({
    name: 'move_file',
    description: describe(import.meta.url),
    input,
    effect: 'write',
    edits: true,
    timeout: FILE_TIMEOUT,
    aliases: ['move', 'mv', 'move_directory', { name: 'rename', adapt: fromNewName }, { name: 'rename_file', adapt: fromNewName }],
    parameterAliases: {
      path: ['source', 'from', 'src', 'source_path', 'old_path', 'file_path', 'filePath'],
      to: ['destination', 'dest', 'dst', 'target', 'destination_path', 'new_path', 'newPath'],
    },
    target: ({ path, to }) => [workspace.target(path), workspace.target(to)],
    examples: [
      { outcome: 'ok', input: { path: 'a.ts', to: 'src/b.ts' }, files: { 'a.ts': 'export {}\n' } },
      { outcome: 'ok', input: { path: 'docs', to: 'old/' }, files: { 'docs/a.md': '', 'old/b.md': '' }, why: 'a folder, into another' },
      { outcome: 'retry', input: { path: 'a.ts', to: 'src' }, files: { 'a.ts': '', 'src/b.ts': '' }, why: 'a folder stands there' },
      { outcome: 'retry', input: { path: 'main.ts', to: 'b.ts' }, files: { 'src/main.ts': '' }, why: 'the nearest path is named' },
    ],
    execute: (call, ctx) => move(workspace, call, ctx),
  })
}

/** Accepts a new name without a folder, as when a person renames a file. */
const fromNewName = ({ new_name: name, ...rest }: Record<string, unknown>): Record<string, unknown> =>
  typeof name === 'string' && typeof rest['path'] === 'string' && !name.includes('/')
    ? { ...rest, to: posix.join(posix.dirname(rest['path']), name) }
    : { ...rest, ...(name !== undefined && { new_name: name }) }

async function move(workspace: Workspace, call: Input, ctx: ToolContext): Promise<ToolOk> {
  const from = await workspace.resolve(call.path, { for: 'write', mustExist: true, follow: false, whole: true })
  refuseRoot(from, call.path)
  const wanted = /[/\\]$/.test(call.to) ? `${call.to}${baseName(from.relative)}` : call.to
  const to = await workspace.resolve(wanted, { for: 'write', follow: false }).catch(aboutTo)
  const conflict = (says: string, constraint: string, suggestion?: string): ModelRetry =>
    new ModelRetry(says, about('to', call.to, constraint, { errorType: 'conflict', ...(suggestion !== undefined && { suggestion }) }))
  const way = below(from.absolute, to.absolute)
  if (way !== undefined) {
    const says = way === '' ? `"${from.relative}" is there already.` : `"${from.relative}" can't be moved into itself.`
    throw conflict(says, 'a path outside it')
  }
  if (to.kind !== 'missing') {
    const within = posix.join(to.relative, baseName(from.relative))
    const inside = to.kind === 'file' ? undefined : await workspace.resolve(within, { for: 'write', follow: false }).catch(() => undefined)
    const says = `"${to.relative}" is ${to.kind === 'directory' ? 'a folder' : 'a file'} that exists.`
    throw conflict(says, 'a path that does not exist yet', inside?.kind === 'missing' ? within : undefined)
  }
  try {
    await workspace.changes.apply(ctx.callId, [{ kind: 'move', from, to, before: undefined }], ctx.signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw fsError(error, to.relative, 'write')
    const constraint = 'for a folder or a link, a path on the same file system; files can be moved one by one'
    throw new ToolFailure(
      `"${from.relative}" can't be moved to another file system as a whole.`,
      about('to', call.to, constraint, { errorType: 'unsupported' }),
    )
  }
  // Files that were read under the old path count as read under the new one.
  for (const [path, file] of [...workspace.seen]) {
    const rest = below(from.absolute, path)
    if (rest === undefined) continue
    workspace.seen.delete(path)
    workspace.seen.set(join(to.absolute, rest), file)
  }
  return ok({ from: from.relative, path: to.relative }, { content: `Moved ${from.relative} to ${to.relative}.` })
}

/** Returns the path relative to a folder: empty for the folder itself, undefined for a path outside it. */
function below(folder: string, path: string): string | undefined {
  const way = relative(folder, path)
  return way !== '' && (way.startsWith('..') || isAbsolute(way)) ? undefined : way
}

/** Makes errors about the destination name its parameter. */
function aboutTo(error: unknown): never {
  if (!isMulliganError(error)) throw error
  const { message, errorType, status, details } = error
  const Kind = status === 'retry' ? ModelRetry : ToolFailure
  throw new Kind(message, { ...details, errorType, status, cause: error, ...(details.parameter === 'path' && { parameter: 'to' }) })
}
