/** Paths as text; nothing here touches the disk. */
import { isAbsolute, relative, sep } from 'node:path'

/** Paths that begin so are read from the folder of spilled results. */
export const OUTPUT_PREFIX = '@output/'

/** The part below the folder of spilled results; `undefined` for another path. */
export const inOutput = (path: string): string | undefined =>
  path === '@output' ? '' : path.startsWith(OUTPUT_PREFIX) ? path.slice(OUTPUT_PREFIX.length).replace(/^\/+/, '') : undefined

export const MAX_PATH_BYTES = 4096
export const MAX_NAME_BYTES = 255

/** With forward slashes, whatever the platform. */
export const toSlash = (path: string): string => (sep === '/' ? path : path.replaceAll(sep, '/'))

/** True when `path` is `root` or below it. Both absolute. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** What stands there is made by the kernel and tells of processes and devices. `/dev/shm` holds files like any other folder. */
export const ofSystem = (absolute: string): boolean => /^\/(?:proc|sys|dev(?!\/shm\/))(?:\/|$)/.test(absolute)

/** How the model sees a path below `root`: relative, with forward slashes, `.` for the root itself. */
export const shown = (root: string, absolute: string): string => toSlash(relative(root, absolute)) || '.'

/** What is wrong with the text itself, as the constraint that it breaks. */
export function pathProblem(path: string): string | undefined {
  if (path.trim() === '') return 'a path that is not empty'
  if (path.includes('\0')) return 'a path without NUL characters'
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `a path of at most ${MAX_PATH_BYTES} bytes`
  if (path.split('/').some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) return `names of at most ${MAX_NAME_BYTES} bytes`
  return undefined
}

/** A path as a model may have written it for another root or platform, brought to our form. */
export const normalized = (path: string): string =>
  path
    .replaceAll('\\', '/')
    .replace(/^(?:[A-Za-z]:)?\/+/, '')
    .replace(/^(?:\.{0,2}\/)+/, '')
    .replace(/\/+$/, '')

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
export const dirName = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '')

/** A path within a list of lines: one with control characters is put in quotes, escaped as in JSON. */
export const printable = (path: string): string => (/[\0-\x1f\x7f]/.test(path) ? JSON.stringify(path) : path)
