/** Where a path really leads, and opening it without being led elsewhere in between. */
import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises'
import { join, parse, resolve, sep } from 'node:path'
import { ToolFailure } from '@mulligan/core'
import { isInside } from './paths.ts'

const MAX_LINKS = 40
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0
/** Opening a FIFO to read would block until somebody writes. */
const NO_BLOCK = constants.O_NONBLOCK ?? 0

const READ_INSIDE = constants.O_RDONLY | NO_FOLLOW | NO_BLOCK

const OPENED = '/proc/self/fd/'

const code = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/**
 * `realpath`, also for what does not exist yet: the real path of the deepest parent that does, plus the rest. A dangling
 * link is followed by hand, because creating its target would write wherever it points.
 */
export async function realLocation(path: string, links = 0): Promise<string> {
  const { real, rest } = await deepestReal(path)
  const [first, ...further] = rest
  if (first === undefined) return real
  const at = join(real, first)
  const found = await lstat(at).catch(() => undefined)
  if (!found?.isSymbolicLink()) return join(at, ...further)
  if (links >= MAX_LINKS) throw Object.assign(new Error('too many links'), { code: 'ELOOP' })
  return join(await realLocation(resolve(real, await readlink(at)), links + 1), ...further)
}

/** The deepest parent of an absolute path that exists (or the path itself), as it really is, and the names below it. */
export async function deepestReal(path: string): Promise<{ readonly real: string; readonly rest: readonly string[] }> {
  const { root } = parse(path)
  const names = path.slice(root.length).split(sep).filter(Boolean)
  // Below what is missing all is missing: halving, since a path may have two thousand names, and each is asked of the disk.
  let real = realOrMissing(path)
  if (real !== undefined) return { real, rest: [] }
  real = root
  let [there, missing] = [0, names.length]
  while (missing - there > 1) {
    const middle = (there + missing) >> 1
    const found = realOrMissing(join(root, ...names.slice(0, middle)))
    if (found === undefined) missing = middle
    else [there, real] = [middle, found]
  }
  return { real, rest: names.slice(there) }
}

/** Not waited for: the kernel has the names at hand, and the thread pool costs more than the look. */
function realOrMissing(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (code(error) !== 'ENOENT' && code(error) !== 'ENOTDIR') throw error
    return undefined
  }
}

/**
 * Opens a real path (see {@link realLocation}) to read, and checks on the open file that it still lies in `root`: a link
 * swapped in after the check is noticed before a byte is read.
 */
export async function openInside(root: string, absolute: string): Promise<FileHandle> {
  const handle = await open(absolute, READ_INSIDE)
  try {
    if (!(await leadsInto(root, absolute, handle.fd))) throw movedAway()
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** {@link openInside} for many small files, where waiting for the thread pool costs more than the work. @returns the descriptor */
export function openInsideSync(root: string, absolute: string): number {
  const fd = openSync(absolute, READ_INSIDE)
  try {
    const actual = openedAt(OPENED + fd)
    if (!(actual === undefined ? isSame(root, realpathSync(absolute), statSync(absolute), fd) : isInside(root, actual))) throw movedAway()
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/**
 * Runs `use` with a name for the directory that keeps meaning the same directory while it runs, checked to lie in `root`.
 * On Linux that is the open descriptor itself; elsewhere the path, checked.
 */
export async function withDirectory<T>(root: string, directory: string, use: (base: string) => Promise<T>): Promise<T> {
  if (process.platform === 'win32') return use(directory)
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | NO_FOLLOW)
  try {
    if (!(await leadsInto(root, directory, fd))) throw movedAway()
    const pinned = OPENED + fd
    return await use(openedAt(pinned) === undefined ? directory : pinned)
  } finally {
    closeSync(fd)
  }
}

async function leadsInto(root: string, absolute: string, fd: number): Promise<boolean> {
  const actual = openedAt(OPENED + fd)
  if (actual !== undefined) return isInside(root, actual)
  const [real, there] = await Promise.all([realpath(absolute), stat(absolute)])
  return isSame(root, real, there, fd)
}

function isSame(root: string, real: string, there: Stats, fd: number): boolean {
  const opened = fstatSync(fd)
  return isInside(root, real) && there.ino === opened.ino && there.dev === opened.dev
}

/** Where an open file lies (`/proc/self/fd/NUMBER`): Linux knows, without a look at the disk, so it is not waited for. */
export function openedAt(path: string): string | undefined {
  if (!path.startsWith(OPENED)) return undefined
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

const movedAway = (): ToolFailure =>
  new ToolFailure('The path was changed into a link out of the workspace while it was being opened.', {
    errorType: 'permission',
    parameter: 'path',
    constraint: 'a path inside the workspace',
  })
