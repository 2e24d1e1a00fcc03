/**
 * Takes away what a command made where nothing was and nothing may be (`.git`, `.mulligan`), so that nothing of it takes effect on
 * the host. It is moved, not deleted: a person may have made it meanwhile.
 */
import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { chmod, type FileHandle, lstat, mkdtemp, open, rename, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import type { Removed } from '../command.ts'
import { SandboxError } from '../errors.ts'
import { isWithin } from '../paths.ts'
import { runProgram, systemProgram } from '../program.ts'
import type { View } from './view.ts'

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

export type TakeAway = (view: Pick<View, 'mounts' | 'absent'>) => Promise<readonly Removed[]>

/** @param parent of the folder that things are moved to; it is made with the first one, and stays */
export function createTakeAway(parent = tmpdir()): TakeAway {
  let folder: Promise<string> | undefined
  let count = 0
  let last: Promise<unknown> = Promise.resolve()

  const take = async (root: string, path: string): Promise<readonly Removed[]> => {
    const found = await find(root, path)
    if (!found) return []
    try {
      folder ??= mkdtemp(join(parent, 'mulligan-removed-'))
      // Under another name, so that it is not a repository there either.
      return [{ path: found.path, to: await move(found, join(await folder, `${++count}-${found.name}`)) }]
    } catch (cause) {
      throw new SandboxError({
        message: `the command made ${found.path}, which can't be taken away: ${(cause as Error).message}`,
        remedy: 'Look at what is there, and remove it before you use git or mulligan in this folder.',
        cause,
      })
    } finally {
      await found.folder.close()
    }
  }
  const takeAll: TakeAway = async ({ mounts, absent }) => {
    const taken: Removed[] = []
    for (const path of absent) {
      // A mount point, which no command can move or put a link in the place of.
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
  /** Of the entry itself, which may be a link above the path that was asked for. */
  readonly path: string
  readonly folder: FileHandle
  readonly name: string
}

/** Step by step from a folder that is held, never through a link: another command may be exchanging what lies between. */
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

/** Linux names what is in an open folder, whatever became of the path to it. */
const inside = (folder: FileHandle, name: string, path: string): string =>
  process.platform === 'linux' ? `/proc/${process.pid}/fd/${folder.fd}/${name}` : path

/** A workspace stays as closed as a command has left it: who may not enter it is told so before the next one. */
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

/** Also one that a command has closed against its own user. */
async function enter(path: string, { mode }: Stats): Promise<FileHandle | undefined> {
  return open(path, FOLDER).catch(async () => {
    await chmod(path, mode | 0o700).catch(() => {})
    return open(path, FOLDER).catch(() => undefined)
  })
}

/** @returns where it is now: beside its place, where it could not be copied to another disk */
async function move({ folder, name, path }: Found, to: string): Promise<string> {
  const from = inside(folder, name, path)
  try {
    await renameEntry(from, to)
    return to
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
  }
  // Out of effect at once: the copy may take a while.
  const suffix = `.removed-${randomUUID().slice(0, 8)}`
  const aside = inside(folder, name + suffix, path + suffix)
  await renameEntry(from, aside)
  try {
    await runProgram(program('cp'), ['-a', '--', aside, to])
    await runProgram(program('rm'), ['-rf', '--', aside])
    return to
  } catch {
    return path + suffix
  }
}

function program(name: string): string {
  const found = systemProgram(name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

async function renameEntry(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
    const entry = error.code === 'EACCES' ? await lstat(from) : undefined
    if (!entry?.isDirectory()) throw error
    // To move a folder is to write its "..", which a command may have closed.
    await chmod(from, entry.mode | 0o700)
    await rename(from, to)
  })
}
