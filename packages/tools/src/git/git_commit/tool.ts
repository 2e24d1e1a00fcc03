import { defineTool, empty, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { plural } from '../../files/common/page.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { type ChangedLines, fileChanges, sum } from '../common/file-changes.ts'
import { neverThere } from '../common/never-there.ts'
import { NEW_REPOSITORY, REPO_ALIASES, repoParameter } from '../common/parameters.ts'
import type { Git } from '../common/process.ts'
import { openRepository, type Repository } from '../common/repository.ts'
import { type Operation, operationIn } from '../common/state.ts'
import { commits, FORMAT } from '../git_log/records.ts'
import { renamed, type WorkingTree, workingTree } from '../git_status/porcelain.ts'
import { make, writerOf } from './make.ts'
import { hasChange, newInOwnFolder } from './own-folder.ts'
import { identity, refuseAmend, refuseConflicts, refuseElsewhere } from './refusals.ts'
import { changedPaths, NAMED, some, touches, withoutOwn } from './select.ts'
import { type HookPolicy, hooksToRun } from './trust.ts'

/** "fix" and "wip" say nothing to whoever looks for a change later. */
const MIN_MESSAGE = 5
const MAX_MESSAGE = 20_000
const MAX_PATHS = 500
const SHORT = 10
/** Seconds: hooks may run a whole test suite. */
const COMMIT_TIMEOUT = 300

const input = z.object({
  repo: repoParameter,
  message: z
    .string()
    .trim()
    .max(MAX_MESSAGE)
    .refine((message) => message.length >= MIN_MESSAGE, `must say what was changed, in at least ${MIN_MESSAGE} characters`)
    .refine((message) => !message.includes('\0'), 'must not hold a NUL character')
    .describe('subject; after a blank line, why'),
  paths: z.array(z.string()).min(1).max(MAX_PATHS).optional().describe('commit only these'),
  all: z.boolean().default(false).describe('every change, new files too'),
  amend: z.boolean().default(false).describe('replace the last commit'),
})
type Input = z.infer<typeof input>

export interface CommitOptions {
  /** Default `protected`. */
  readonly hooks?: HookPolicy
}

export interface CommitData {
  readonly folder: string
  readonly hash: string
  readonly subject: string
  readonly branch?: string
  readonly files: readonly ChangedLines[]
  readonly added: number
  readonly removed: number
  readonly amended: boolean
  /** Hooks of the repository that were there to run. */
  readonly hooks: readonly string[]
}

/** Makes a commit on this machine. Asks git everything that could go wrong before it stages anything. */
export function gitCommitTool(workspace: Workspace, git: Git, { hooks = 'protected' }: CommitOptions = {}): Tool {
  const files = { ...NEW_REPOSITORY, 'a.txt': 'a\n' }
  return defineTool({
    name: 'git_commit',
    description: describe(import.meta.url),
    input,
    effect: 'write',
    subject: ({ message }) => message,
    timeout: COMMIT_TIMEOUT,
    aliases: ['gitCommit', 'git-commit', 'commit'],
    parameterAliases: {
      repo: [...REPO_ALIASES],
      message: ['msg', 'commit_message', 'commitMessage', '-m'],
      paths: ['files', 'path', 'file_paths'],
      all: ['add_all', 'stage_all', '-a'],
    },
    target: ({ repo }) => workspace.target(repo),
    examples: [
      { outcome: 'ok', input: { message: 'Add a.txt', paths: ['a.txt'] }, files },
      { outcome: 'empty', input: { message: 'Nothing at all', all: true }, files: NEW_REPOSITORY },
      { outcome: 'retry', input: { message: 'Add a.txt' }, files, why: 'nothing is staged; the call that stages is given' },
    ],
    execute: (call, ctx) => commit(workspace, git, hooks, call, ctx),
  })
}

async function commit(workspace: Workspace, git: Git, policy: HookPolicy, call: Input, ctx: ToolContext): Promise<ToolOk> {
  if (call.all && call.paths)
    throw new ModelRetry('Give paths or all, not both.', {
      parameter: 'all',
      value: true,
      constraint: 'false where paths are given',
      suggestion: false,
    })
  const repository = await openRepository(workspace, git, call.repo, ctx.signal)
  const hooks = await hooksToRun(workspace, repository, policy)
  const operation = await operationIn(repository.gitDir)
  const tree = renamed(await treeOf(repository), repository.shown)
  if (call.amend) await refuseAmend(repository, tree, operation)
  const paths = await toStage(workspace, repository, call)
  const left = call.paths ? [] : await newInOwnFolder(repository)
  const said = [
    ...(call.all && left.length > 0
      ? [`Left out, because all takes in no new file of .mulligan: ${some(left)}. Name it in paths to commit it.`]
      : []),
    ...(repository.ofCommands && policy === 'protected'
      ? [
          "Hooks, filters and signing of this repository's own do not run: commands can write them, unlike those of the workspace's own .git.",
        ]
      : []),
  ]
  const notes = said.length > 0 ? { notes: said } : {}
  await refuseConflicts(workspace, call, tree)
  const nothing = paths === undefined ? unstaged(call, tree, operation) : paths.length === 0 || !(await hasChange(repository, tree, left))
  if (nothing && !(call.amend && paths === undefined)) {
    const says = call.paths ? 'no change in the paths' : left.length === 0 ? 'nothing is changed' : 'only files of .mulligan are new'
    return empty({ folder: repository.folder }, `Nothing to commit: ${says}.`, notes)
  }
  if (paths === undefined) await refuseElsewhere(repository, tree)
  await identity(writerOf(repository, policy))
  ctx.signal.throwIfAborted()
  await make(workspace, repository, call, { tree, operation, paths, leaves: left.length > 0, hooks }, policy)
  return committed(repository, call, hooks, notes)
}

async function treeOf(repository: Repository): Promise<WorkingTree> {
  const args = ['status', '--porcelain=v2', '-z', '--branch', '--no-renames', '--untracked-files=normal', '--ignore-submodules=dirty']
  return workingTree((await repository.read('read the status', [...args, '--', '.'])).stdout)
}

/**
 * The paths to stage that have a change.
 * @throws ModelRetry for one that is ignored, or was never there
 */
async function toStage(workspace: Workspace, repository: Repository, { all, paths }: Input): Promise<readonly string[] | undefined> {
  if (all) return ['.']
  if (!paths) return undefined
  const changed = changedPaths(await treeOf(repository)).map((path) => path.slice(repository.prefix.length))
  const stage: string[] = []
  for (const [index, value] of paths.entries()) {
    const parameter = `paths[${index}]`
    const { path, missing } = await repository.inside(parameter, value, false)
    if (touches(path, changed)) stage.push(path)
    else if ((await repository.git(['check-ignore', '--quiet', '--', `./${path}`], { env: { GIT_LITERAL_PATHSPECS: '0' } })).code === 0)
      throw new ModelRetry(`git ignores "${value}".`, { parameter, value, constraint: 'a path that git does not ignore' })
    else if (missing) await neverThere(workspace, repository, value, path, parameter)
  }
  return stage
}

/**
 * True when there is nothing to commit at all.
 * @throws ModelRetry when there is, but not staged
 */
function unstaged(call: Input, tree: WorkingTree, operation: Operation | undefined): boolean {
  if (tree.staged.length > 0 || (operation === 'merge' && tree.conflicts.length === 0)) return false
  const changed = changedPaths(withoutOwn(tree))
  if (changed.length === 0 || call.amend) return true
  const { message, repo } = call
  const choice = changed.length <= NAMED ? { paths: changed } : { all: true }
  throw new ModelRetry(`Nothing is staged. Changed: ${some(changed)}.`, {
    errorType: 'conflict',
    parameter: 'paths',
    constraint: 'the files to commit, or all=true',
    call: { tool: 'git_commit', input: { ...(repo === '.' ? {} : { repo }), message, ...choice } },
  })
}

async function committed(
  repository: Repository,
  { amend }: Input,
  hooks: readonly string[],
  notes: Pick<ToolOk, 'notes'>,
): Promise<ToolOk> {
  const shown = await repository.read('read the commit', ['log', '--max-count=1', '--no-show-signature', '--no-mailmap', FORMAT])
  const [made] = commits(shown.stdout)
  const args = ['show', '--format=', '--first-parent', '--raw', '--numstat', '-z', '--find-renames', '--no-ext-diff', '--no-textconv']
  const listed = await repository.read('read the commit', [...args, '--no-show-signature', '--submodule=short', 'HEAD'])
  const files = fileChanges(listed.stdout).map((one) => ({
    ...one,
    path: repository.shown(one.path),
    ...(one.from === undefined ? {} : { from: repository.shown(one.from) }),
  }))
  const { branch } = await treeOf(repository)
  const { hash = '', subject = '' } = made ?? {}
  const data: CommitData = {
    folder: repository.folder,
    hash,
    subject,
    ...(branch === undefined ? {} : { branch }),
    files,
    added: sum(files, 'added'),
    removed: sum(files, 'removed'),
    amended: amend,
    hooks,
  }
  const on = branch === undefined ? 'a detached head' : branch
  const lines = [
    `${amend ? 'Amended' : 'Committed'} ${hash.slice(0, SHORT)} on ${on}: ${subject}`,
    `${plural(files.length, 'file')}, +${data.added} -${data.removed}: ${some(files.map(({ path }) => path))}`,
    ...(hooks.length > 0 ? [`Hooks run: ${hooks.join(', ')}`] : []),
  ]
  return ok(data, { content: lines.join('\n'), display: lines.join('\n\n'), count: 1, ...notes })
}
