import { defineTool, empty, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { ripgrep } from '../../ripgrep.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { ignoring } from '../common/glob-match.ts'
import { DEFAULT_FILE_LIMITS, type FileLimits, WALK_TIMEOUT } from '../common/limits.ts'
import { plural } from '../common/page.ts'
import { searchRoot, walk } from '../common/search-root.ts'
import { fenced } from '../common/unified-diff.ts'
import { foldTree } from './fold.ts'

const DEFAULT_DEPTH = 3
const MAX_DEPTH = 20
const MAX_WIDTH = 50
const MAX_LINES = 500

const input = z.object({
  path: z.string().default('.').describe('folder'),
  depth: z.int().min(1).max(MAX_DEPTH).default(DEFAULT_DEPTH).describe('levels'),
  ignore: z.array(z.string()).default([]).describe('globs'),
})
type Input = z.infer<typeof input>

/** Shows the structure of a folder. Folders without files do not appear. */
export function treeTool(workspace: Workspace, limits: FileLimits = DEFAULT_FILE_LIMITS, run = ripgrep): Tool {
  return defineTool({
    name: 'tree',
    description: describe(import.meta.url),
    input,
    effect: 'read',
    timeout: WALK_TIMEOUT,
    aliases: ['directory_tree', 'file_tree'],
    parameterAliases: {
      path: ['dir', 'directory', 'directory_path', 'folder', 'target_directory'],
      depth: ['max_depth', 'level', 'levels'],
      ignore: ['exclude', 'excludePatterns'],
    },
    target: ({ path }) => workspace.target(path),
    examples: [
      { outcome: 'ok', input: { depth: 1 }, files: { 'src/main.ts': 'export {}\n', 'README.md': '# Hello\n' } },
      { outcome: 'empty', input: { ignore: ['*.md'] }, files: { 'README.md': '# Hello\n' } },
      { outcome: 'retry', input: { path: 'scr' }, files: { 'src/main.ts': 'export {}\n' }, why: 'the nearest folder is named' },
    ],
    execute: (call, ctx) => tree(call, ctx),
  })

  async function tree({ path, depth, ignore }: Input, ctx: ToolContext): Promise<ToolOk> {
    const ignored = ignoring(ignore)
    const root = await searchRoot(workspace, path)
    const found = await walk({ run, root, limits, signal: ctx.signal, hidden: true, gitignore: true })
    const files = found.files.map((file) => file.slice(root.prefix.length)).filter((file) => !ignored(file))
    const { text, folders, folded } = foldTree(files, { depth, width: MAX_WIDTH, lines: MAX_LINES })
    const data = { path: root.at.relative, files: files.length, folders, folded, tree: text }
    const notes = found.notes.length > 0 ? { notes: found.notes } : {}
    if (files.length === 0)
      return empty({ ...data }, `No files in "${root.at.relative}" (what git ignores and "ignore" names is left out).`, notes)
    const title = `${root.at.relative}/ (${plural(files.length, 'file')}, ${plural(folders, 'folder')})`
    return ok(data, { content: `${title}\n${text}`, display: fenced(`${title}\n${text}`), count: files.length, hasMore: false, ...notes })
  }
}
