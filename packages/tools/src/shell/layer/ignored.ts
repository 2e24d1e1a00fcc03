/** Which paths git ignores by the rules of the workspace: caches and build output, which nobody needs to be asked about. */
import type { Ignored } from '@mulligan/sandbox'
import type { Git } from '../../git/common/process.ts'

/** Paths of one run of git: arguments have a limit. */
const AT_ONCE = 500

/**
 * Nothing is ignored where git does not answer: then a person is asked about more, and never about less.
 *
 * @param root of the workspace. A command may have written a `.gitignore` on its layer, which does not count
 */
export function ignoredBy(git: Git, root: string): Ignored {
  return async (paths) => {
    const ignored: string[] = []
    for (let from = 0; from < paths.length; from += AT_ONCE)
      ignored.push(...(await someIgnored(git, root, paths.slice(from, from + AT_ONCE))))
    return ignored
  }
}

type Paths = Parameters<Ignored>[0]

async function someIgnored(git: Git, root: string, paths: Paths): Promise<readonly string[]> {
  const spelt = new Map(paths.filter(isPlain).map(({ path, isDirectory }) => [isDirectory ? `${path}/` : path, path]))
  // Names with line breaks or quotes in them come back quoted, and so count as not ignored.
  const found = await listed(git, root, '\n', ['check-ignore', '--', ...spelt.keys()])
  if (found.length === 0) return []
  // Of a folder that is ignored, files may be tracked all the same.
  const folders = found.filter((path) => path.endsWith('/'))
  const tracked = folders.length === 0 ? [] : await listed(git, root, '\0', ['ls-files', '-z', '--', ...folders])
  return found.filter((path) => !tracked.some((one) => one.startsWith(path))).flatMap((path) => spelt.get(path) ?? [])
}

/** Git refuses to look into itself and at patterns, and would then say nothing of the others. */
const isPlain = ({ path }: Paths[number]): boolean =>
  path !== '' && !path.startsWith(':') && !path.split('/').some((name) => name.toLowerCase() === '.git')

/** `check-ignore` takes no literal paths, and prints lines. */
async function listed(git: Git, cwd: string, separator: '\n' | '\0', args: readonly string[]): Promise<readonly string[]> {
  const env = { GIT_LITERAL_PATHSPECS: separator === '\n' ? '0' : '1' }
  const { code, stdout, cut } = await git(args, { cwd, env }).catch(() => ({ code: null, stdout: '', cut: true }))
  return code === 0 && !cut ? stdout.split(separator).filter((path) => path !== '') : []
}
