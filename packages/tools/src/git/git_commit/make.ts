/** The commit itself: stages what was chosen, and asks git. */
import { posix } from 'node:path'
import { ToolFailure } from '@mulligan/core'
import type { Workspace } from '../../workspace/workspace.ts'
import { gitFailure } from '../common/failure.ts'
import type { ConfigPair } from '../common/process.ts'
import type { Repository } from '../common/repository.ts'
import type { Operation } from '../common/state.ts'
import type { WorkingTree } from '../git_status/porcelain.ts'
import { changedPaths, touches } from './select.ts'
import { stagingOf } from './stage.ts'
import type { HookPolicy } from './trust.ts'

interface Commit {
  readonly message: string
  readonly amend: boolean
}

/** What is to be committed, settled before anything is done. */
export interface Plan {
  readonly tree: WorkingTree
  readonly operation: Operation | undefined
  /** To be staged, from the repository folder; undefined for what is staged already. */
  readonly paths: readonly string[] | undefined
  /** The paths hold new files of a `.mulligan` folder, which are left out. */
  readonly leaves: boolean
  readonly hooks: readonly string[]
}

/** With the repository's own settings, unless commands could have written them. */
export const writerOf = (repository: Repository, policy: HookPolicy): Repository['git'] =>
  policy === 'all' || !repository.ofCommands ? repository.own : repository.git

export async function make(workspace: Workspace, repository: Repository, call: Commit, plan: Plan, policy: HookPolicy): Promise<void> {
  const { paths, hooks, operation } = plan
  const git = writerOf(repository, policy)
  const isOwn = git === repository.own
  const noSigning: readonly ConfigPair[] = isOwn ? [] : [['commit.gpgSign', 'false']]
  const noHooks: readonly ConfigPair[] = policy === 'none' || !isOwn ? [['core.hooksPath', '/dev/null']] : []
  const quiet = { config: [...noSigning, ...noHooks] }
  // A deletion that is staged already is no path that git can still add.
  const inFiles = changedPaths({ ...plan.tree, staged: [] })
  const add = paths?.filter((path) => touches(path === '.' ? path : posix.join(repository.folder, path), inFiles)) ?? []
  for (const args of await stagingOf(repository, add, plan.leaves)) {
    const added = await git(args, { writes: true, env: { GIT_LITERAL_PATHSPECS: '0' }, ...quiet })
    if (added.code !== 0) throw gitFailure('stage the paths', added, workspace.root)
  }
  // Only the paths, whatever else is staged. git does not do that while a merge is under way. What hooks run must see
  // patterns as patterns, so these are marked one by one.
  const only = paths && operation === undefined ? ['--only', '--', ...paths.map((path) => `:(literal)${path}`)] : []
  const end = await git(
    [
      ...['commit', '--quiet', '--cleanup=whitespace', `--message=${call.message}`],
      ...(call.amend ? ['--amend'] : []),
      ...(policy === 'none' ? ['--no-verify'] : []),
      ...only,
    ],
    { writes: true, ...quiet },
  )
  if (end.code === 0) return
  const failure = gitFailure('commit', end, workspace.root)
  const refused = hooks.length > 0 ? ` A hook may have refused it: ${hooks.join(', ')}.` : ''
  const staged = paths ? ' What was staged stays staged.' : ''
  throw new ToolFailure(`${failure.message}${refused}${staged}`, { errorType: failure.errorType, cause: failure.cause })
}
