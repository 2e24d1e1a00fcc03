/** Finds the workspace's secret files, which commands see as empty. */
import { open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Ignored } from '@mulligan/sandbox'
import type { Git } from '../../git/common/process.ts'
import { ripgrep } from '../../ripgrep.ts'
import { isSecretFile, isTestKey, SECRET_HEAD, secretName } from '../../workspace/secret-files.ts'

/** Package folders and `.git`, which contain thousands of files and none of the user's secrets. */
const LEFT_OUT = ['!**/node_modules/**', '!**/.git/**']

/**
 * Finds secret files. Runs once, before the first command; files that appear later were created by the user or the model.
 *
 * @param allowed secret files that commands may read anyway
 * @returns paths relative to the workspace
 */
export async function secretPaths(root: string, git: Git, allowed: readonly string[], signal?: AbortSignal): Promise<readonly string[]> {
  const named: string[] = []
  await ripgrep(['--files', '--null', '--hidden', '--no-ignore', '--no-messages', ...LEFT_OUT.map((glob) => `--glob=${glob}`)], {
    cwd: root,
    signal,
    separator: '\0',
    onRecord: (path) => {
      if (secretName(path) !== undefined) named.push(path)
    },
  })
  const secret = (await Promise.all(named.map(async (path) => ((await isSecret(root, path)) ? [path] : [])))).flat()
  const kept = secret.filter((path) => !allowed.includes(path))
  const keys = kept.filter(isTestKey)
  if (keys.length === 0) return kept
  const { code, stdout } = await git(['ls-files', '-z', '--', ...keys], { cwd: root, signal }).catch(() => NONE)
  const tracked = new Set(code === 0 ? stdout.split('\0') : [])
  return kept.filter((path) => !tracked.has(path))
}

const NONE = { code: null, stdout: '' }

async function isSecret(root: string, path: string): Promise<boolean> {
  if (secretName(path) === 'secret') return true
  try {
    await using file = await open(join(root, path))
    const { bytesRead, buffer } = await file.read(Buffer.alloc(SECRET_HEAD), 0, SECRET_HEAD, 0)
    return isSecretFile(path, buffer.toString('latin1', 0, bytesRead))
  } catch {
    // A file the user cannot read cannot be read by a command either.
    return true
  }
}

interface Masked {
  readonly script: string
  /** Output of the command. */
  readonly output: string
  readonly failed: boolean
  /** Secret files, as paths relative to the workspace. */
  readonly masks: readonly string[]
  /** Secret files that commands may already read. */
  readonly readable: readonly string[]
}

const MAX_NAMED = 5
export const named = (paths: readonly string[]): string =>
  `${paths.slice(0, MAX_NAMED).join(', ')}${paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : ''}`

/** Files that programs read automatically, so neither the command nor an error message names them. */
const ENVIRONMENT = /^\.env(?:\..+)?$|^\.envrc$/

/**
 * Builds the hint for a command that ran into a secret file it sees as empty. Pure.
 *
 * @returns a sentence that names the files and how to allow them, or undefined if they were not involved
 */
export function maskHint({ script, output, failed, masks, readable }: Masked): string | undefined {
  const hidden = masks.filter((path) => {
    const name = basename(path)
    return mentions(script, name) || (failed && (mentions(output, name) || (ENVIRONMENT.test(name) && !path.includes('/'))))
  })
  if (hidden.length === 0) return undefined
  const allowed = JSON.stringify([...readable, ...hidden.slice(0, MAX_NAMED)])
  return `${named(hidden)}: commands see secret files empty. If it needs the contents, a person can allow them: mulligan config set sandbox.readable '${allowed.replaceAll("'", "'\\''")}'.`
}

/** True if the text contains the name as a whole word or at the end of a path. */
const mentions = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w-])${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?![\\w-]|\\.\\w)`).test(text)

/** Paths per git process, because the argument list is limited. */
const AT_ONCE = 500

/**
 * Creates a filter for paths that git ignores by the workspace's rules: caches and build output, which do not need approval. If git fails,
 * nothing counts as ignored, so the user is asked about more files, never fewer.
 *
 * @param root workspace root. A `.gitignore` that a command wrote on its layer does not count
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
  // Names with line breaks or quotes are returned quoted, so they count as not ignored.
  const found = await listed(git, root, '\n', ['check-ignore', '--', ...spelt.keys()])
  if (found.length === 0) return []
  // An ignored folder may still contain tracked files.
  const folders = found.filter((path) => path.endsWith('/'))
  const tracked = folders.length === 0 ? [] : await listed(git, root, '\0', ['ls-files', '-z', '--', ...folders])
  return found.filter((path) => !tracked.some((one) => one.startsWith(path))).flatMap((path) => spelt.get(path) ?? [])
}

/** False for paths inside `.git` and for pathspec patterns. Git would reject those and then report nothing for the others. */
const isPlain = ({ path }: Paths[number]): boolean =>
  path !== '' && !path.startsWith(':') && !path.split('/').some((name) => name.toLowerCase() === '.git')

/** Runs git and splits its output. `check-ignore` does not support literal pathspecs, and prints lines. */
async function listed(git: Git, cwd: string, separator: '\n' | '\0', args: readonly string[]): Promise<readonly string[]> {
  const env = { GIT_LITERAL_PATHSPECS: separator === '\n' ? '0' : '1' }
  const { code, stdout, cut } = await git(args, { cwd, env }).catch(() => ({ code: null, stdout: '', cut: true }))
  return code === 0 && !cut ? stdout.split(separator).filter((path) => path !== '') : []
}
