import { defineTool, empty, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { plural } from '../../files/common/page.ts'
import { fenced } from '../../files/common/unified-diff.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { neverThere } from '../common/never-there.ts'
import { NEW_REPOSITORY, READ_TIMEOUT, REPO_ALIASES, repoParameter } from '../common/parameters.ts'
import type { Git } from '../common/process.ts'
import { openRepository, type Repository } from '../common/repository.ts'
import { checkRevisions } from '../common/revisions.ts'
import { type Commit, commits, FORMAT } from './records.ts'

const DEFAULT_COMMITS = 20
const MAX_COMMITS = 200
/** Of a message, with the rest counted. */
const BODY_LINES = 20
const LINE_CHARS = 300
const SHORT = 10

const input = z.object({
  repo: repoParameter,
  ref: z.string().default('HEAD').describe('commit, branch, or range a..b'),
  path: z.string().optional().describe('only what changed it'),
  grep: z.string().min(1).optional().describe('text in the message'),
  oneline: z.boolean().default(false).describe('hash and subject only'),
  limit: z.int().min(1).max(MAX_COMMITS).default(DEFAULT_COMMITS).describe('a page'),
  page: z.int().min(1).max(1e6).default(1).describe('from 1'),
})
type Input = z.infer<typeof input>

export interface LogData {
  readonly folder: string
  readonly commits: readonly Commit[]
}

/** The history, in pages. */
export function gitLogTool(workspace: Workspace, git: Git): Tool {
  return defineTool({
    name: 'git_log',
    description: describe(import.meta.url),
    input,
    effect: 'read',
    timeout: READ_TIMEOUT,
    aliases: ['gitLog', 'git-log', 'git_history'],
    parameterAliases: {
      repo: [...REPO_ALIASES],
      ref: ['branch', 'revision', 'range', 'commit'],
      path: ['file', 'file_path'],
      grep: ['query', 'search'],
      limit: ['max_count', 'n', '-n', 'count'],
    },
    target: ({ repo }) => workspace.target(repo),
    examples: [
      { outcome: 'ok', input: { limit: 5 }, files: NEW_REPOSITORY },
      { outcome: 'empty', input: { grep: 'nowhere' }, files: NEW_REPOSITORY },
      { outcome: 'retry', input: { ref: 'mian' }, files: NEW_REPOSITORY, why: 'no such branch' },
    ],
    execute: (call, ctx) => log(workspace, git, call, ctx),
  })
}

async function log(workspace: Workspace, git: Git, call: Input, ctx: ToolContext): Promise<ToolOk> {
  const { grep, limit, page } = call
  if (grep?.includes('\0'))
    throw new ModelRetry('grep must not hold a NUL character.', { parameter: 'grep', constraint: 'text without NUL' })
  const repository = await openRepository(workspace, git, call.repo, ctx.signal)
  const at = call.path === undefined ? undefined : await repository.inside('path', call.path, false)
  const born = (await repository.git(['rev-parse', '--verify', '--quiet', 'HEAD'])).code === 0
  if (!born && call.ref === 'HEAD') return empty({ folder: repository.folder, commits: [] }, 'There is no commit yet.')
  await checkRevisions(repository, 'ref', call.ref)

  const chosen = [
    ...(grep === undefined ? [] : [`--grep=${grep}`, '--fixed-strings', '--regexp-ignore-case']),
    ...[call.ref.trim(), '--'],
    // Without a path also what changes no file, such as merges.
    ...(at ? [at.path] : repository.prefix === '' ? [] : ['.']),
  ]
  const shaped = ['--no-show-signature', '--no-ext-diff', '--no-textconv', '--no-color', '--encoding=UTF-8', '--no-mailmap', FORMAT]
  const { stdout, cut } = await repository.read('read the history', [
    ...['log', ...shaped, `--max-count=${limit + 1}`, `--skip=${(page - 1) * limit}`, ...chosen],
  ])
  const found = commits(stdout)
  if (found.length === 0 && page > 1) throw await pastEnd(repository, call, chosen)
  if (found.length === 0 && at?.missing) await neverThere(workspace, repository, call.path as string, at.path)
  if (found.length === 0) return empty({ folder: repository.folder, commits: [] }, nothing(call))

  const shown = found.slice(0, limit)
  const hasMore = found.length > limit || cut
  const text = shown.map((one) => (call.oneline ? short(one) : long(one))).join('\n')
  return ok({ folder: repository.folder, commits: shown } satisfies LogData, {
    content: `${text}${hasMore ? `\nhas_more=true, next: page=${page + 1}` : ''}`,
    display: `**${plural(shown.length, 'commit')}**\n\n${fenced(shown.map(short).join('\n'))}`,
    count: shown.length,
    page,
    hasMore,
  })
}

async function pastEnd(repository: Repository, { page, limit }: Input, chosen: readonly string[]): Promise<ModelRetry> {
  const { stdout } = await repository.read('count the commits', ['rev-list', '--count', ...chosen])
  const pages = Math.max(1, Math.ceil(Number(stdout) / limit))
  return new ModelRetry(`There ${pages === 1 ? 'is only 1 page' : `are only ${pages} pages`} of ${limit}.`, {
    parameter: 'page',
    value: page,
    constraint: `a page from 1 to ${pages}`,
    suggestion: pages,
  })
}

function nothing({ ref, path, grep }: Input): string {
  const about = [...(path === undefined ? [] : [`that changes "${path}"`]), ...(grep === undefined ? [] : [`with ${JSON.stringify(grep)}`])]
  return `There is no commit ${[`in ${ref}`, ...about].join(' ')}.`
}

const cut = (line: string): string =>
  line.length <= LINE_CHARS ? line : `${line.slice(0, LINE_CHARS)}… [${line.length - LINE_CHARS} more characters]`

const short = ({ hash, subject, refs }: Commit): string =>
  `${hash.slice(0, SHORT)} ${cut(subject)}${refs.length > 0 ? ` (${refs.join(', ')})` : ''}`

function long(commit: Commit): string {
  const lines = commit.body === '' ? [] : commit.body.split('\n')
  const more = lines.length > BODY_LINES ? [`… [${lines.length - BODY_LINES} more lines]`] : []
  const body = [...lines.slice(0, BODY_LINES).map(cut), ...more].map((line) => (line === '' ? '' : `    ${line}`))
  return [`${short(commit)}`, `    ${commit.author} <${commit.email}>, ${commit.date}`, ...body].join('\n')
}
