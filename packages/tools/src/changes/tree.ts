/** One path of the workspace, read and changed. Its folder is held open meanwhile and checked to be the one in the root that is meant, so no link leads elsewhere. */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { FileState, State } from '../workspace/change.ts'
import { openedAt, withDirectory } from '../workspace/contain.ts'
import { copyAndHash, toDisk } from './copy.ts'
import { MISSING, sameState } from './state.ts'
import type { SetStep } from './step.ts'

/** Never through a link, and never waiting for a pipe. */
export const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const PERMISSIONS = 0o7777

/** Something else than expected stands there. Nothing was done to it. */
export class Unexpected extends Error {
  readonly path: string
  constructor(path: string) {
    super(`${path} is not what it was`)
    this.path = path
  }
}

/** Where contents are kept. */
export interface Contents {
  /** @throws Lost */
  readonly copyTo: (hash: string, to: number) => Promise<void>
}

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code
const absent = (error: unknown): undefined => {
  if (codeOf(error) !== 'ENOENT') throw error
  return undefined
}

/** Its calls to the file system are synchronous: after so many paths, others get their turn. */
const IN_A_ROW = 64
let looked = 0

/**
 * @param use gets a name for the path, and one for the folder that it lies in
 * @throws ENOTDIR when a folder on the way is a link, also to another folder of the root: that is not what the path meant
 */
export async function within<T>(root: string, path: string, use: (at: string, folder: string) => Promise<T>): Promise<T> {
  if (++looked % IN_A_ROW === 0) await turn()
  const absolute = join(root, path)
  return withDirectory(root, dirname(absolute), async (folder) => {
    if (!(await isItself(root, dirname(absolute), folder))) throw Object.assign(new Error('a link is on the way'), { code: 'ENOTDIR' })
    return use(`${folder}/${basename(absolute)}`, folder)
  })
}

/** Lower and upper case are the same on some file systems, and then the path may be spelt in another way than the folder. */
async function isItself(root: string, expected: string, folder: string): Promise<boolean> {
  const [realRoot, real] = [realpathSync.native(root), openedAt(folder) ?? (await realpath(folder))]
  return relative(realRoot, real).toLowerCase() === relative(root, expected).toLowerCase()
}

/** `missing` also where the folder is. */
export async function stateAt(root: string, path: string): Promise<State> {
  return (await within(root, path, read).catch(absent)) ?? MISSING
}

async function read(at: string): Promise<State> {
  const found = lstatSync(at, { throwIfNoEntry: false })
  if (!found) return MISSING
  const rights = { mode: found.mode & PERMISSIONS, owner: { uid: found.uid, gid: found.gid }, inode: found.ino }
  if (found.isDirectory()) return { kind: 'directory', ...rights }
  if (found.isSymbolicLink()) return { kind: 'link', target: readlinkSync(at) }
  if (!found.isFile()) return { kind: 'other' }
  const fd = openSync(at, READ)
  try {
    return { kind: 'file', ...(await copyAndHash(fd)), ...rights }
  } finally {
    closeSync(fd)
  }
}

/** Writes the content of a file to a temporary file beside its place. Makes none once the signal is aborted. */
export async function stage(
  root: string,
  { path, temporary }: SetStep,
  state: FileState,
  blobs: Contents,
  signal?: AbortSignal,
): Promise<void> {
  await within(root, path, async (_, folder) => {
    signal?.throwIfAborted()
    const fd = openSync(`${folder}/${temporary}`, 'wx', state.mode ?? 0o666)
    try {
      await blobs.copyTo(state.hash, fd)
      setRights(fd, state)
      if (state.mtime !== undefined) futimesSync(fd, new Date(), state.mtime / 1000)
      await toDisk(fd)
    } finally {
      closeSync(fd)
    }
  })
}

function setRights(fd: number, { mode, owner }: FileState): void {
  try {
    if (owner) fchownSync(fd, owner.uid, owner.gid)
  } catch {
    // Only root may give a file away; for others it is theirs already, or the rename makes it so.
  }
  // After the owner, whose change takes the set-user-id bit away.
  if (mode !== undefined) fchmodSync(fd, mode)
}

export async function removeStaged(root: string, { path, temporary }: SetStep): Promise<void> {
  await within(root, path, async (_, folder) => {
    const at = `${folder}/${temporary}`
    const found = lstatSync(at, { throwIfNoEntry: false })
    if (found) (found.isDirectory() ? rmdirSync : unlinkSync)(at)
  }).catch(absent)
}

/**
 * Puts `to` where `from` stands. A content must be laid ready.
 *
 * @throws Unexpected when something else stands there
 */
export async function put(root: string, step: SetStep, from: State, to: State): Promise<void> {
  await within(root, step.path, async (at, folder) => {
    if (!sameState(await read(at), from)) throw new Unexpected(step.path)
    if (to.kind === 'file') renameSync(`${folder}/${step.temporary}`, at)
    else if (to.kind === 'directory' && from.kind === 'directory') setFolderMode(at, to.mode)
    else if (to.kind === 'directory') makeFolder(at, `${folder}/${step.temporary}`, to.mode)
    else if (to.kind === 'link') symlinkSync(to.target, at)
    else if (from.kind === 'directory') removeFolder(at, step)
    else if (from.kind !== 'missing') unlinkSync(at)
  })
}

/** With its mode from the beginning, so that it is never found half made. */
function makeFolder(at: string, beside: string, mode: number | undefined): void {
  if (mode === undefined) {
    mkdirSync(at)
    return
  }
  mkdirSync(beside)
  setFolderMode(beside, mode)
  renameSync(beside, at)
}

function setFolderMode(at: string, mode: number | undefined): void {
  if (mode === undefined) return
  const fd = openSync(at, READ)
  try {
    fchmodSync(fd, mode)
  } finally {
    closeSync(fd)
  }
}

function removeFolder(at: string, { path, lenient }: SetStep): void {
  try {
    rmdirSync(at)
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error
    if (!lenient) throw new Unexpected(path)
  }
}

/** @throws Unexpected when something stands at `to`, or nothing like `state` at `from` */
export async function move(root: string, from: string, to: string, state: State): Promise<void> {
  await within(root, from, (source) =>
    within(root, to, async (target) => {
      if (!sameState(await read(source), state)) throw new Unexpected(from)
      if ((await read(target)).kind !== 'missing') throw new Unexpected(to)
      renameSync(source, target)
    }),
  )
}

/** What was renamed stays so when the power fails. */
export async function syncFolder(root: string, folder: string): Promise<void> {
  await withDirectory(root, join(root, folder), async (base) => syncDirectory(base)).catch(absent)
}

/** Not every platform can. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const fd = openSync(path, constants.O_RDONLY)
  try {
    await toDisk(fd)
  } finally {
    closeSync(fd)
  }
}
