/** The sandbox's own folders: home and tmp, gone when it is closed, or swept by the next one when its process was killed. */
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isGone, owner } from './owner.ts'
import { runProgram, systemProgram } from './program.ts'
import type { User } from './user.ts'

const PREFIX = 'mulligan-sandbox-'
const PATTERN = /^mulligan-sandbox-([\d-]+)-[^-]{6}$/

export interface Folders {
  readonly home: string
  readonly tmp: string
  readonly remove: () => Promise<void>
}

export async function createFolders(user: User, parent = tmpdir()): Promise<Folders> {
  const folder = await mkdtemp(join(parent, `${PREFIX}${owner()}-`))
  const [home, tmp] = [join(folder, 'home'), join(folder, 'tmp')]
  await mkdir(home)
  await mkdir(tmp)
  if (process.getuid?.() === 0 && user.onHost === 'same') {
    for (const one of [home, tmp]) await chown(one, user.uid, user.gid)
    // Passed through by the commands' user, listed by nobody.
    await chmod(folder, 0o711)
  }
  return { home, tmp, remove: () => removeFolder(folder) }
}

/** Removes what sandboxes left behind whose processes are dead. Never throws: another one may be sweeping too. */
export async function sweepFolders(parent = tmpdir()): Promise<void> {
  const names = await readdir(parent).catch(() => [])
  for (const name of names) {
    const label = PATTERN.exec(name)?.[1]
    if (label === undefined || !isGone(label)) continue
    const folder = join(parent, name)
    const found = await lstat(folder).catch(() => undefined)
    if (found?.isDirectory() && found.uid === process.getuid?.()) await removeFolder(folder)
  }
}

/**
 * Also folders that a command has closed against its own user, and ones so deep that no path leads to them: programs that go
 * down step by step take those. What still can't be removed is left to the next sweep; no command's result is lost for it.
 */
export async function removeFolder(folder: string): Promise<void> {
  const steps = [
    () => rm(folder, { recursive: true, force: true }),
    () => execute('rm', ['-rf', '--', folder]),
    async () => {
      await execute('chmod', ['-R', 'u+rwx', '--', folder]).catch(() => {})
      await execute('rm', ['-rf', '--', folder])
    },
  ]
  for (const step of steps) {
    const done = await step().then(
      () => true,
      () => false,
    )
    if (done) return
  }
}

const execute = (name: string, args: readonly string[]) => runProgram(systemProgram(name) ?? `/bin/${name}`, args)
