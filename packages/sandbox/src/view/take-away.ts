/**
 * Removes paths that a command created where nothing existed and nothing may exist (`.git`, `.mulligan`), so that they have no
 * effect on the host. They are moved, not deleted, because a person may have created them meanwhile.
 */
import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { chmod, type FileHandle, lstat, mkdtemp, open, rename, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { type Removed, SandboxError } from '../command.ts'
import { execute } from '../folders.ts'
import { isWithin } from '../paths.ts'
import type { View } from './view.ts'

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

export type TakeAway = (view: Pick<View, 'mounts' | 'absent'>) => Promise<readonly Removed[]>

/** @param parent parent of the folder that things are moved to; that folder is created with the first move and is kept */
export function createTakeAway(parent = tmpdir()): TakeAway {
  let folder: Promise<string> | undefined
  let count = 0
  let last: Promise<unknown> = Promise.resolve()

  const take = async (root: string, path: string): Promise<readonly Removed[]> => {
    const found = await find(root, path)
    if (!found) return []
    try {
      folder ??= mkdtemp(join(parent, 'mulligan-removed-'))
      // Renamed so that it is not a valid repository there either.
      return [{ path: found.path, to: await move(found, join(await folder, `${++count}-${found.name}`)) }]
    } catch (cause) {
      throw new SandboxError({
        message: `the command created ${found.path}, which can't be removed: ${(cause as Error).message}`,
        remedy: 'Inspect it and remove it before you use git or mulligan in this folder.',
        cause,
      })
    } finally {
      await found.folder.close()
    }
  }
  const takeAll: TakeAway = async ({ mounts, absent }) => {
    const taken: Removed[] = []
    for (const path of absent) {
      // A mount point can't be moved or replaced with a link by a command.
      const root = mounts.findLast(({ source, mode }) => mode === 'read-write' && isWithin(source, path))?.source
      if (root !== undefined) taken.push(...(await whileOpen(root, () => take(root, path))))
    }
    return taken
  }
  return (view) => {
    const next = last.then(() => takeAll(view))
    last = next.catch(() => {})
    return next
  }
}

interface Found {
  /** The entry itself, which may be a link in a parent of the requested path. */
  readonly path: string
  readonly folder: FileHandle
  readonly name: string
}

/** Walks step by step from a held folder and never through a link: another command may be replacing the folders in between. */
async function find(root: string, path: string): Promise<Found | undefined> {
  const names = relative(root, path).split(sep)
  let folder = await open(root, FOLDER).catch(() => undefined)
  if (!folder) return undefined
  let at = root
  for (const [index, name] of names.entries()) {
    at = join(at, name)
    const step = inside(folder, name, at)
    const entry = await lstat(step).catch(() => undefined)
    if (entry && (index === names.length - 1 || entry.isSymbolicLink())) return { path: at, folder, name }
    const next: FileHandle | undefined = entry?.isDirectory() ? await enter(step, entry) : undefined
    await folder.close()
    if (!next) return undefined
    folder = next
  }
  return undefined
}

/** Names an entry in an open folder through Linux's `/proc`, whatever became of the folder's path. */
const inside = (folder: FileHandle, name: string, path: string): string =>
  process.platform === 'linux' ? `/proc/${process.pid}/fd/${folder.fd}/${name}` : path

/**
 * Opens up a workspace while `work` runs, then restores its mode: if a command made it inaccessible, the user is told before the
 * next command.
 */
async function whileOpen<T>(root: string, work: () => Promise<T>): Promise<T> {
  const mode = (await stat(root).catch(() => undefined))?.mode
  const isClosed = mode !== undefined && (mode & 0o700) !== 0o700 && process.getuid?.() !== 0
  if (isClosed) await chmod(root, mode | 0o700).catch(() => {})
  try {
    return await work()
  } finally {
    if (isClosed) await chmod(root, mode).catch(() => {})
  }
}

/** Opens a folder, even if a command made it inaccessible to its own user. */
async function enter(path: string, { mode }: Stats): Promise<FileHandle | undefined> {
  return open(path, FOLDER).catch(async () => {
    await chmod(path, mode | 0o700).catch(() => {})
    return open(path, FOLDER).catch(() => undefined)
  })
}

/** @returns the new path; next to the original if it could not be copied to another disk */
async function move({ folder, name, path }: Found, to: string): Promise<string> {
  const from = inside(folder, name, path)
  try {
    await renameEntry(from, to)
    return to
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
  }
  // Rename it right away so that it has no effect: the copy may take a while.
  const suffix = `.removed-${randomUUID().slice(0, 8)}`
  const aside = inside(folder, name + suffix, path + suffix)
  await renameEntry(from, aside)
  try {
    await execute('cp', '-a', '--', aside, to)
    await execute('rm', '-rf', '--', aside)
    return to
  } catch {
    return path + suffix
  }
}

async function renameEntry(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
    const entry = error.code === 'EACCES' ? await lstat(from) : undefined
    if (!entry?.isDirectory()) throw error
    // Moving a folder rewrites its "..", and a command may have removed the permission for that.
    await chmod(from, entry.mode | 0o700)
    await rename(from, to)
  })
}
