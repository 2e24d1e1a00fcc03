import { defineTool, empty, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { plural } from '../../files/common/page.ts'
import { fenced } from '../../files/common/unified-diff.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { NEW_REPOSITORY, READ_TIMEOUT, REPO_ALIASES, repoParameter, SHORT } from '../common/parameters.ts'
import type { Git } from '../common/process.ts'
import { openRepository } from '../common/repository.ts'
import { checkRevisions, neverThere } from '../common/revisions.ts'

const DEFAULT_COMMITS = 20
const MAX_COMMITS = 200
/** Lines of a message body that are shown; the rest is counted. */
const BODY_LINES = 20
const LINE_CHARS = 300

const input = z.object({
  repo: repoParameter(),
  ref: z.string().default('HEAD').describe('commit, branch, or range a..b'),
  path: z.string().optional().describe('only what changed it'),
  grep: z.string().min(1).optional().describe('text in the message'),
  oneline: z.boolean().default(false).describe('hash and subject only'),
  limit: z.int().min(1).max(MAX_COMMITS).default(DEFAULT_COMMITS).describe('a page'),
  page: z.int().min(1).max(1e6).default(1).describe('from 1'),
})
type Input = z.infer<typeof input>

/** Creates the tool that shows the history in pages. */
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

async function log(workspace: Workspace, git: Git, call: Input, { signal }: ToolContext): Promise<ToolOk> {
  const { ref, path, grep, limit, page } = call
  if (grep?.includes('\0'))
    throw new ModelRetry('grep must not hold a NUL character.', { parameter: 'grep', constraint: 'text without NUL' })
  const repository = await openRepository(workspace, git, call.repo, signal)
  const { folder, read, prefix } = repository
  const at = path === undefined ? undefined : await repository.inside('path', path, false)
  const born = (await repository.git(['rev-parse', '--verify', '--quiet', 'HEAD'])).code === 0
  if (!born && ref === 'HEAD') return empty({ folder, commits: [] }, 'There is no commit yet.')
  await checkRevisions(repository, 'ref', ref)

  const chosen = [
    ...(grep === undefined ? [] : [`--grep=${grep}`, '--fixed-strings', '--regexp-ignore-case']),
    ...[ref.trim(), '--'],
    // Without a path, include commits that change no file, such as merges.
    ...(at ? [at.path] : prefix === '' ? [] : ['.']),
  ]
  const shaped = ['--no-show-signature', '--no-ext-diff', '--no-textconv', '--no-color', '--encoding=UTF-8', '--no-mailmap', FORMAT]
  const paged = [`--max-count=${limit + 1}`, `--skip=${(page - 1) * limit}`]
  const { stdout, cut: isCut } = await read('read the history', ['log', ...shaped, ...paged, ...chosen])
  const found = commits(stdout)
  if (found.length === 0) {
    if (page > 1) throw pastEnd(call, Number((await read('count the commits', ['rev-list', '--count', ...chosen])).stdout))
    if (at?.missing) await neverThere(workspace, repository, path as string, at.path)
    const [changes, says] = [path && ` that changes "${path}"`, grep && ` with ${JSON.stringify(grep)}`]
    return empty({ folder, commits: [] }, `There is no commit in ${ref}${changes ?? ''}${says ?? ''}.`)
  }
  const shown = found.slice(0, limit)
  const hasMore = found.length > limit || isCut
  return ok(
    { folder, commits: shown },
    {
      content: `${shown.map(call.oneline ? short : long).join('\n')}${hasMore ? `\nhas_more=true, next: page=${page + 1}` : ''}`,
      display: `**${plural(shown.length, 'commit')}**\n\n${fenced(shown.map(short).join('\n'))}`,
      count: shown.length,
      page,
      hasMore,
    },
  )
}

function pastEnd({ page, limit }: Input, count: number): ModelRetry {
  const pages = Math.max(1, Math.ceil(count / limit))
  return new ModelRetry(`There ${pages === 1 ? 'is only 1 page' : `are only ${pages} pages`} of ${limit}.`, {
    parameter: 'page',
    value: page,
    constraint: `a page from 1 to ${pages}`,
    suggestion: pages,
  })
}

const cut = (line: string): string =>
  line.length <= LINE_CHARS ? line : `${line.slice(0, LINE_CHARS)}… [${line.length - LINE_CHARS} more characters]`

const short = ({ hash, subject, refs }: Commit): string =>
  `${hash.slice(0, SHORT)} ${cut(subject)}${refs.length > 0 ? ` (${refs.join(', ')})` : ''}`

function long(commit: Commit): string {
  const lines = commit.body === '' ? [] : commit.body.split('\n')
  const more = lines.length > BODY_LINES ? [`… [${lines.length - BODY_LINES} more lines]`] : []
  const body = [...lines.slice(0, BODY_LINES).map(cut), ...more].map((line) => (line === '' ? '' : `    ${line}`))
  return [short(commit), `    ${commit.author} <${commit.email}>, ${commit.date}`, ...body].join('\n')
}

/** Fields are separated by NUL, because a subject can contain any other character. */
const FIELDS = ['%H', '%P', '%an', '%ae', '%aI', '%D', '%B'] as const
export const FORMAT = `--format=tformat:${FIELDS.join('%x00')}%x00`

type Commit = ReturnType<typeof commits>[number]

/**
 * Parses `git log` output in {@link FORMAT}. `refs` are the branches and tags that point to the commit, `body` is empty if there is only a
 * subject, and `date` is ISO 8601 in the author's time zone. Pure.
 *
 * @param printed output with a newline after each record's last NUL
 */
export function commits(printed: string) {
  const fields = printed.split('\0')
  return Array.from({ length: Math.floor((fields.length - 1) / FIELDS.length) }, (_, at) => {
    const record = fields.slice(at * FIELDS.length, (at + 1) * FIELDS.length)
    const [hash = '', parents = '', author = '', email = '', date = '', refs = '', message = ''] = record
    const [subject = '', ...rest] = message.trim().split('\n')
    return {
      hash: hash.replace(/^\n/, ''),
      parents: parents.split(' ').filter((one) => one !== ''),
      author,
      email,
      date,
      refs: refs.split(', ').filter((one) => one !== ''),
      subject,
      body: rest.join('\n').trim(),
    }
  })
}
