/** What planning a view asks of the disk: questions that have an answer for what does not exist. */
import { constants } from 'node:fs'
import { chmod, lstat, mkdir, open, readdir, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { User } from '../user.ts'

export type Kind = 'file' | 'directory' | 'link' | 'other'

interface Modes {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

const kindOf = (entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): Kind =>
  entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'other'

/** Of the entry itself. */
export const kind = async (path: string): Promise<Kind | undefined> => {
  const found = await lstat(path).catch(() => undefined)
  return found && kindOf(found)
}

/** Of what a link leads to. */
export const target = async (path: string): Promise<Kind | undefined> => {
  const found = await stat(path).catch(() => undefined)
  return found && kindOf(found)
}

export const real = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined)

/** Bytes of a text that is read: settings are smaller. */
const MAX_TEXT = 1024 * 1024

/** Empty for what is not a file, or is too large: a pipe that nobody writes to would be waited for for ever, a device may have no end. */
export async function text(path: string): Promise<string> {
  // Without O_NONBLOCK, to open a pipe waits for its other end.
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

/** Names and kinds in a folder; none where it can't be read. */
export const list = async (folder: string): Promise<readonly { readonly name: string; readonly kind: Kind }[]> => {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return found.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
}

export const isReadableByAll = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && (found.mode & (found.isDirectory() ? 0o005 : 0o004)) === (found.isDirectory() ? 0o005 : 0o004)
}

/** For everybody to read, whatever the umask: commands may run as another user. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true })
  for (let made = path; first !== undefined && made.startsWith(first); made = dirname(made)) await chmod(made, 0o755)
}

export async function makeFile(path: string, content: string | Uint8Array): Promise<void> {
  await writeFile(path, content)
  await chmod(path, 0o644)
}

/** Whether another user than ourselves can get to a path: bubblewrap is run as that user. */
export async function canReach(path: string, user: Pick<User, 'uid' | 'gid'>): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined)
    if (!found || !mayEnter(found, user)) return false
    if (folder === dirname(folder)) return true
  }
}

/** Whether it may enter a folder, with no right but the folder's own. */
export function mayEnter({ mode, uid, gid }: Modes, user: Pick<User, 'uid' | 'gid'>): boolean {
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
  return ((mode >> shift) & 1) === 1
}
