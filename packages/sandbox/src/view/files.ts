/** File system queries used to plan a view. They return a result even for paths that do not exist. */
import { constants, type Stats } from 'node:fs'
import { chmod, lstat, mkdir, open, readdir, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { User } from '../user.ts'

export type Kind = 'file' | 'directory' | 'link' | 'other'

const kindOf = (entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): Kind =>
  entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'other'

/** Returns the kind of the entry itself. */
export const kind = (path: string): Promise<Kind | undefined> => lstat(path).then(kindOf, () => undefined)
/** Returns the kind of a link's target. */
export const target = (path: string): Promise<Kind | undefined> => stat(path).then(kindOf, () => undefined)
export const real = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined)

/** The maximum size in bytes of a text file to read: settings are smaller. */
const MAX_TEXT = 1024 * 1024

/**
 * Returns the text of a file. Empty if it is not a file or is too large: reading a pipe without a writer would block forever, and a
 * device may have no end.
 */
export async function text(path: string): Promise<string> {
  // Without O_NONBLOCK, opening a pipe waits for its other end.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined)
  try {
    const found = await file?.stat()
    return file && found?.isFile() && found.size <= MAX_TEXT ? await file.readFile('utf8') : ''
  } catch {
    return ''
  } finally {
    await file?.close().catch(() => {})
  }
}

/** Lists the names and kinds in a folder; empty if it can't be read. */
export const list = async (folder: string): Promise<readonly { readonly name: string; readonly kind: Kind }[]> => {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return found.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
}

export const isReadableByAll = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined)
  const needed = found?.isDirectory() ? 0o005 : 0o004
  return found !== undefined && (found.mode & needed) === needed
}

/** Returns the items that pass an asynchronous test. */
export async function only<T>(all: readonly T[], test: (one: T) => Promise<boolean>): Promise<readonly T[]> {
  const answers = await Promise.all(all.map(test))
  return all.filter((_, at) => answers[at])
}

/** Creates a folder readable by everyone regardless of the umask, because commands may run as another user. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true })
  for (let made = path; first !== undefined && made.startsWith(first); made = dirname(made)) await chmod(made, 0o755)
}

export async function makeFile(path: string, content: string | Uint8Array): Promise<void> {
  await writeFile(path, content)
  await chmod(path, 0o644)
}

/** Returns whether another user can reach a path: bubblewrap runs as that user. */
export async function canReach(path: string, user: Pick<User, 'uid' | 'gid'>): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined)
    if (!found || !mayEnter(found, user)) return false
    if (folder === dirname(folder)) return true
  }
}

/** Returns whether a user may enter a folder, going only by the folder's own permissions. */
export function mayEnter({ mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>, user: Pick<User, 'uid' | 'gid'>): boolean {
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
  return ((mode >> shift) & 1) === 1
}
