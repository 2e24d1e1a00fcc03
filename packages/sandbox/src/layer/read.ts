/**
 * Reads a tree written by a command: never follows links, never blocks, and never assumes that anything is unchanged since it was
 * last checked.
 */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, type Stats } from 'node:fs'
import { chmod, type FileHandle, lstat, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { attempt } from '../paths.ts'
import { type Entry, LayerError } from './types.ts'

/** The number of bytes checked to tell text from binary, as in git. */
const LOOK = 8_000
const CHUNK = 256 * 1024
/** Synchronous reads are ten times as fast as reads in another thread; after this many, other work gets a turn. */
const IN_A_ROW = 64

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants
const FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK

/** A folder with all its contents. */
export interface Tree {
  readonly root: string
  /**
   * Undefined if nothing exists. Call this only for entries of a folder that `stat` has confirmed: a link on the way would be
   * followed.
   */
  readonly stat: (path: string) => Promise<Stats | undefined>
  /** Describes an entry, including its content. Undefined if it has vanished. */
  readonly entry: (path: string, found: Stats) => Promise<Entry | undefined>
  /** Lists the names in a folder. Empty if it is not a folder. */
  readonly names: (folder: string) => Promise<Names>
  /** Lists everything in a folder, recursively. */
  readonly below: (folder: string) => AsyncIterable<{ readonly path: string; readonly found: Stats }>
  /** Opens a regular file without following links. @throws LayerError */
  readonly open: (path: string) => Promise<FileHandle>
}

export interface Names {
  readonly names: readonly string[]
  /** Names that are not valid UTF-8, made readable. */
  readonly bad: readonly string[]
}

/**
 * @param isOurs true for a layer: files and folders that a command made inaccessible to its own user are opened temporarily. Never
 * use this for the workspace
 */
export function createTree(root: string, isOurs: boolean): Tree {
  const opened: Look = isOurs ? opening(root) : async (_path, work) => work()
  let looked = 0
  const look: Look = async (path, work) => {
    if (++looked % IN_A_ROW === 0) await turn()
    return opened(path, work)
  }

  const openFile = async (path: string): Promise<FileHandle> => {
    const file = await look(path, () => openPart(root, path)).catch((error: NodeJS.ErrnoException) => {
      throw error instanceof LayerError ? error : new LayerError('path', `${path} is not a file of the layer (${error.code})`)
    })
    if (fstatSync(file.fd).isFile()) return file
    await file.close()
    throw new LayerError('path', `${path} is not a regular file`)
  }

  const tree: Tree = {
    root,
    open: openFile,
    stat: (path) => {
      const whole = join(root, path)
      // If this file itself were opened up, its mode would be wrong.
      return look(dirname(path), () => lstatSync(whole, { throwIfNoEntry: false })).catch(() => undefined)
    },
    names: async (folder) => {
      const whole = join(root, folder)
      const found = await look(folder, () => readdirSync(whole, { encoding: 'buffer' })).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
        throw error
      })
      return decoded(found)
    },
    entry: async (path, found) => {
      const { mode, size, mtimeMs } = found
      if (found.isDirectory()) return { type: 'directory', mode: mode & 0o3777, mtimeMs }
      if (found.isSymbolicLink()) {
        const target = attempt(() => readlinkSync(join(root, path), { encoding: 'buffer' }))
        if (target === undefined) return undefined
        return isUtf8(target) ? { type: 'link', target: target.toString() } : { type: 'special', what: 'name' }
      }
      if (!found.isFile()) return { type: 'special', what: found.isFIFO() ? 'fifo' : found.isSocket() ? 'socket' : 'device' }
      const content = await openFile(path).then(digest, () => undefined)
      const setuid = (mode & 0o6000) !== 0
      const { sha256, binary = true } = content ?? {}
      return { type: 'file', mode: mode & 0o1777, size, mtimeMs, sha256, binary, ...(setuid && { setuid }) }
    },
    async *below(folder) {
      for (const name of (await tree.names(folder)).names) {
        const path = folder === '' ? name : `${folder}/${name}`
        const found = await tree.stat(path)
        if (found) yield { path, found }
        if (found?.isDirectory()) yield* tree.below(path)
      }
    },
  }
  return tree
}

type Look = <T>(path: string, work: () => T | Promise<T>) => Promise<T>

/**
 * Opens a folder one part at a time and holds each part open, so no link on the way is followed, not even one created meanwhile.
 *
 * @returns a file descriptor
 */
export function openFolder(root: string, parts: readonly string[]): number {
  let at = openSync(root, O_RDONLY | O_DIRECTORY)
  for (const part of parts) {
    const folder = at
    try {
      at = openSync(`/proc/self/fd/${folder}/${part}`, FLAGS | O_DIRECTORY)
    } finally {
      closeSync(folder)
    }
  }
  return at
}

async function openPart(root: string, path: string): Promise<FileHandle> {
  const parts = path.split('/')
  if (path.includes('\0') || parts.some((part) => part === '' || part === '.' || part === '..'))
    throw new LayerError('path', `${path} is not a path in the layer`)
  const folder = openFolder(root, parts.slice(0, -1))
  try {
    return await open(`/proc/self/fd/${folder}/${parts.at(-1)}`, FLAGS)
  } finally {
    closeSync(folder)
  }
}

/**
 * Temporarily grants the owner's permissions along the path while `work` runs, for files and folders that a command made
 * inaccessible to its own user. One call at a time, because a second one would mistake these permissions for the command's.
 */
function opening(root: string): Look {
  let last: Promise<unknown> = Promise.resolve()
  return async (path, work) => {
    try {
      return await work()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
      const turn = last.then(() => withRights(root, path, work))
      last = turn.catch(() => {})
      return turn
    }
  }
}

async function withRights<T>(root: string, path: string, work: () => T | Promise<T>): Promise<T> {
  const closed: (() => Promise<void>)[] = []
  try {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.')
    for (const [at] of ['', ...parts].entries()) {
      const one = join(root, ...parts.slice(0, at))
      const found = await lstat(one)
      // `chmod` follows links.
      if (found.isSymbolicLink()) break
      if ((found.mode & 0o700) === 0o700) continue
      await chmod(one, (found.mode & 0o7777) | 0o700)
      closed.unshift(() => chmod(one, found.mode & 0o7777))
    }
    return await work()
  } finally {
    for (const close of closed) await close()
  }
}

export const decoded = (found: readonly Uint8Array[]): Names => ({
  names: found.filter((name) => isUtf8(name)).map((name) => Buffer.from(name).toString()),
  bad: found.filter((name) => !isUtf8(name)).map((name) => Buffer.from(name).toString()),
})

/** Returns whether this is the kernel's marker for a deletion in an upper layer. */
export const isWhiteout = (found: Stats): boolean => found.isCharacterDevice() && found.rdev === 0

async function digest(file: FileHandle): Promise<{ readonly sha256: string; readonly binary: boolean } | undefined> {
  try {
    const hash = createHash('sha256')
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, fstatSync(file.fd).size + 1))
    let binary = false
    let seen = 0
    for (;;) {
      const bytesRead = readSync(file.fd, buffer, 0, buffer.length, seen)
      if (bytesRead === 0) return { sha256: hash.digest('hex'), binary }
      const piece = buffer.subarray(0, bytesRead)
      if (seen < LOOK) binary ||= piece.subarray(0, LOOK - seen).includes(0)
      hash.update(piece)
      seen += bytesRead
      if (bytesRead === CHUNK) await turn()
    }
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}
