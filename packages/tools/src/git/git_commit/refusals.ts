/** What stands in the way of a commit, found out before anything is staged. */
import { readFile } from 'node:fs/promises'
import { ModelRetry, ToolFailure } from '@mulligan/core'
import { plural } from '../../files/common/page.ts'
import { hint, type Workspace } from '../../workspace/workspace.ts'
import { NO_IDENTITY } from '../common/failure.ts'
import type { Repository } from '../common/repository.ts'
import type { Operation } from '../common/state.ts'
import type { WorkingTree } from '../git_status/porcelain.ts'
import { hasMarkers, NAMED, some, touches } from './select.ts'

/** What the call has chosen to commit. */
interface Choice {
  readonly all: boolean
  readonly paths?: readonly string[] | undefined
}

export async function refuseConflicts(workspace: Workspace, { all, paths }: Choice, { conflicts }: WorkingTree): Promise<void> {
  if (conflicts.length === 0) return
  const names = conflicts.map(({ path }) => path)
  const unresolved: string[] = []
  for (const path of names) {
    const chosen = all || paths?.some((one) => touches(workspace.target(one), [path]))
    const text = await workspace
      .resolve(path, { contents: false })
      .then((file) => (file.kind === 'file' ? readFile(file.absolute, 'latin1') : ''))
    if (!chosen || hasMarkers(text)) unresolved.push(path)
  }
  if (unresolved.length > 0)
    throw new ModelRetry(`In conflict: ${some(unresolved)}. Nothing was committed.`, {
      errorType: 'conflict',
      parameter: 'paths',
      constraint: 'every file in conflict, once no conflict marker is left in it',
      ...hint(names.slice(0, NAMED)),
    })
}

export async function refuseAmend(
  repository: Repository,
  { head, conflicts }: WorkingTree,
  operation: Operation | undefined,
): Promise<void> {
  const refuse = (why: string) =>
    new ModelRetry(why, { errorType: 'conflict', parameter: 'amend', value: true, constraint: 'false here', suggestion: false })
  if (head === undefined) throw refuse('There is no commit yet to amend.')
  if (operation !== undefined && (operation !== 'rebase' || conflicts.length > 0))
    throw refuse(`A ${operation} is under way, so the last commit cannot be amended.`)
  const { stdout } = await repository.read('look at the remote branches', [
    'for-each-ref',
    '--count=1',
    '--contains=HEAD',
    '--format=%(refname:short)',
    'refs/remotes',
  ])
  if (stdout.trim() !== '') throw refuse(`The last commit is on ${stdout.trim()} already; to amend it would rewrite what others have.`)
}

/** What is staged outside the folder would be committed with the rest. */
export async function refuseElsewhere(repository: Repository, { staged }: WorkingTree): Promise<void> {
  if (repository.prefix === '') return
  const { stdout } = await repository.read('list what is staged', [
    'diff',
    '--cached',
    '--name-only',
    '--no-relative',
    '--no-renames',
    '-z',
  ])
  const outside = stdout.split('\0').filter((path) => path !== '' && !path.startsWith(repository.prefix))
  if (outside.length === 0) return
  throw new ModelRetry(
    `${plural(outside.length, 'file')} outside "${repository.folder}" ${outside.length === 1 ? 'is' : 'are'} staged too.`,
    {
      errorType: 'conflict',
      parameter: 'paths',
      constraint: 'the files to commit',
      suggestion: staged.map(({ path }) => path),
    },
  )
}

export async function identity(git: Repository['git']): Promise<void> {
  for (const who of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'])
    if ((await git(['var', who], { writes: true })).code !== 0) throw new ToolFailure(NO_IDENTITY, { errorType: 'config' })
}
