import type { Dirent } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { defineTool, empty, ModelRetry, ok, type Tool, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { withDirectory } from '../../workspace/contain.ts'
import { about, fsError, tryCall } from '../../workspace/errors.ts'
import { printable } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { ignoring } from '../common/glob-match.ts'
import { FILE_TIMEOUT } from '../common/limits.ts'
import { plural, size } from '../common/page.ts'

const DEFAULT_ENTRIES = 500
const MAX_ENTRIES = 5000

const input = z.object({
  path: z.string().default('.').describe('folder'),
  ignore: z.array(z.string()).default([]).describe('globs'),
  hidden: z.boolean().default(false).describe('dot files too'),
  limit: z.int().min(1).max(MAX_ENTRIES).default(DEFAULT_ENTRIES).describe('entries'),
})
type Input = z.infer<typeof input>

/** Lists a folder as it is on the disk, folders first. */
export function listDirTool(workspace: Workspace): Tool {
  return defineTool({
    name: 'list_dir',
    description: describe(import.meta.url),
    input,
    effect: 'read',
    priority: 30,
    timeout: FILE_TIMEOUT,
    aliases: ['ls', 'list_directory', 'list_files'],
    parameterAliases: {
      path: ['dir', 'directory', 'dir_path', 'directory_path', 'folder', 'target_directory', 'relative_workspace_path'],
      ignore: ['exclude', 'ignore_globs'],
      hidden: ['all', 'show_hidden'],
    },
    target: ({ path }) => workspace.target(path),
    examples: [
      { outcome: 'ok', input: { path: 'src' }, files: { 'src/main.ts': 'export {}\n', 'src/lib/a.ts': '' } },
      { outcome: 'empty', input: { ignore: ['*.md'] }, files: { 'README.md': '# Hello\n' } },
      { outcome: 'retry', input: { path: 'scr' }, files: { 'src/main.ts': 'export {}\n' }, why: 'the nearest folder is named' },
    ],
    execute: (call) => list(workspace, call),
  })
}

async function list(workspace: Workspace, { path, ignore, hidden, limit }: Input): Promise<ToolOk> {
  const ignored = ignoring(ignore)
  const dir = await workspace.resolve(path, { mustExist: true, kind: 'directory', contents: false })
  if (dir.kind === 'file')
    throw new ModelRetry(`"${dir.relative}" is a file.`, about('path', path, 'a directory', tryCall('read_file', { path: dir.relative })))
  const { entries, shown, listed } = await withDirectory(dir.root, dir.absolute, async (base) => {
    const entries = await readdir(base, { withFileTypes: true })
    const shown = entries.filter((entry) => (hidden || !entry.name.startsWith('.')) && !ignored(entry.name)).sort(foldersFirst)
    return { entries, shown, listed: await Promise.all(shown.slice(0, limit).map((entry) => describeEntry(base, entry))) }
  }).catch((error) => {
    throw fsError(error, dir.relative, 'list')
  })
  const leftOut = entries.length - shown.length
  const data = { path: dir.relative, total: shown.length }
  if (shown.length === 0) {
    const says = leftOut === 0 ? 'is empty' : `has nothing but ${plural(leftOut, 'hidden or ignored entry', 'hidden or ignored entries')}`
    return empty({ ...data, entries: [] }, `"${dir.relative}" ${says}.`)
  }
  const hasMore = shown.length > limit
  const more = !hasMore ? '' : `\n${limit} of ${shown.length} shown, has_more=true, next: limit=${Math.min(shown.length, MAX_ENTRIES)}`
  return ok(
    { ...data, entries: listed },
    {
      content: listed.map(line).join('\n') + more,
      display: `**${dir.relative}** (${plural(shown.length, 'entry', 'entries')})\n\n${listed.map((entry) => `- ${line(entry)}`).join('\n')}`,
      count: shown.length,
      hasMore,
    },
  )
}

const foldersFirst = (a: Dirent, b: Dirent): number => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1)

interface DirEntry {
  readonly name: string
  readonly type: keyof typeof AFTER
  /** Only for files. */
  readonly bytes?: number
}

/** Suffixes shown after a name. */
const AFTER = { file: '', directory: '/', link: ' (link)', other: ' (not a regular file)' } as const

async function describeEntry(dir: string, entry: Dirent): Promise<DirEntry> {
  const { name } = entry
  if (!entry.isFile()) return { name, type: entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'other' }
  const stats = await lstat(join(dir, name)).catch(() => undefined)
  return { name, type: 'file', ...(stats && { bytes: stats.size }) }
}

const line = ({ name, type, bytes }: DirEntry): string => printable(name) + AFTER[type] + (bytes === undefined ? '' : `  ${size(bytes)}`)
