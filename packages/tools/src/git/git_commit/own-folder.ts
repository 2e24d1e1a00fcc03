/** New files in `.mulligan`, at any depth: settings and tools that run by themselves. `all` does not take them in. */
import type { Repository } from '../common/repository.ts'
import type { WorkingTree } from '../git_status/porcelain.ts'
import { changedPaths } from './select.ts'

/** Patterns for what is called so, and what is in it. */
export const OWN = ['**/.mulligan', '**/.mulligan/**'] as const

/** From the workspace. */
export async function newInOwnFolder(repository: Repository): Promise<string[]> {
  const found = await untracked(
    repository,
    OWN.map((pattern) => `:(icase,glob)${pattern}`),
  )
  return found.map((path) => repository.shown(repository.prefix + path))
}

/** True when there is a change besides what is left out. */
export async function hasChange(repository: Repository, tree: WorkingTree, left: readonly string[]): Promise<boolean> {
  if (left.length === 0 || changedPaths({ ...tree, untracked: [] }).length > 0) return changedPaths(tree).length > 0
  return (await untracked(repository, ['.', ...OWN.map((pattern) => `:(exclude,icase,glob)${pattern}`)])).length > 0
}

/** From the folder that git is called in. */
async function untracked(repository: Repository, patterns: readonly string[]): Promise<string[]> {
  const args = ['ls-files', '-z', '--others', '--exclude-standard', '--', ...patterns]
  const { stdout } = await repository.read('list the new files', args, { env: { GIT_LITERAL_PATHSPECS: '0' } })
  return stdout.split('\0').filter((path) => path !== '')
}
