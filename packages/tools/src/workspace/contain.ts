/** Where a path really leads, and opening it without being led elsewhere in between. */
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ToolFailure } from '@mulligan/core'
import { isInside } from './paths.ts'

const MAX_LINKS = 40
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0
/** Opening a FIFO to read would block until somebody writes. */
const NO_BLOCK = constants.O_NONBLOCK ?? 0

const code = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/**
 * `realpath`, also for what does not exist yet: the real path of the deepest parent that does, plus the rest. A dangling
 * link is followed by hand, because creating its target would write wherever it points.
 */
export async function realLocation(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (code(error) !== 'ENOENT' && code(error) !== 'ENOTDIR') throw error
  }
  const parent = dirname(path)
  if (parent === path) return path
  const at = join(await realLocation(parent, links), basename(path))
  const found = await lstat(at).catch(() => undefined)
  if (!found?.isSymbolicLink()) return at
  if (links >= MAX_LINKS) throw Object.assign(new Error('too many links'), { code: 'ELOOP' })
  return realLocation(resolve(dirname(at), await readlink(at)), links + 1)
}

/**
 * Opens a real path (see {@link realLocation}) to read, and checks on the open file that it still lies in `root`: a link
 * swapped in after the check is noticed before a byte is read.
 */
export async function openInside(root: string, absolute: string): Promise<FileHandle> {
  const handle = await open(absolute, constants.O_RDONLY | NO_FOLLOW | NO_BLOCK)
  try {
    if (!(await leadsInto(root, absolute, handle))) throw movedAway()
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Runs `use` with a name for the directory that keeps meaning the same directory while it runs, checked to lie in `root`.
 * On Linux that is the open descriptor itself; elsewhere the path, checked.
 */
export async function withDirectory<T>(root: string, directory: string, use: (base: string) => Promise<T>): Promise<T> {
  if (process.platform === 'win32') return use(directory)
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY | NO_FOLLOW)
  try {
    if (!(await leadsInto(root, directory, handle))) throw movedAway()
    const pinned = `/proc/self/fd/${handle.fd}`
    return await use((await exists(pinned)) ? pinned : directory)
  } finally {
    await handle.close()
  }
}

/**
 * Makes the folders that a real path lacks, each in a parent that is checked to lie in `root`.
 *
 * @param made gets what was made, outermost first, also when it fails
 */
export async function makeDirectories(root: string, directory: string, made: string[]): Promise<void> {
  if (await exists(directory)) return
  await makeDirectories(root, dirname(directory), made)
  await withDirectory(root, dirname(directory), async (base) => {
    try {
      await mkdir(`${base}/${basename(directory)}`)
      made.push(directory)
    } catch (error) {
      // Made by another call just now.
      if (code(error) !== 'EEXIST') throw error
    }
  })
}

/** Takes back what {@link makeDirectories} made, as far as nothing is in it. */
export async function removeEmpty(made: readonly string[]): Promise<void> {
  for (const directory of made.toReversed()) await rmdir(directory).catch(() => undefined)
}

async function leadsInto(root: string, absolute: string, handle: FileHandle): Promise<boolean> {
  const actual = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined)
  if (actual !== undefined) return isInside(root, actual)
  const [real, there, opened] = await Promise.all([realpath(absolute), stat(absolute), handle.stat()])
  return isInside(root, real) && there.ino === opened.ino && there.dev === opened.dev
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

const movedAway = (): ToolFailure =>
  new ToolFailure('The path was changed into a link out of the workspace while it was being opened.', {
    errorType: 'permission',
    parameter: 'path',
    constraint: 'a path inside the workspace',
  })
