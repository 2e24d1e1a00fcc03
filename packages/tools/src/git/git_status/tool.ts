import { defineTool, empty, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { nextPage, pageOf, plural } from '../../files/common/page.ts'
import { fenced } from '../../files/common/unified-diff.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { quoted } from '../common/names.ts'
import { filterNotes, NEW_REPOSITORY, READ_TIMEOUT, REPO_ALIASES, repoParameter } from '../common/parameters.ts'
import type { Git } from '../common/process.ts'
import { openRepository } from '../common/repository.ts'
import { type Operation, operationIn } from '../common/state.ts'
import { type ChangedFile, renamed, type WorkingTree, workingTree } from './porcelain.ts'

const DEFAULT_ENTRIES = 200
const MAX_ENTRIES = 2000
/** Characters of a commit's name that are shown. */
const SHORT = 10

const input = z.object({
  repo: repoParameter,
  limit: z.int().min(1).max(MAX_ENTRIES).default(DEFAULT_ENTRIES).describe('a page'),
  page: z.int().min(1).max(1e6).default(1).describe('from 1'),
})
type Input = z.infer<typeof input>

export interface StatusData extends Omit<WorkingTree, 'ignored'> {
  /** The folder that was looked at, from the workspace. */
  readonly folder: string
  readonly detached: boolean
  /** Merge, rebase and the like, when one is under way. */
  readonly operation?: Operation
}

/** What is changed, staged, new and in conflict. */
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

async function status(workspace: Workspace, git: Git, call: Input, ctx: ToolContext): Promise<ToolOk> {
  const repository = await openRepository(workspace, git, call.repo, ctx.signal)
  const { stdout, cut } = await repository.read('read the status', [
    ...['status', '--porcelain=v2', '-z', '--branch', '--ahead-behind', '--find-renames', '--untracked-files=normal'],
    // What is inside a submodule is not looked at: git would run by that one's settings.
    ...['--ignore-submodules=dirty', '--', '.'],
  ])
  const { ignored: _, ...tree } = renamed(workingTree(stdout), repository.shown)
  const operation = await operationIn(repository.gitDir)
  const data: StatusData = {
    folder: repository.folder,
    ...tree,
    detached: tree.branch === undefined,
    ...(operation === undefined ? {} : { operation }),
  }
  const notes = filterNotes(repository)
  if (cut) notes.push('Partial: there are more changes than can be listed.')
  const heading = headingOf(data)
  const lines = linesOf(data)
  if (lines.length === 0) return empty(data, `${heading}\nNothing is changed.`, notes.length > 0 ? { notes } : {})
  const paged = pageOf(lines, call.page, call.limit)
  const listed = sections(paged.items)
  const of = paged.pages > 1 ? `\n(page ${paged.page} of ${paged.pages}, ${plural(lines.length, 'entry', 'entries')})` : ''
  return ok(data, {
    content: `${heading}\n${listed}${of}${nextPage(paged)}`,
    display: `**${heading.replaceAll('\n', ' ')}**\n\n${fenced(listed)}`,
    count: lines.length,
    page: paged.page,
    hasMore: paged.hasMore,
    ...(notes.length > 0 ? { notes } : {}),
  })
}

function headingOf({ branch, head, upstream, ahead = 0, behind = 0, operation }: StatusData): string {
  const where = branch === undefined ? `Detached at ${head?.slice(0, SHORT)}` : `On branch ${branch}`
  const first = head === undefined ? ', without a commit yet' : ''
  const apart = [...(ahead > 0 ? [`${ahead} ahead`] : []), ...(behind > 0 ? [`${behind} behind`] : [])]
  const beside = upstream === undefined ? '' : `, ${apart.length > 0 ? `${apart.join(' and ')} of ` : 'level with '}${upstream}`
  return `${where}${first}${beside}.${operation === undefined ? '' : `\nA ${operation} is under way.`}`
}

interface Line {
  readonly section: string
  readonly text: string
}

const linesOf = ({ conflicts, staged, unstaged, untracked }: StatusData): Line[] => [
  ...conflicts.map(({ path, conflict }) => ({ section: 'In conflict', text: `${quoted(path)} (${conflict})` })),
  ...staged.map((file) => ({ section: 'Staged', text: changeText(file) })),
  ...unstaged.map((file) => ({ section: 'Not staged', text: changeText(file) })),
  ...untracked.map((path) => ({ section: 'Untracked', text: quoted(path) })),
]

const changeText = ({ path, change, from, submodule }: ChangedFile): string =>
  `${change}: ${from === undefined ? '' : `${quoted(from)} -> `}${quoted(path)}${submodule ? ' (submodule)' : ''}`

function sections(lines: readonly Line[]): string {
  const names = [...new Set(lines.map(({ section }) => section))]
  return names
    .map((name) => [`${name}:`, ...lines.filter(({ section }) => section === name).map(({ text }) => `  ${text}`)].join('\n'))
    .join('\n')
}
