/** Finds out where a path really leads, and opens it safely even if links change in between. */
import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { join, parse, posix, resolve, sep } from 'node:path'
import { ToolFailure } from '@mulligan/core'
import { inOutput, isInside, OUTPUT_PREFIX, shown, toSlash } from './paths.ts'

const MAX_LINKS = 40
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0
/** Never follows a link. Non-blocking, because opening a FIFO for reading would wait for a writer. */
export const READ = constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0)
const OPENED = '/proc/self/fd/'

export const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')

/**
 * Like `realpath`, but also works for a path that does not exist yet: returns the real path of the deepest existing parent plus the rest.
 * Follows dangling links itself, because creating their target would write wherever they point.
 */
export async function realLocation(path: string, links = 0): Promise<string> {
  const { real, rest } = deepestReal(path)
  const [first, ...further] = rest
  if (first === undefined) return real
  const at = join(real, first)
  const link = linkAt(at)
  if (link === undefined) return join(at, ...further)
  if (links >= MAX_LINKS) throw Object.assign(new Error('too many links'), { code: 'ELOOP' })
  return join(await realLocation(resolve(real, link), links + 1), ...further)
}

/**
 * Returns the real path of the deepest existing parent of an absolute path (or of the path itself), and the names below it. Synchronous,
 * because the kernel has the names cached and the thread pool costs more than the lookup.
 *
 * @param missing which errors mean that nothing exists there; others are thrown
 */
export function deepestReal(path: string, missing = isMissing): { readonly real: string; readonly rest: readonly string[] } {
  const realOf = (at: string): string | undefined => {
    try {
      return realpathSync.native(at)
    } catch (error) {
      if (!missing(error)) throw error
      return undefined
    }
  }
  const whole = realOf(path)
  if (whole !== undefined) return { real: whole, rest: [] }
  const { root } = parse(path)
  const names = path.slice(root.length).split(sep).filter(Boolean)
  let real = root
  // Below a missing name everything is missing. Uses binary search, because a path may have two thousand names.
  let [there, gone] = [0, names.length]
  while (gone - there > 1) {
    const middle = (there + gone) >> 1
    const found = realOf(join(root, ...names.slice(0, middle)))
    if (found === undefined) gone = middle
    else [there, real] = [middle, found]
  }
  return { real, rest: names.slice(there) }
}

/**
 * Returns the same name for a path however it is spelled: relative to `root`, with links followed as far as they exist. A path that leads
 * outside keeps its lexical name, which is refused later and does not reveal where a link leads.
 */
export function targetOf(path: string, root: string, hasOutputs: boolean): string {
  const output = hasOutputs ? inOutput(path) : undefined
  if (output !== undefined) return posix.normalize(`${OUTPUT_PREFIX}${output}`).replace(/\/+$/, '')
  const asked = resolve(root, path)
  const { real, rest } = deepestReal(asked, () => true)
  const location = join(real, ...rest)
  if (isInside(root, location)) return shown(root, location)
  return isInside(root, asked) ? shown(root, asked) : toSlash(asked)
}

/**
 * Opens a real path (see {@link realLocation}) and checks on the open file that it is still inside `root`: a link swapped in after the
 * check is detected before a byte is read.
 *
 * @returns the descriptor
 */
export function openInside(root: string, absolute: string, flags = READ): number {
  const fd = openSync(absolute, flags)
  try {
    const actual = openedAt(OPENED + fd)
    if (!(actual === undefined ? isSame(root, absolute, fd) : isInside(root, actual))) throw movedAway()
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Runs `use` with a file opened by {@link openInside} and closes it afterwards. */
export async function withFile<T>(root: string, absolute: string, use: (fd: number) => T, flags = READ): Promise<Awaited<T>> {
  const fd = openInside(root, absolute, flags)
  try {
    return await use(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * Runs `use` with a path to the directory that refers to the same directory throughout, checked to be inside `root`. On Linux this is the
 * open descriptor; elsewhere the checked path.
 */
export async function withDirectory<T>(root: string, directory: string, use: (base: string) => Promise<T>): Promise<T> {
  if (process.platform === 'win32') return use(directory)
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | NO_FOLLOW
  return withFile(root, directory, (fd) => use(openedAt(OPENED + fd) === undefined ? directory : OPENED + fd), flags)
}

/** Fallback for systems without `/proc`: checks that the path still refers to the opened file. */
function isSame(root: string, absolute: string, fd: number): boolean {
  const [there, opened] = [statSync(absolute), fstatSync(fd)]
  return isInside(root, realpathSync(absolute)) && there.ino === opened.ino && there.dev === opened.dev
}

/** Returns the location of an open file (`/proc/self/fd/NUMBER`). Linux knows it without a disk access. */
export const openedAt = (path: string): string | undefined => (path.startsWith(OPENED) ? linkAt(path) : undefined)

function linkAt(path: string): string | undefined {
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
