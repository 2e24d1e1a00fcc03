/** The sandbox's own folders (home and tmp). They are deleted when it is closed, or by the next sandbox if its process was killed. */
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isGone, owner } from './processes.ts'
import { runProgram, systemProgram } from './program.ts'
import type { User } from './user.ts'

const PREFIX = 'mulligan-sandbox-'

export interface Folders {
  readonly home: string
  readonly tmp: string
  readonly remove: () => Promise<void>
}

export async function createFolders(user: User, parent = tmpdir()): Promise<Folders> {
  const folder = await makeOwned(PREFIX, parent)
  const [home, tmp] = [join(folder, 'home'), join(folder, 'tmp')]
  await mkdir(home)
  await mkdir(tmp)
  if (process.getuid?.() === 0 && user.onHost === 'same') {
    for (const one of [home, tmp]) await chown(one, user.uid, user.gid)
    // The commands' user can pass through but not list it.
    await chmod(folder, 0o711)
  }
  return { home, tmp, remove: () => removeFolder(folder) }
}

export const sweepFolders = (parent = tmpdir()): Promise<void> => sweepOwned(PREFIX, parent)

/** Creates a folder named after this process. */
export const makeOwned = (prefix: string, parent = tmpdir()): Promise<string> => mkdtemp(join(parent, `${prefix}${owner()}-`))

/** Removes folders of dead processes. Never throws: another process may be sweeping too. */
export async function sweepOwned(prefix: string, parent = tmpdir()): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const label = name.startsWith(prefix) ? /^([\d-]+)-[^-]{6}$/.exec(name.slice(prefix.length))?.[1] : undefined
    if (label === undefined || !isGone(label)) continue
    const folder = join(parent, name)
    const found = await lstat(folder).catch(() => undefined)
    if (found?.isDirectory() && found.uid === process.getuid?.()) await removeFolder(folder)
  }
}

/**
 * Removes a folder, even if a command made parts inaccessible to its own user, or nested them too deeply for any path: programs
 * that descend step by step can remove those. Anything that still can't be removed is left to the next sweep, without affecting the
 * command's result.
 */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
    .catch(() => execute('rm', '-rf', '--', folder))
    .catch(async () => {
      await execute('chmod', '-R', 'u+rwx', '--', folder).catch(() => {})
      await execute('rm', '-rf', '--', folder)
    })
    .catch(() => {})
}

/** Runs a system program. */
export const execute = async (name: string, ...args: readonly string[]): Promise<void> => {
  await runProgram(systemProgram(name) ?? `/bin/${name}`, args)
}
