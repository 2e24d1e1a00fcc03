/**
 * Reads and changes single paths of the workspace. The parent folder is held open meanwhile and checked to be the expected one inside the
 * root, so no link can lead elsewhere.
 */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { ToolFailure } from '@mulligan/core'
import type { FileState, State } from '../workspace/change.ts'
import { openedAt, READ, withDirectory } from '../workspace/contain.ts'
import { MISSING, type SetStep, sameState } from './state.ts'

const PERMISSIONS = 0o7777
/** Size of the pieces in which larger contents are copied, to let other work run in between. */
const CHUNK = 1024 * 1024

/** The path is not in the expected state. It was left as it is. */
export class Unexpected extends Error {
  readonly path: string
  constructor(path: string) {
    super(`${path} is not what it was`)
    this.path = path
  }
}

/** A source of contents. */
export interface Contents {
  /** @throws Lost */
  readonly copyTo: (hash: string, to: number) => Promise<void>
}

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code
const absent = (error: unknown): undefined => {
  if (codeOf(error) !== 'ENOENT') throw error
  return undefined
}

/** Runs `use` with an open file and closes it afterwards. */
export async function opened<T>(path: string, flags: string | number, use: (fd: number) => T, mode?: number): Promise<Awaited<T>> {
  const fd = fs.openSync(path, flags, mode)
  try {
    return await use(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/**
 * Reads an open file from the beginning and writes it to `to`. Each piece is read synchronously: for a small file, using the thread pool
 * takes ten times as long as the read itself.
 */
export async function copyAndHash(from: number, to?: number): Promise<{ readonly hash: string; readonly size: number }> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, fs.fstatSync(from).size + 1))
  let size = 0
  for (;;) {
    const bytesRead = fs.readSync(from, buffer, 0, buffer.length, size)
    if (bytesRead === 0) return { hash: hash.digest('hex'), size }
    const piece = buffer.subarray(0, bytesRead)
    hash.update(piece)
    if (to !== undefined) fs.writeFileSync(to, piece)
    size += bytesRead
    if (bytesRead === CHUNK) await turn()
  }
}

/** Asynchronous because it waits for the disk, and several files together take little longer than one. */
export const toDisk = (fd: number): Promise<void> =>
  new Promise((resolve, reject) => {
    fs.fsync(fd, (error) => (error ? reject(error) : resolve()))
  })

/** Yields after this many paths, because the file system calls are synchronous. */
const IN_A_ROW = 64
let looked = 0

/**
 * @param use receives a path to the entry and a path to its parent folder
 * @throws ENOTDIR if a folder on the way is a link, even one to another folder of the root: the path did not mean that
 */
export async function within<T>(root: string, path: string, use: (at: string, folder: string) => Promise<T>): Promise<T> {
  if (++looked % IN_A_ROW === 0) await turn()
  const absolute = join(root, path)
  return withDirectory(root, dirname(absolute), async (folder) => {
    const [realRoot, real] = [fs.realpathSync.native(root), openedAt(folder) ?? (await realpath(folder))]
    // Some file systems ignore case, so the path may be spelled differently from the folder.
    if (relative(realRoot, real).toLowerCase() !== relative(root, dirname(absolute)).toLowerCase())
      throw Object.assign(new Error('a link is on the way'), { code: 'ENOTDIR' })
    return use(`${folder}/${basename(absolute)}`, folder)
  })
}

/** Returns `missing` also if the parent folder is missing. */
export async function stateAt(root: string, path: string): Promise<State> {
  return (await within(root, path, read).catch(absent)) ?? MISSING
}

async function read(at: string): Promise<State> {
  const found = fs.lstatSync(at, { throwIfNoEntry: false })
  if (!found) return MISSING
  const rights = { mode: found.mode & PERMISSIONS, owner: { uid: found.uid, gid: found.gid }, inode: found.ino }
  if (found.isDirectory()) return { kind: 'directory', ...rights }
  if (found.isSymbolicLink()) return { kind: 'link', target: fs.readlinkSync(at) }
  if (!found.isFile()) return { kind: 'other' }
  return { kind: 'file', ...(await opened(at, READ, (fd) => copyAndHash(fd))), ...rights }
}

/** Writes the content of a file to a temporary file in the same folder. Creates none once the signal is aborted. */
export async function stage(root: string, step: SetStep, state: FileState, blobs: Contents, signal?: AbortSignal): Promise<void> {
  await within(root, step.path, async (_, folder) => {
    signal?.throwIfAborted()
    const fill = async (fd: number): Promise<void> => {
      await blobs.copyTo(state.hash, fd)
      setRights(fd, state)
      if (state.mtime !== undefined) fs.futimesSync(fd, new Date(), state.mtime / 1000)
      await toDisk(fd)
    }
    await opened(`${folder}/${step.temporary}`, 'wx', fill, state.mode ?? 0o666)
  })
}

function setRights(fd: number, { mode, owner }: FileState): void {
  try {
    if (owner) fs.fchownSync(fd, owner.uid, owner.gid)
  } catch {
    // Only root may change the owner; for others the file is theirs already, or the rename makes it so.
  }
  // After the owner, because changing it clears the set-user-id bit.
  if (mode !== undefined) fs.fchmodSync(fd, mode)
}

export async function removeStaged(root: string, { path, temporary }: SetStep): Promise<void> {
  await within(root, path, async (_, folder) => {
    const at = `${folder}/${temporary}`
    const found = fs.lstatSync(at, { throwIfNoEntry: false })
    if (found) (found.isDirectory() ? fs.rmdirSync : fs.unlinkSync)(at)
  }).catch(absent)
}

/**
 * Changes a path from state `from` to state `to`. File contents must already be staged.
 *
 * @throws Unexpected if the path is in another state
 */
export async function put(root: string, step: SetStep, from: State, to: State): Promise<void> {
  await within(root, step.path, async (at, folder) => {
    if (!sameState(await read(at), from)) throw new Unexpected(step.path)
    const beside = `${folder}/${step.temporary}`
    if (to.kind === 'file') fs.renameSync(beside, at)
    else if (to.kind === 'directory' && from.kind === 'directory') await setFolderMode(at, to.mode)
    else if (to.kind === 'directory' && to.mode === undefined) fs.mkdirSync(at)
    else if (to.kind === 'directory') {
      // Sets the mode before the rename, so that an incomplete folder is never visible.
      fs.mkdirSync(beside)
      await setFolderMode(beside, to.mode)
      fs.renameSync(beside, at)
    } else if (to.kind === 'link') fs.symlinkSync(to.target, at)
    else if (from.kind === 'directory') removeFolder(at, step)
    else if (from.kind !== 'missing') fs.unlinkSync(at)
  })
}

async function setFolderMode(at: string, mode: number | undefined): Promise<void> {
  if (mode !== undefined) await opened(at, READ, (fd) => fs.fchmodSync(fd, mode))
}

function removeFolder(at: string, { path, lenient }: SetStep): void {
  try {
    fs.rmdirSync(at)
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error
    if (!lenient) throw new Unexpected(path)
  }
}

/** @throws Unexpected if something exists at `to`, or `from` is not in state `state` */
export async function move(root: string, from: string, to: string, state: State): Promise<void> {
  await within(root, from, (source) =>
    within(root, to, async (target) => {
      if (!sameState(await read(source), state)) throw new Unexpected(from)
      if ((await read(target)).kind !== 'missing') throw new Unexpected(to)
      fs.renameSync(source, target)
    }),
  )
}

/** Ensures that renames in a folder survive a power failure. */
export async function syncFolder(root: string, folder: string): Promise<void> {
  await withDirectory(root, join(root, folder), syncDirectory).catch(absent)
}

/** Not supported on every platform. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform !== 'win32') await opened(path, fs.constants.O_RDONLY, toDisk)
}

const WHY: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left',
  EDQUOT: 'no space is left',
  EACCES: 'it may not be written',
  EPERM: 'it may not be written',
  EROFS: 'it is read-only',
}

/** Returns the error for a change that was not made because it could not be recorded first. */
export function notRecorded(cause: unknown): ToolFailure {
  const code = codeOf(cause)
  const why = WHY[code ?? ''] ?? `something failed (${code ?? 'no code'})`
  return new ToolFailure(`The change was not made, because it can't be recorded for undo: where changes are kept, ${why}.`, {
    cause,
    constraint: 'a data folder with space, which can be written',
  })
}
