/** Makes the commit: selects the changes, stages them and runs git. */
import { posix } from 'node:path'
import { ToolFailure } from '@mulligan/core'
import type { Workspace } from '../../workspace/workspace.ts'
import { touches } from '../common/file-changes.ts'
import { type ConfigPair, gitFailure } from '../common/process.ts'
import type { Operation, Repository } from '../common/repository.ts'
import type { WorkingTree } from '../git_status/porcelain.ts'
import type { HookPolicy } from './refusals.ts'

/** What will be committed, decided before anything is done. */
interface Plan {
  readonly message: string
  readonly amend: boolean
  readonly policy: HookPolicy
  readonly tree: WorkingTree
  readonly operation: Operation | undefined
  /** Paths to stage, relative to the repository folder. Undefined to commit what is already staged. */
  readonly paths: readonly string[] | undefined
  /** The paths contain new files in a `.mulligan` folder, which are left out. */
  readonly leaves: boolean
  readonly hooks: readonly string[]
}

/** Runs git with the repository's own settings, unless commands could have written them. */
export const writerOf = (repository: Repository, policy: HookPolicy): Repository['git'] =>
  policy === 'all' || !repository.ofCommands ? repository.own : repository.git

export async function make(workspace: Workspace, repository: Repository, plan: Plan): Promise<void> {
  const { message, amend, policy, tree, operation, paths, leaves, hooks } = plan
  const git = writerOf(repository, policy)
  const isOwn = git === repository.own
  const noSigning: readonly ConfigPair[] = isOwn ? [] : [['commit.gpgSign', 'false']]
  const noHooks: readonly ConfigPair[] = policy === 'none' || !isOwn ? [['core.hooksPath', '/dev/null']] : []
  const quiet = { writes: true, config: [...noSigning, ...noHooks] }
  // Git can no longer add a path whose deletion is already staged.
  const inFiles = changedPaths({ ...tree, staged: [] })
  const add = paths?.filter((path) => touches(path === '.' ? path : posix.join(repository.folder, path), inFiles)) ?? []
  for (const args of await stagingOf(repository, add, leaves)) {
    const added = await git(args, { ...quiet, env: { GIT_LITERAL_PATHSPECS: '0' } })
    if (added.code !== 0) throw gitFailure('stage the paths', added, workspace.root)
  }
  // Commit only the paths, whatever else is staged. Git does not allow that during a merge. Hooks must see patterns as patterns, so each
  // path is marked as literal individually.
  const only = paths && operation === undefined ? ['--only', '--', ...paths.map((path) => `:(literal)${path}`)] : []
  const flags = [...(amend ? ['--amend'] : []), ...(policy === 'none' ? ['--no-verify'] : [])]
  const end = await git(['commit', '--quiet', '--cleanup=whitespace', `--message=${message}`, ...flags, ...only], quiet)
  if (end.code === 0) return
  const failure = gitFailure('commit', end, workspace.root)
  const refused = hooks.length > 0 ? ` A hook may have refused it: ${hooks.join(', ')}.` : ''
  const staged = paths ? ' What was staged stays staged.' : ''
  throw new ToolFailure(`${failure.message}${refused}${staged}`, { errorType: failure.errorType, cause: failure.cause })
}

/**
 * Returns the arguments for each git call that stages the paths. Patterns are active in them.
 * @param paths relative to the repository folder
 * @param leaves leave out new files in `.mulligan`; tracked ones are treated like any other file
 */
async function stagingOf(repository: Repository, paths: readonly string[], leaves: boolean): Promise<readonly (readonly string[])[]> {
  if (paths.length === 0) return []
  const links = (await gitlinks(repository)).filter((link) => paths.some((path) => touches(path, [link])))
  // `git add` looks into a nested repository and applies its settings. `update-index` only records its commit.
  const without = links.map((link) => `:(exclude,literal)${link}`)
  const linked = links.length > 0 ? [['update-index', '--add', '--remove', '--', ...links]] : []
  if (leaves) {
    const all = ['add', '--all', '--', '.', ...without, ...OWN.map((pattern) => `:(exclude,icase,glob)${pattern}`)]
    return [['add', '--update', '--', '.', ...without], all, ...linked]
  }
  const rest = paths.filter((path) => !links.some((link) => link === path || path.startsWith(`${link}/`)))
  const literal = rest.map((path) => `:(literal)${path}`)
  return [...(rest.length > 0 ? [['add', '--all', '--', ...literal, ...without]] : []), ...linked]
}

/** Lists nested repositories in the index, as paths relative to the repository folder. */
async function gitlinks(repository: Repository): Promise<string[]> {
  const found: string[] = []
  let rest = ''
  // Line by line, because an index may be larger than the collection limit.
  const onData = (piece: Buffer) => {
    const lines = (rest + piece.toString('latin1')).split('\0')
    rest = lines.pop() ?? ''
    found.push(...lines.filter((line) => line.startsWith('160000 ')))
  }
  await repository.read('look for repositories within', ['ls-files', '--stage', '-z', '--', '.'], { onData })
  return found.map((line) => Buffer.from(line.slice(line.indexOf('\t') + 1), 'latin1').toString('utf8'))
}

/** New files in `.mulligan`, at any depth, are settings and tools that run automatically, so `all` leaves them out. */
const OWN = ['**/.mulligan', '**/.mulligan/**'] as const

/** Lists new files in `.mulligan`, as paths relative to the workspace. */
export async function newInOwnFolder(repository: Repository): Promise<string[]> {
  const patterns = OWN.map((pattern) => `:(icase,glob)${pattern}`)
  return (await untracked(repository, patterns)).map((path) => repository.shown(repository.prefix + path))
}

/** True if anything changed apart from what is left out. */
export async function hasChange(repository: Repository, tree: WorkingTree, left: readonly string[]): Promise<boolean> {
  if (left.length === 0 || changedPaths({ ...tree, untracked: [] }).length > 0) return changedPaths(tree).length > 0
  return (await untracked(repository, ['.', ...OWN.map((pattern) => `:(exclude,icase,glob)${pattern}`)])).length > 0
}

/** Lists untracked files, as paths relative to the folder git runs in. */
async function untracked(repository: Repository, patterns: readonly string[]): Promise<string[]> {
  const args = ['ls-files', '-z', '--others', '--exclude-standard', '--', ...patterns]
  const { stdout } = await repository.read('list the new files', args, { env: { GIT_LITERAL_PATHSPECS: '0' } })
  return stdout.split('\0').filter((path) => path !== '')
}

/** Returns every path with a change of any kind, without duplicates. */
export function changedPaths({ staged, unstaged, conflicts, untracked: added }: WorkingTree): string[] {
  const tracked = [...staged, ...unstaged].flatMap(({ path, from }) => (from === undefined ? [path] : [from, path]))
  return [...new Set([...tracked, ...conflicts.map(({ path }) => path), ...added])]
}

/** Returns the tree without new files in a `.mulligan` folder. */
export const withoutOwn = (tree: WorkingTree): WorkingTree => ({
  ...tree,
  untracked: tree.untracked.filter((path) => !path.toLowerCase().split('/').includes('.mulligan')),
})
