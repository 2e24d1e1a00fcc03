/** The files of a folder with tools: found, checked and identified by their content, without running any of them. */
import { createHash } from 'node:crypto'
import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs'
import { dirname, extname, join, relative, sep } from 'node:path'
import type { UserToolProblem } from './user-tools.ts'

export interface UserToolFiles {
  /** The folder; its real path where it is there. */
  readonly folder: string
  /** The files at its top that are loaded, by name. */
  readonly files: readonly string[]
  /** Real paths of all that may be imported from inside it. */
  readonly contents: ReadonlyMap<string, Buffer>
  /** Of every name and byte of `contents`: another one where anything is changed, added or taken away. */
  readonly hash: string
  readonly problems: readonly UserToolProblem[]
}

const EXTENSIONS = ['.ts', '.js', '.mjs']
const MAX_FILES = 2000
/** Bytes. */
const MAX_FILE = 1_000_000
const MAX_ALL = 20_000_000
/** Without this flag, opening a FIFO waits for whoever writes to it. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/**
 * Only regular files, of bounded size; links that lead out of the folder are left out, and names that begin with a dot. Imports nothing.
 * @param within the folder that it must lie in, where a link to elsewhere is refused
 */
export function findUserTools(dir: string, within?: string): UserToolFiles {
  const found: Found = { files: [], contents: new Map(), named: new Map(), problems: [], total: 0 }
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
  try {
    collect(folder, folder, found)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return none({ file: '', error: error.message })
  }
  const { files, contents, named, problems } = found
  const hash = createHash('sha256')
  for (const [name, bytes] of [...named].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${JSON.stringify(name)} ${bytes.length}\n`).update(bytes)
  return { folder, files: files.sort(), contents, hash: hash.digest('hex'), problems }
}

interface Found {
  readonly files: string[]
  readonly contents: Map<string, Buffer>
  /** What each name leads to, also that of a link. */
  readonly named: Map<string, Buffer>
  readonly problems: UserToolProblem[]
  /** Bytes. */
  total: number
}

/** @throws RangeError where there is too much */
function collect(root: string, folder: string, found: Found): void {
  for (const entry of entriesOf(folder)) {
    if (entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    const name = relative(root, path).split(sep).join('/')
    if (entry.isDirectory()) {
      collect(root, path, found)
      continue
    }
    const read = readChecked(root, path)
    if (read === undefined) continue
    if ('error' in read) {
      found.problems.push({ file: name, error: read.error })
      continue
    }
    found.contents.set(read.path, read.bytes)
    found.named.set(name, read.bytes)
    found.total += read.bytes.length
    if (found.named.size > MAX_FILES) throw new RangeError(`it has more than ${MAX_FILES.toLocaleString('en')} files.`)
    if (found.total > MAX_ALL) throw new RangeError(`its files have more than ${MAX_ALL / 1e6} MB.`)
    if (folder === root && EXTENSIONS.includes(extname(entry.name)) && !entry.name.endsWith('.d.ts')) found.files.push(entry.name)
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

type Checked = { readonly path: string; readonly bytes: Buffer } | { readonly error: string }

/** Undefined for a link to a folder inside, whose files are found there. */
function readChecked(root: string, given: string): Checked | undefined {
  let file: number | undefined
  try {
    const path = realpathSync(given)
    if (!isInside(root, path)) return { error: 'it is a link that leads out of the folder.' }
    const stats = statSync(path)
    if (stats.isDirectory()) return undefined
    if (!stats.isFile()) return { error: 'it is not a regular file.' }
    file = openSync(path, READ)
    if (!fstatSync(file).isFile()) return { error: 'it is not a regular file.' }
    const bytes = Buffer.alloc(MAX_FILE + 1)
    let length = 0
    for (let got = -1; got !== 0 && length < bytes.length; length += got) got = readSync(file, bytes, length, bytes.length - length, length)
    return length > MAX_FILE
      ? { error: `it is larger than ${MAX_FILE / 1e6} MB.` }
      : { path, bytes: Buffer.from(bytes.subarray(0, length)) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { error: code === 'ENOENT' ? 'it is a link to nothing.' : `it can't be read: ${code ?? 'unknown error'}.` }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Node reads the nearest of these, from the folder up, before a module, and would wait for a FIFO. */
function oddScope(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, 'package.json')
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats && !stats.isFile()) return relative(folder, path)
    if (dirname(at) === at) return undefined
  }
}

const isInside = (root: string, path: string): boolean => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
