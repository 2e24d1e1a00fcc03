import { defineTool, empty, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { plural } from '../../files/common/page.ts'
import { fenced } from '../../files/common/unified-diff.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { type ChangedLines, fileChanges, sum } from '../common/file-changes.ts'
import { quoted } from '../common/names.ts'
import { neverThere } from '../common/never-there.ts'
import { filterNotes, NEW_REPOSITORY, READ_TIMEOUT, REPO_ALIASES, repoParameter } from '../common/parameters.ts'
import type { Git } from '../common/process.ts'
import { openRepository, type Repository } from '../common/repository.ts'
import { checkRevisions } from '../common/revisions.ts'
import { boundedLines } from './bounded-lines.ts'
import { withIndexCopy } from './index-copy.ts'
import { withUntracked } from './with-untracked.ts'

const LINES = 5000
const LINE_CHARS = 2000
const CHARS = 400_000
const MAX_CONTEXT = 20
const MAX_SECRETS = 500
/** Files that are named of those left out, and listed with `stat`. */
const NAMED = 20
const LISTED = 500

const input = z.object({
  repo: repoParameter,
  what: z.enum(['all', 'staged', 'unstaged']).default('all').describe('all: with new files'),
  range: z.string().optional().describe('a..b, or a commit to compare with; X^..X: what X changed'),
  path: z.string().optional().describe('file or folder'),
  stat: z.boolean().default(false).describe('files and counts only'),
  context: z.int().min(0).max(MAX_CONTEXT).default(3).describe('lines around'),
})
type Input = z.infer<typeof input>

export interface DiffData {
  readonly folder: string
  readonly files: readonly ChangedLines[]
  readonly added: number
  readonly removed: number
  /** Empty with `stat`. */
  readonly patch: string
  /** Files that the patch lacks, or has not to their end. */
  readonly leftOut: readonly string[]
}

/** What is changed, line by line. Never runs a program that the repository names. */
export function gitDiffTool(workspace: Workspace, git: Git): Tool {
  const files = { ...NEW_REPOSITORY, 'src/main.ts': 'export {}\n' }
  return defineTool({
    name: 'git_diff',
    description: describe(import.meta.url, { LINES }),
    input,
    effect: 'read',
    timeout: READ_TIMEOUT,
    aliases: ['gitDiff', 'git-diff', 'diff', 'git_diff_unstaged', 'git_diff_staged'].map((name) => ({
      name,
      adapt: (call) => fromFlags(/(?:un)?staged$/.exec(name)?.[0], call),
    })),
    parameterAliases: {
      repo: [...REPO_ALIASES],
      range: ['ref', 'commit', 'commits', 'revision', 'base', 'target'],
      path: ['file', 'file_path', 'filePath'],
      context: ['context_lines', 'unified', '-U'],
      what: ['scope'],
    },
    target: ({ repo }) => workspace.target(repo),
    examples: [
      { outcome: 'ok', input: {}, files },
      { outcome: 'empty', input: { what: 'staged' }, files },
      { outcome: 'retry', input: { path: 'src/mian.ts' }, files, why: 'the nearest path is named' },
    ],
    execute: (call, ctx) => diff(workspace, git, call, ctx),
  })
}

/** `{staged: true}` and `{cached: true}`, and tools of one kind of change each. */
function fromFlags(kind: string | undefined, { staged, cached, ...rest }: Record<string, unknown>): Record<string, unknown> {
  if (kind !== undefined) return { what: kind, ...rest }
  const flag = staged ?? cached
  return flag === undefined ? rest : { what: flag === true || flag === 'true' ? 'staged' : 'unstaged', ...rest }
}

async function diff(workspace: Workspace, git: Git, call: Input, ctx: ToolContext): Promise<ToolOk> {
  const repository = await openRepository(workspace, git, call.repo, ctx.signal)
  const at = call.path === undefined ? { path: '.', missing: false } : await repository.inside('path', call.path)
  if (call.range !== undefined) await checkRevisions(repository, 'range', call.range)
  const found = await withIndexCopy(repository, async (copy): Promise<Compared> => {
    if (call.range !== undefined || call.what !== 'all') {
      const sides = call.range !== undefined ? [call.range.trim()] : call.what === 'staged' ? ['--cached'] : []
      return compare(workspace, repository, sides, at.path, call, copy.env)
    }
    const { env, leftOut } = await withUntracked(repository, at.path, copy)
    return { ...(await compare(workspace, repository, [await head(repository)], at.path, call, env)), untracked: leftOut }
  })
  if (found.files.length === 0 && at.missing) await neverThere(workspace, repository, call.path as string, at.path)
  const notes = [...filterNotes(repository), ...untrackedNote(found.untracked)]
  if (found.secret.length > 0)
    notes.push(
      `Lines not shown of files that may hold keys or passwords: ${some(found.secret.map(quoted))}. Give path to see one; a person is asked first.`,
    )
  if (found.partial) notes.push('Partial: there are more files than can be listed. Narrow path.')
  return answer(repository, call, found, notes)
}

interface Compared {
  readonly files: readonly ChangedLines[]
  /** Those whose lines may be shown. */
  readonly shown: readonly ChangedLines[]
  /** Names of secret files, whose lines are not shown. */
  readonly secret: readonly string[]
  readonly lines: readonly string[]
  readonly full: boolean
  /** The list of files is not whole. */
  readonly partial: boolean
  /** New files that were too many to take in. */
  readonly untracked?: number
}

async function compare(
  workspace: Workspace,
  repository: Repository,
  sides: readonly string[],
  path: string,
  { context, stat }: Input,
  env: Readonly<Record<string, string>>,
): Promise<Compared> {
  const below = repository.folder === '.' ? '' : `${repository.folder}/`
  const shape = [
    ...['--no-ext-diff', '--no-textconv', '--no-color', '--find-renames', '--ignore-submodules=dirty', '--submodule=short', '--relative'],
    ...[`--src-prefix=a/${below}`, `--dst-prefix=b/${below}`, `--unified=${context}`, '--inter-hunk-context=0'],
  ]
  const what = [...sides, '--', path]
  const listed = await repository.read('compare', ['diff', '--raw', '--numstat', '-z', ...shape, ...what], { env })
  const name = (file: string): string => (below === '' ? file : below + file)
  const files = fileChanges(listed.stdout).map((one) => ({
    ...one,
    path: name(one.path),
    ...(one.from === undefined ? {} : { from: name(one.from) }),
  }))
  const { shown, secret } = apart(stat ? [] : files, workspace.shows)
  const patch = boundedLines({ lines: LINES, lineChars: LINE_CHARS, chars: CHARS })
  if (shown.length > 0) {
    const exclude = secret.map((one) => `:(exclude,literal)${one.slice(below.length)}`)
    const args = ['diff', '--patch', ...shape, ...sides, '--', `:(literal)${path}`, ...exclude]
    await repository.read('compare', args, { env: { ...env, GIT_LITERAL_PATHSPECS: '0' }, onData: patch.push })
    patch.end()
  }
  return { files, shown, secret, lines: patch.lines, full: patch.full(), partial: listed.cut }
}

/** Of one that was renamed both names are secret: without the old one it would be shown whole, as a new file. */
function apart(files: readonly ChangedLines[], shows: (path: string) => boolean): Pick<Compared, 'shown' | 'secret'> {
  const names = ({ path, from }: ChangedLines): string[] => (from === undefined ? [path] : [path, from])
  const shown = files.filter((file) => names(file).every(shows))
  const secret = files.filter((file) => !shown.includes(file)).flatMap(names)
  // A command line has an end; so many secret files are nobody's habit.
  return secret.length > MAX_SECRETS ? { shown: [], secret } : { shown, secret }
}

/** The last commit; before the first one, the tree with nothing in it. */
async function head(repository: Repository): Promise<string> {
  const { code } = await repository.git(['rev-parse', '--verify', '--quiet', 'HEAD'])
  if (code === 0) return 'HEAD'
  return (await repository.read('name the empty tree', ['hash-object', '-t', 'tree', '--stdin'])).stdout.trim()
}

function answer({ folder }: Repository, call: Input, { files, shown, lines, full }: Compared, notes: readonly string[]): ToolOk {
  const more = notes.length > 0 ? { notes } : {}
  if (files.length === 0) return empty({ folder, files: [], added: 0, removed: 0, patch: '', leftOut: [] }, nothing(call), more)
  const begun = lines.filter((line) => /^diff --/.test(line)).length
  const leftOut = full ? shown.slice(Math.max(0, begun - 1)).map(({ path }) => path) : []
  const data: DiffData = { folder, files, added: sum(files, 'added'), removed: sum(files, 'removed'), patch: lines.join('\n'), leftOut }
  const heading = `${plural(files.length, 'file')} changed, +${data.added} -${data.removed}`
  const binary = files.filter((one) => one.binary).map(({ path }) => quoted(path))
  const body = call.stat ? statText(files) : data.patch
  const said = [
    heading,
    ...(binary.length > 0 ? [`Binary, not shown: ${some(binary)}`] : []),
    body,
    ...(full
      ? [
          `… cut after ${plural(lines.length, 'line')}. Left out, or not shown to the end: ${some(leftOut.map(quoted))}. Give path to see one.`,
        ]
      : []),
  ]
  return ok(data, {
    content: said.join('\n'),
    display: `**${heading}**\n\n${fenced(body, call.stat ? '' : 'diff')}`,
    count: files.length,
    ...more,
  })
}

function nothing({ range, what, path }: Input): string {
  const where = path === undefined ? '' : ` in "${path}"`
  const kind = { all: 'No change', staged: 'Nothing staged', unstaged: 'No change that is not staged' }[what]
  return range === undefined ? `${kind}${where} since the last commit.` : `No difference${where} for ${range}.`
}

const some = (names: readonly string[]): string =>
  `${names.slice(0, NAMED).join(', ')}${names.length > NAMED ? ` and ${names.length - NAMED} more` : ''}`

const untrackedNote = (count = 0): string[] =>
  count === 0 ? [] : [`${plural(count, 'new file')} left out: too many. Give path to see some.`]

function statText(files: readonly ChangedLines[]): string {
  const lines = files.slice(0, LISTED).map(({ path, change, from, added, removed, binary }) => {
    const moved = from === undefined ? '' : `${quoted(from)} -> `
    return `${change}: ${moved}${quoted(path)} ${binary ? '(binary)' : `+${added} -${removed}`}`
  })
  return [...lines, ...(files.length > LISTED ? [`… ${files.length - LISTED} more`] : [])].join('\n')
}
