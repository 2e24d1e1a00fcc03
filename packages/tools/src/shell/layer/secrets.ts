/** The secret files of a workspace, which commands see empty. */
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../../git/common/process.ts'
import { ripgrep } from '../../ripgrep.ts'
import { isSecretFile, isTestKey, SECRET_HEAD, secretName } from '../../workspace/secret-files.ts'

/** Whole folders of packages and of git, which hold names in the thousands and none of the person's secrets. */
const LEFT_OUT = ['!**/node_modules/**', '!**/.git/**']

/**
 * Looked for once, when the first command is run: a file that comes later is one that the person, or the model, has just made.
 *
 * @param allowed paths that commands may read all the same
 * @returns paths from the workspace
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
    // What can't be read by the person can't be read by a command either.
    return true
  }
}
