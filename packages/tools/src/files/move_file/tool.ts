import { basename, dirname, isAbsolute, posix, relative } from 'node:path'
import { defineTool, isMulliganError, ModelRetry, ok, type Tool, type ToolContext, ToolFailure, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { fsError } from '../../workspace/fs-error.ts'
import { baseName } from '../../workspace/paths.ts'
import type { Resolved, Workspace } from '../../workspace/workspace.ts'
import { FILE_TIMEOUT } from '../common/limits.ts'
import { refuseRoot } from '../common/root.ts'

const input = z.object({
  path: z.string().describe('file or folder'),
  to: z.string().describe('new path, or folder/'),
})
type Input = z.infer<typeof input>

export interface MoveData {
  readonly from: string
  readonly path: string
}

/** Moves a file, a folder or a link to a path where nothing stands. */
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

/** The name alone, as a person renames a file. */
const fromNewName = ({ new_name: name, ...rest }: Record<string, unknown>): Record<string, unknown> =>
  typeof name === 'string' && typeof rest['path'] === 'string' && !name.includes('/')
    ? { ...rest, to: posix.join(posix.dirname(rest['path']), name) }
    : { ...rest, ...(name !== undefined && { new_name: name }) }

async function move(workspace: Workspace, call: Input, ctx: ToolContext): Promise<ToolOk<MoveData>> {
  const from = await workspace.resolve(call.path, { for: 'write', mustExist: true, follow: false, whole: true })
  refuseRoot(from, call.path)
  const wanted = /[/\\]$/.test(call.to) ? `${call.to}${baseName(from.relative)}` : call.to
  const to = await workspace.resolve(wanted, { for: 'write', follow: false }).catch(aboutTo)
  refuseInside(from, to, call)
  if (to.kind !== 'missing') throw await taken(workspace, from, to, call)
  try {
    await workspace.changes.apply(ctx.callId, [{ kind: 'move', from, to, before: undefined }], ctx.signal)
  } catch (error) {
    throw otherFileSystem(error, from, call) ?? fsError(error, to.relative, 'write')
  }
  moveSeen(workspace, from, to)
  const data = { from: from.relative, path: to.relative }
  return ok(data, { content: `Moved ${from.relative} to ${to.relative}.` })
}

function refuseInside(from: Resolved, to: Resolved, call: Input): void {
  const way = relative(from.absolute, to.absolute)
  if (way !== '' && (way.startsWith('..') || isAbsolute(way))) return
  throw new ModelRetry(way === '' ? `"${from.relative}" is there already.` : `"${from.relative}" can't be moved into itself.`, {
    errorType: 'conflict',
    parameter: 'to',
    value: call.to,
    constraint: 'another path, that does not lie in it',
  })
}

async function taken(workspace: Workspace, from: Resolved, to: Resolved, call: Input): Promise<ModelRetry> {
  const within = posix.join(to.relative, baseName(from.relative))
  const isFree =
    to.kind === 'directory' && (await workspace.resolve(within, { for: 'write', follow: false }).catch(() => undefined))?.kind === 'missing'
  return new ModelRetry(`"${to.relative}" is ${to.kind === 'directory' ? 'a folder' : 'a file'} that exists.`, {
    errorType: 'conflict',
    parameter: 'to',
    value: call.to,
    constraint: 'a path where nothing stands yet',
    ...(isFree && { suggestion: within }),
  })
}

/** Errors of the other path name the parameter that it came in. */
function aboutTo(error: unknown): never {
  if (!isMulliganError(error)) throw error
  const { message, errorType, status, details } = error
  const Kind = status === 'retry' ? ModelRetry : ToolFailure
  throw new Kind(message, { ...details, errorType, status, cause: error, ...(details.parameter === 'path' && { parameter: 'to' }) })
}

const otherFileSystem = (error: unknown, from: Resolved, { to }: Input): ToolFailure | undefined =>
  (error as NodeJS.ErrnoException).code !== 'EXDEV'
    ? undefined
    : new ToolFailure(`"${from.relative}" can't be moved to another file system as a whole.`, {
        errorType: 'unsupported',
        status: 'failed',
        parameter: 'to',
        value: to,
        constraint: 'for a folder or a link, a path on the same file system; files can be moved one by one',
      })

/** What was read under the old path was read under the new one. */
function moveSeen({ seen }: Workspace, from: Resolved, to: Resolved): void {
  for (const [path, file] of [...seen]) {
    const way = relative(from.absolute, path)
    if (way.startsWith('..') || isAbsolute(way)) continue
    seen.delete(path)
    seen.set(way === '' ? to.absolute : `${dirname(to.absolute)}/${basename(to.absolute)}/${way}`, file)
  }
}
