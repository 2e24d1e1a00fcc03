import { defineTool, empty, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { nextPage, pageOf, plural } from '../../files/common/page.ts'
import { fenced } from '../../files/common/unified-diff.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { filterNotes, movedPath, NEW_REPOSITORY, quoted, READ_TIMEOUT, REPO_ALIASES, repoParameter, SHORT } from '../common/parameters.ts'
import type { Git } from '../common/process.ts'
import { type Operation, openRepository, operationIn } from '../common/repository.ts'
import { type ChangedFile, renamed, type WorkingTree, workingTree } from './porcelain.ts'

const DEFAULT_ENTRIES = 200
const MAX_ENTRIES = 2000

const input = z.object({
  repo: repoParameter(),
  limit: z.int().min(1).max(MAX_ENTRIES).default(DEFAULT_ENTRIES).describe('a page'),
  page: z.int().min(1).max(1e6).default(1).describe('from 1'),
})

/** Creates the tool that lists changed, staged, new and conflicting files. */
export function gitStatusTool(workspace: Workspace, git: Git): Tool {
  return defineTool({
    name: 'git_status',
    description: describe(import.meta.url),
    input,
    effect: 'read',
    timeout: READ_TIMEOUT,
    aliases: ['gitStatus', 'git-status', 'status'],
    parameterAliases: { repo: [...REPO_ALIASES, 'path', 'folder'], limit: ['max_results'] },
    target: ({ repo }) => workspace.target(repo),
    examples: [
      { outcome: 'ok', input: {}, files: { ...NEW_REPOSITORY, 'src/main.ts': 'export {}\n' } },
      { outcome: 'empty', input: {}, files: NEW_REPOSITORY, why: 'nothing is changed' },
      { outcome: 'retry', input: { page: 9 }, files: { ...NEW_REPOSITORY, 'a.txt': 'a\n' }, why: 'past the end' },
    ],
    execute: (call, ctx) => status(workspace, git, call, ctx),
  })
}

async function status(workspace: Workspace, git: Git, call: z.infer<typeof input>, { signal }: ToolContext): Promise<ToolOk> {
  const repository = await openRepository(workspace, git, call.repo, signal)
  const { stdout, cut } = await repository.read('read the status', [
    ...['status', '--porcelain=v2', '-z', '--branch', '--ahead-behind', '--find-renames', '--untracked-files=normal'],
    // Do not look inside submodules, because git would apply their settings.
    ...['--ignore-submodules=dirty', '--', '.'],
  ])
  const tree = renamed(workingTree(stdout), repository.shown)
  const operation = operationIn(repository.gitDir)
  const { folder } = repository
  const data = { folder, ...tree, detached: tree.branch === undefined, ...(operation !== undefined && { operation }) }
  const notes = filterNotes(repository)
  if (cut) notes.push('Partial: there are more changes than can be listed.')
  const noted = notes.length > 0 ? { notes } : {}
  const heading = headingOf(tree, operation)
  const lines = linesOf(tree)
  if (lines.length === 0) return empty(data, `${heading}\nNothing is changed.`, noted)
  const paged = pageOf(lines, call.page, call.limit)
  const sections = Map.groupBy(paged.items, ({ section }) => section)
  const listed = [...sections].flatMap(([name, some]) => [`${name}:`, ...some.map(({ text }) => `  ${text}`)]).join('\n')
  const of = paged.pages > 1 ? `\n(page ${paged.page} of ${paged.pages}, ${plural(lines.length, 'entry', 'entries')})` : ''
  return ok(data, {
    content: `${heading}\n${listed}${of}${nextPage(paged)}`,
    display: `**${heading.replaceAll('\n', ' ')}**\n\n${fenced(listed)}`,
    count: lines.length,
    page: paged.page,
    hasMore: paged.hasMore,
    ...noted,
  })
}

function headingOf({ branch, head, upstream, ahead = 0, behind = 0 }: WorkingTree, operation: Operation | undefined): string {
  const where = branch === undefined ? `Detached at ${head?.slice(0, SHORT)}` : `On branch ${branch}`
  const first = head === undefined ? ', without a commit yet' : ''
  const apart = [...(ahead > 0 ? [`${ahead} ahead`] : []), ...(behind > 0 ? [`${behind} behind`] : [])]
  const beside = upstream === undefined ? '' : `, ${apart.length > 0 ? `${apart.join(' and ')} of ` : 'level with '}${upstream}`
  return `${where}${first}${beside}.${operation === undefined ? '' : `\nA ${operation} is under way.`}`
}

const linesOf = ({ conflicts, staged, unstaged, untracked }: WorkingTree) => [
  ...conflicts.map(({ path, conflict }) => ({ section: 'In conflict', text: `${quoted(path)} (${conflict})` })),
  ...staged.map((file) => ({ section: 'Staged', text: changeText(file) })),
  ...unstaged.map((file) => ({ section: 'Not staged', text: changeText(file) })),
  ...untracked.map((path) => ({ section: 'Untracked', text: quoted(path) })),
]

const changeText = (file: ChangedFile): string => `${file.change}: ${movedPath(file)}${file.submodule ? ' (submodule)' : ''}`
