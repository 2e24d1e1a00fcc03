/** How the paths are staged. */
import type { Repository } from '../common/repository.ts'
import { OWN } from './own-folder.ts'
import { touches } from './select.ts'

/**
 * Arguments of git, call by call; patterns count in them.
 * @param paths from the repository folder
 * @param leaves new files of `.mulligan` stay out; what of it is tracked is like any other file
 */
export async function stagingOf(
  repository: Repository,
  paths: readonly string[],
  leaves: boolean,
): Promise<readonly (readonly string[])[]> {
  if (paths.length === 0) return []
  const links = (await gitlinks(repository)).filter((link) => paths.some((path) => touches(path, [link])))
  // `git add` looks into a repository within this one, by that one's settings. `update-index` takes its commit alone.
  const without = links.map((link) => `:(exclude,literal)${link}`)
  const rest = paths
    .filter((path) => !links.some((link) => link === path || path.startsWith(`${link}/`)))
    .map((path) => `:(literal)${path}`)
  const all = leaves
    ? [
        ['add', '--update', '--', '.', ...without],
        ['add', '--all', '--', '.', ...without, ...OWN.map((pattern) => `:(exclude,icase,glob)${pattern}`)],
      ]
    : rest.length > 0
      ? [['add', '--all', '--', ...rest, ...without]]
      : []
  return [...all, ...(links.length > 0 ? [['update-index', '--add', '--remove', '--', ...links]] : [])]
}

/** Repositories within this one that are in its index, from the repository folder. */
async function gitlinks(repository: Repository): Promise<string[]> {
  const found: string[] = []
  let rest = ''
  // Line by line: an index may be larger than what is collected.
  const onData = (piece: Buffer) => {
    const lines = (rest + piece.toString('latin1')).split('\0')
    rest = lines.pop() ?? ''
    found.push(...lines.filter((line) => line.startsWith('160000 ')))
  }
  await repository.read('look for repositories within', ['ls-files', '--stage', '-z', '--', '.'], { onData })
  return found.map((line) => Buffer.from(line.slice(line.indexOf('\t') + 1), 'latin1').toString('utf8'))
}
