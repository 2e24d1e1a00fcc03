import { lstat } from 'node:fs'
import { join } from 'node:path'
import { defineTool, empty, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { atOnce } from '../../at-once.ts'
import { describe } from '../../describe.ts'
import { ripgrep } from '../../ripgrep.ts'
import { OUTPUT_PREFIX, printable } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { fromEither, globParameter } from '../common/glob-match.ts'
import { DEFAULT_FILE_LIMITS, type FileLimits, WALK_TIMEOUT } from '../common/limits.ts'
import { nextPage, pageOf, plural, size } from '../common/page.ts'
import { type SearchRoot, searchRoot, walk } from '../common/search-root.ts'

const DEFAULT_RESULTS = 100
const MAX_RESULTS = 1000
const STATS_AT_ONCE = 64

const input = z.object({
  pattern: z.string().describe('e.g. src/**/*.{ts,js}'),
  path: z.string().default('.').describe('folder'),
  hidden: z.boolean().default(false).describe('dot files too'),
  gitignore: z.boolean().default(true).describe('skip ignored'),
  sort: z.enum(['modified', 'path', 'size']).default('modified').describe('order'),
  limit: z.int().min(1).max(MAX_RESULTS).default(DEFAULT_RESULTS).describe('a page'),
  page: z.int().min(1).max(1e6).default(1).describe('from 1'),
})
type Input = z.infer<typeof input>

/** Lists the files below `path` that match a glob, newest first. */
export function globTool(workspace: Workspace, limits: FileLimits = DEFAULT_FILE_LIMITS, run = ripgrep): Tool {
  return defineTool({
    name: 'glob',
    description: describe(import.meta.url),
    input,
    effect: 'read',
    priority: 20,
    subject: ({ pattern }) => pattern,
    timeout: WALK_TIMEOUT,
    aliases: ['find_files', 'file_search', 'search_file_names'],
    parameterAliases: {
      pattern: ['glob', 'glob_pattern', 'query', 'name'],
      path: ['dir', 'directory', 'folder', 'cwd', 'target_directory', 'search_directory'],
      gitignore: ['respect_git_ignore'],
      limit: ['max_results', 'head_limit'],
    },
    ignoredParameters: ['case_sensitive', 'type'],
    target: ({ path }) => workspace.target(path),
    examples: [
      { outcome: 'ok', input: { pattern: '**/*.{ts,js}', sort: 'path' }, files: { 'src/main.ts': '', 'lib/old.js': '', 'README.md': '' } },
      { outcome: 'empty', input: { pattern: '*.py' }, files: { 'src/main.ts': '' } },
      { outcome: 'retry', input: { pattern: '*.ts', path: 'scr' }, files: { 'src/main.ts': '' }, why: 'the nearest folder is named' },
      { outcome: 'retry', input: { pattern: '**/*', path: '/' }, files: { 'src/main.ts': '' }, why: 'too broad' },
    ],
    execute: (call, ctx) => glob(call, ctx),
  })

  async function glob(call: Input, { signal }: ToolContext): Promise<ToolOk> {
    const { pattern, path, gitignore, page } = call
    const matches = globParameter('pattern', pattern)
    const root = await searchRoot(workspace, path)
    const hidden = call.hidden || /(?:^|\/)\.[^./]/.test(pattern)
    const { files, partial, notes } = await walk({ run, root, limits, signal, hidden, gitignore, keep: fromEither(matches, root.prefix) })
    const also = notes.length > 0 ? { notes } : {}
    if (files.length === 0) {
      const without = [...(hidden ? [] : ['hidden files']), ...(gitignore ? ['what git ignores'] : [])].join(' and ')
      const says = `No file matches ${JSON.stringify(pattern)} in "${root.at.relative}"${without ? ` (without ${without})` : ''}.`
      return empty({ files: [], total: 0 }, says, also)
    }
    const paged = await pageOfFiles(root, files, call)
    const total = plural(files.length, 'file')
    const names = paged.items.map((file) => printable(file.path)).join('\n')
    return ok(
      { files: paged.items, total: files.length, partial },
      {
        content: `${total}${paged.pages > 1 ? `, page ${page} of ${paged.pages}` : ''}\n${names}${nextPage(paged)}`,
        display: `**${total}** for \`${pattern}\`\n\n${paged.items.map((file) => `- ${printable(file.path)} (${size(file.bytes)})`).join('\n')}`,
        count: files.length,
        page,
        hasMore: paged.hasMore,
        ...also,
      },
    )
  }
}

interface Stated {
  readonly path: string
  readonly bytes: number
  /** Milliseconds since 1970. */
  readonly modified: number
}

const byPath = (a: Stated, b: Stated): number => (a.path < b.path ? -1 : 1)
const ORDERS = {
  path: byPath,
  modified: (a: Stated, b: Stated) => b.modified - a.modified || byPath(a, b),
  size: (a: Stated, b: Stated) => b.bytes - a.bytes || byPath(a, b),
}

/** Returns the requested page. Only sorting by time or size needs to stat every file. */
async function pageOfFiles(root: SearchRoot, files: readonly string[], { sort, page, limit }: Input) {
  const names = sort === 'path' ? pageOf([...files].sort(), page, limit) : undefined
  const stated = (await withStats(root, names?.items ?? files)).sort(ORDERS[sort])
  const paged = names ? { ...names, items: stated } : pageOf(stated, page, limit)
  return { ...paged, items: paged.items.map((file) => ({ ...file, modified: new Date(file.modified).toISOString() })) }
}

async function withStats({ at }: SearchRoot, files: readonly string[]): Promise<Stated[]> {
  const all: Stated[] = []
  const prefix = at.output ? OUTPUT_PREFIX.length : 0
  // Uses callbacks: for thousands of files the promises of `node:fs/promises` cost as much as the file access.
  const look = (path: string): Promise<void> =>
    new Promise((resolve) =>
      lstat(join(at.root, path.slice(prefix)), (_, stats) => {
        all.push({ path, bytes: stats?.size ?? 0, modified: Math.round(stats?.mtimeMs ?? 0) })
        resolve()
      }),
    )
  await atOnce(files, look, STATS_AT_ONCE)
  return all
}
