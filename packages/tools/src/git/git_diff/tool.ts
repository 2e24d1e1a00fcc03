import { defineTool, empty, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { plural } from '../../files/common/page.ts'
import { fenced } from '../../files/common/unified-diff.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { type ChangedLines, fileChanges, sum } from '../common/file-changes.ts'
import { filterNotes, movedPath, NEW_REPOSITORY, READ_TIMEOUT, REPO_ALIASES, repoParameter, some, withPaths } from '../common/parameters.ts'
import type { Git } from '../common/process.ts'
import { openRepository, type Repository } from '../common/repository.ts'
import { checkRevisions, neverThere } from '../common/revisions.ts'
import { boundedLines } from './bounded-lines.ts'
import { withIndexCopy, withUntracked } from './index-copy.ts'

const LINES = 5000
const LINE_CHARS = 2000
const CHARS = 400_000
const MAX_CONTEXT = 20
const MAX_SECRETS = 500
/** Files listed with `stat`. */
const LISTED = 500

const input = z.object({
  repo: repoParameter(),
  what: z.enum(['all', 'staged', 'unstaged']).default('all').describe('all: with new files'),
  range: z.string().optional().describe('a..b, or a commit to compare with; X^..X: what X changed'),
  path: z.string().optional().describe('file or folder'),
  stat: z.boolean().default(false).describe('files and counts only'),
  context: z.int().min(0).max(MAX_CONTEXT).default(3).describe('lines around'),
})
type Input = z.infer<typeof input>

/** Creates the tool that shows changes line by line. Never runs a program named by the repository. */
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

/** Adapts `{staged: true}` and `{cached: true}`, and tools that each show one kind of change. */
function fromFlags(kind: string | undefined, { staged, cached, ...rest }: Record<string, unknown>): Record<string, unknown> {
  if (kind !== undefined) return { what: kind, ...rest }
  const flag = staged ?? cached
  return flag === undefined ? rest : { what: flag === true || flag === 'true' ? 'staged' : 'unstaged', ...rest }
}

async function diff(workspace: Workspace, git: Git, call: Input, { signal }: ToolContext): Promise<ToolOk> {
  const { range, what } = call
  const repository = await openRepository(workspace, git, call.repo, signal)
  const { path, missing } = call.path === undefined ? { path: '.', missing: false } : await repository.inside('path', call.path)
  if (range !== undefined) await checkRevisions(repository, 'range', range)
  const { untracked, ...found } = await withIndexCopy(repository, async (copy) => {
    const all = range === undefined && what === 'all' ? await withUntracked(repository, path, copy) : { env: copy.env, leftOut: 0 }
    const side = range !== undefined ? range.trim() : what === 'staged' ? '--cached' : what === 'all' ? await head(repository) : undefined
    const sides = side === undefined ? [] : [side]
    return { ...(await compare(workspace, repository, sides, path, call, all.env)), untracked: all.leftOut }
  })
  if (found.files.length === 0 && missing) await neverThere(workspace, repository, call.path as string, path)
  const notes = filterNotes(repository)
  if (untracked > 0) notes.push(`${plural(untracked, 'new file')} left out: too many. Give path to see some.`)
  if (found.secret.length > 0)
    notes.push(
      `Lines not shown of files that may hold keys or passwords: ${some(found.secret)}. Give path to see one; a person is asked first.`,
    )
  if (found.partial) notes.push('Partial: there are more files than can be listed. Narrow path.')
  return answer(repository.folder, call, found, notes.length > 0 ? { notes } : {})
}

type Compared = Awaited<ReturnType<typeof compare>>

async function compare(
  workspace: Workspace,
  { folder, read }: Repository,
  sides: readonly string[],
  path: string,
  { context, stat }: Input,
  env: Readonly<Record<string, string>>,
) {
  const below = folder === '.' ? '' : `${folder}/`
  const shape = [
    ...['--no-ext-diff', '--no-textconv', '--no-color', '--find-renames', '--ignore-submodules=dirty', '--submodule=short', '--relative'],
    ...[`--src-prefix=a/${below}`, `--dst-prefix=b/${below}`, `--unified=${context}`, '--inter-hunk-context=0', ...sides, '--'],
  ]
  const listed = await read('compare', ['diff', '--raw', '--numstat', '-z', ...shape, path], { env })
  const files = fileChanges(listed.stdout).map((one) => withPaths(one, (file) => below + file))
  const { shown, secret } = apart(stat ? [] : files, workspace.shows)
  const patch = boundedLines({ lines: LINES, lineChars: LINE_CHARS, chars: CHARS })
  if (shown.length > 0) {
    const exclude = secret.map((one) => `:(exclude,literal)${one.slice(below.length)}`)
    const run = { env: { ...env, GIT_LITERAL_PATHSPECS: '0' }, onData: patch.push }
    await read('compare', ['diff', '--patch', ...shape, `:(literal)${path}`, ...exclude], run)
    patch.end()
  }
  return { files, shown, secret, lines: patch.lines, full: patch.full(), partial: listed.cut }
}

/**
 * Separates files whose lines may be shown from secret ones. For a renamed file, both names are treated as secret: if only the old one were
 * excluded, the file would be shown in full as new.
 */
function apart(files: readonly ChangedLines[], shows: (path: string) => boolean) {
  const names = ({ path, from }: ChangedLines): string[] => (from === undefined ? [path] : [path, from])
  const shown = files.filter((file) => names(file).every(shows))
  const secret = files.filter((file) => !shown.includes(file)).flatMap(names)
  // The length of a command line is limited, and this many secret files are not normal.
  return secret.length > MAX_SECRETS ? { shown: [], secret } : { shown, secret }
}

/** Returns the last commit or, before the first one, the empty tree. */
async function head({ git, read }: Repository): Promise<string> {
  const { code } = await git(['rev-parse', '--verify', '--quiet', 'HEAD'])
  return code === 0 ? 'HEAD' : (await read('name the empty tree', ['hash-object', '-t', 'tree', '--stdin'])).stdout.trim()
}

type Found = Omit<Compared, 'secret' | 'partial'>

function answer(folder: string, call: Input, { files, shown, lines, full }: Found, notes: Pick<ToolOk, 'notes'>): ToolOk {
  if (files.length === 0) return empty({ folder, files: [], added: 0, removed: 0, patch: '', leftOut: [] }, nothing(call), notes)
  const begun = lines.filter((line) => /^diff --/.test(line)).length
  // Files missing from the patch or cut off in it.
  const leftOut = full ? shown.slice(Math.max(0, begun - 1)).map(({ path }) => path) : []
  const data = { folder, files, added: sum(files, 'added'), removed: sum(files, 'removed'), patch: lines.join('\n'), leftOut }
  const heading = `${plural(files.length, 'file')} changed, +${data.added} -${data.removed}`
  const binary = files.filter((one) => one.binary).map(({ path }) => path)
  const body = call.stat ? statText(files) : data.patch
  const cut = `… cut after ${plural(lines.length, 'line')}. Left out, or not shown to the end: ${some(leftOut)}. Give path to see one.`
  return ok(data, {
    content: [heading, ...(binary.length > 0 ? [`Binary, not shown: ${some(binary)}`] : []), body, ...(full ? [cut] : [])].join('\n'),
    display: `**${heading}**\n\n${fenced(body, call.stat ? '' : 'diff')}`,
    count: files.length,
    ...notes,
  })
}

function nothing({ range, what, path }: Input): string {
  const where = path === undefined ? '' : ` in "${path}"`
  const kind = { all: 'No change', staged: 'Nothing staged', unstaged: 'No change that is not staged' }[what]
  return range === undefined ? `${kind}${where} since the last commit.` : `No difference${where} for ${range}.`
}

function statText(files: readonly ChangedLines[]): string {
  const lines = files
    .slice(0, LISTED)
    .map((file) => `${file.change}: ${movedPath(file)} ${file.binary ? '(binary)' : `+${file.added} -${file.removed}`}`)
  return [...lines, ...(files.length > LISTED ? [`… ${files.length - LISTED} more`] : [])].join('\n')
}
