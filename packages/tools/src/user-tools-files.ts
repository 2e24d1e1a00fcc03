/** Finds, checks and hashes the files of a tool folder without running any of them. */
import { createHash } from 'node:crypto'
import { closeSync, type Dirent, fstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'
import { openInside } from './workspace/contain.ts'
import { isInside, toSlash } from './workspace/paths.ts'

export interface UserToolProblem {
  /** Name of the file. */
  readonly file: string
  /** One sentence. */
  readonly error: string
}

export interface UserToolFiles {
  /** The folder; its real path if it exists. */
  readonly folder: string
  /** Names of the top-level files that are loaded. */
  readonly files: readonly string[]
  /** Contents of all files that may be imported from inside the folder, by real path. */
  readonly contents: ReadonlyMap<string, Buffer>
  /** Hash of all names and contents. It changes if any file is changed, added or removed. */
  readonly hash: string
  readonly problems: readonly UserToolProblem[]
}

const EXTENSIONS = ['.ts', '.js', '.mjs']
const MAX_FILES = 2000
/** Bytes. */
const MAX_FILE = 1_000_000
const MAX_ALL = 20_000_000

/**
 * Finds only regular files of limited size. Skips links that lead out of the folder and names that begin with a dot. Imports nothing.
 * @param within the folder that must contain it; a link to elsewhere is refused
 */
export function findUserTools(dir: string, within?: string): UserToolFiles {
  const none = (...problems: UserToolProblem[]): UserToolFiles => ({ folder: dir, files: [], contents: new Map(), hash: '', problems })
  let folder: string
  try {
    folder = realpathSync(dir)
    if (!statSync(folder).isDirectory()) return none({ file: '', error: 'it is not a folder.' })
  } catch {
    return none()
  }
  if (within !== undefined && !isInside(realpathSync(within), folder))
    return none({ file: '', error: 'it leads out of the folder that it is in.' })
  const scope = oddScope(folder)
  if (scope !== undefined) return none({ file: scope, error: 'it is not a regular file, so nothing here is loaded.' })

  const files: string[] = []
  const contents = new Map<string, Buffer>()
  /** Names with the content that they lead to, including names of links. */
  const named: (readonly [name: string, bytes: Buffer])[] = []
  const problems: UserToolProblem[] = []
  let total = 0
  for (const path of pathsIn(folder)) {
    const name = toSlash(relative(folder, path))
    const read = readChecked(folder, path)
    if (read === undefined) continue
    if ('error' in read) {
      problems.push({ file: name, error: read.error })
      continue
    }
    contents.set(read.path, read.bytes)
    named.push([name, read.bytes])
    total += read.bytes.length
    if (named.length > MAX_FILES) return none({ file: '', error: `it has more than ${MAX_FILES.toLocaleString('en')} files.` })
    if (total > MAX_ALL) return none({ file: '', error: `its files have more than ${MAX_ALL / 1e6} MB.` })
    if (!name.includes('/') && EXTENSIONS.includes(extname(name)) && !name.endsWith('.d.ts')) files.push(name)
  }
  const hash = createHash('sha256')
  for (const [name, bytes] of named.sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${JSON.stringify(name)} ${bytes.length}\n`).update(bytes)
  return { folder, files: files.sort(), contents, hash: hash.digest('hex'), problems }
}

/** Yields everything in a folder and its subfolders, except names that begin with a dot. */
function* pathsIn(folder: string): Generator<string> {
  let entries: readonly Dirent[] = []
  try {
    entries = readdirSync(folder, { withFileTypes: true })
  } catch {
    // Unreadable: nothing in it is loaded.
  }
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory()) yield* pathsIn(join(folder, entry.name))
    else yield join(folder, entry.name)
  }
}

type Checked = { readonly path: string; readonly bytes: Buffer } | { readonly error: string }

/** Returns undefined for a link to a folder inside, because its files are found there. */
function readChecked(root: string, given: string): Checked | undefined {
  let fd: number | undefined
  try {
    const path = realpathSync(given)
    if (!isInside(root, path)) return { error: 'it is a link that leads out of the folder.' }
    const stats = statSync(path)
    if (stats.isDirectory()) return undefined
    if (!stats.isFile()) return { error: 'it is not a regular file.' }
    fd = openInside(root, path)
    const opened = fstatSync(fd)
    if (!opened.isFile()) return { error: 'it is not a regular file.' }
    return opened.size > MAX_FILE ? { error: `it is larger than ${MAX_FILE / 1e6} MB.` } : { path, bytes: readFileSync(fd) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { error: code === 'ENOENT' ? 'it is a link to nothing.' : `it can't be read: ${code ?? 'unknown error'}.` }
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Node reads the nearest of these files, from the folder upwards, before loading a module. It would hang on a FIFO. */
function oddScope(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, 'package.json')
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats && !stats.isFile()) return relative(folder, path)
    if (dirname(at) === at) return undefined
  }
}
