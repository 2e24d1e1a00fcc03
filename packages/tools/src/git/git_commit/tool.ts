import { defineTool, empty, ModelRetry, ok, type Tool, type ToolContext, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { plural } from '../../files/common/page.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { fileChanges, sum, touches } from '../common/file-changes.ts'
import { NAMED, NEW_REPOSITORY, REPO_ALIASES, repoParameter, SHORT, some, withPaths } from '../common/parameters.ts'
import type { Git } from '../common/process.ts'
import { type Operation, openRepository, operationIn, type Repository } from '../common/repository.ts'
import { neverThere } from '../common/revisions.ts'
import { commits, FORMAT } from '../git_log/tool.ts'
import { renamed, type WorkingTree, workingTree } from '../git_status/porcelain.ts'
import { changedPaths, hasChange, make, newInOwnFolder, withoutOwn, writerOf } from './make.ts'
import { type HookPolicy, hooksToRun, identity, refuseAmend, refuseConflicts, refuseElsewhere } from './refusals.ts'

/** Rejects messages such as "fix" and "wip", which are useless to anyone searching the history later. */
const MIN_MESSAGE = 5
const MAX_MESSAGE = 20_000
const MAX_PATHS = 500
/** Seconds. Hooks may run a whole test suite. */
const COMMIT_TIMEOUT = 300

const input = z.object({
  repo: repoParameter(),
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

/** Creates the tool that makes a local commit. Checks everything that could go wrong before staging anything. */
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

async function commit(workspace: Workspace, git: Git, policy: HookPolicy, call: Input, { signal }: ToolContext): Promise<ToolOk> {
  if (call.all && call.paths) {
    const wrong = { parameter: 'all', value: true, constraint: 'false where paths are given', suggestion: false }
    throw new ModelRetry('Give paths or all, not both.', wrong)
  }
  const repository = await openRepository(workspace, git, call.repo, signal)
  const hooks = await hooksToRun(workspace, repository, policy)
  const operation = operationIn(repository.gitDir)
  const tree = renamed(await treeOf(repository), repository.shown)
  if (call.amend) await refuseAmend(repository, tree, operation)
  const paths = await toStage(workspace, repository, call)
  const left = call.paths ? [] : await newInOwnFolder(repository)
  const says: string[] = []
  if (call.all && left.length > 0)
    says.push(`Left out, because all=true adds no new files in .mulligan: ${some(left)}. Name it in paths to commit it.`)
  if (repository.ofCommands && policy === 'protected')
    says.push(
      "Hooks, filters and signing of this repository's own do not run: commands can write them, unlike those of the workspace's own .git.",
    )
  const notes = says.length > 0 ? { notes: says } : {}
  await refuseConflicts(workspace, call, tree)
  const nothing = paths === undefined ? unstaged(call, tree, operation) : paths.length === 0 || !(await hasChange(repository, tree, left))
  if (nothing && !(call.amend && paths === undefined)) {
    const why = call.paths ? 'no change in the paths' : left.length === 0 ? 'nothing is changed' : 'only files of .mulligan are new'
    return empty({ folder: repository.folder }, `Nothing to commit: ${why}.`, notes)
  }
  if (paths === undefined) await refuseElsewhere(repository, tree)
  await identity(writerOf(repository, policy))
  signal.throwIfAborted()
  await make(workspace, repository, { ...call, policy, tree, operation, paths, leaves: left.length > 0, hooks })
  return committed(repository, call, hooks, notes)
}

async function treeOf(repository: Repository): Promise<WorkingTree> {
  const args = ['status', '--porcelain=v2', '-z', '--branch', '--no-renames', '--untracked-files=normal', '--ignore-submodules=dirty']
  return workingTree((await repository.read('read the status', [...args, '--', '.'])).stdout)
}

/**
 * Returns the paths to stage that have changes.
 * @throws ModelRetry for a path that is ignored or never existed
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
 * Returns true if there is nothing to commit at all.
 * @throws ModelRetry if there are changes but none are staged
 */
function unstaged({ message, repo, amend }: Input, tree: WorkingTree, operation: Operation | undefined): boolean {
  if (tree.staged.length > 0 || (operation === 'merge' && tree.conflicts.length === 0)) return false
  const changed = changedPaths(withoutOwn(tree))
  if (changed.length === 0 || amend) return true
  const choice = changed.length <= NAMED ? { paths: changed } : { all: true }
  throw new ModelRetry(`Nothing is staged. Changed: ${some(changed)}.`, {
    errorType: 'conflict',
    parameter: 'paths',
    constraint: 'the files to commit, or all=true',
    call: { tool: 'git_commit', input: { ...(repo !== '.' && { repo }), message, ...choice } },
  })
}

async function committed(repository: Repository, { amend }: Input, hooks: readonly string[], notes: Pick<ToolOk, 'notes'>) {
  const { folder, read, shown } = repository
  const logged = await read('read the commit', ['log', '--max-count=1', '--no-show-signature', '--no-mailmap', FORMAT])
  const { hash = '', subject = '' } = commits(logged.stdout)[0] ?? {}
  const args = ['show', '--format=', '--first-parent', '--raw', '--numstat', '-z', '--find-renames', '--no-ext-diff', '--no-textconv']
  const listed = await read('read the commit', [...args, '--no-show-signature', '--submodule=short', 'HEAD'])
  const files = fileChanges(listed.stdout).map((one) => withPaths(one, shown))
  const [added, removed] = [sum(files, 'added'), sum(files, 'removed')]
  const { branch } = await treeOf(repository)
  const data = { folder, hash, subject, ...(branch !== undefined && { branch }), files, added, removed, amended: amend, hooks }
  const lines = [
    `${amend ? 'Amended' : 'Committed'} ${hash.slice(0, SHORT)} on ${branch ?? 'a detached head'}: ${subject}`,
    `${plural(files.length, 'file')}, +${added} -${removed}: ${some(files.map(({ path }) => path))}`,
    ...(hooks.length > 0 ? [`Hooks run: ${hooks.join(', ')}`] : []),
  ]
  return ok(data, { content: lines.join('\n'), display: lines.join('\n\n'), count: 1, ...notes })
}
