/** The folder that a walk starts in. */
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, parse } from 'node:path'
import { ModelRetry } from '@mulligan/core'
import { openInside, withDirectory } from '../../workspace/contain.ts'
import { fsError } from '../../workspace/fs-error.ts'
import { nearestPaths } from '../../workspace/nearest.ts'
import { baseName, toSlash } from '../../workspace/paths.ts'
import { hint, type Resolved, type Workspace } from '../../workspace/workspace.ts'

export interface SearchRoot {
  readonly at: Resolved
  /** The folder as the model sees it, with a slash at its end; empty for the workspace itself and for a file. */
  readonly prefix: string
  /** A path that ripgrep printed, as the model sees it. */
  readonly name: (printed: string) => string
}

/** What to start ripgrep with. */
export interface SearchPlace {
  readonly cwd: string
  readonly target: string
  /** Handed on as descriptor 3. */
  readonly fd?: number
}

/**
 * @throws ModelRetry: too_broad for `/` and the home folder, not_found with the nearest folders, and files where one may be searched
 */
export async function searchRoot(workspace: Workspace, path: string, { files = false } = {}): Promise<SearchRoot> {
  if (isWhole(path)) throw tooBroad(path, ['.'])
  const at = await workspace.resolve(path, { mustExist: !files, kind: 'directory', contents: files })
  if (at.kind === 'missing') throw await missing(workspace, at.relative, path)
  if (!at.output && isWhole(at.absolute)) throw tooBroad(path, await folders(at))
  if (at.kind === 'file' && !files)
    throw new ModelRetry(`"${at.relative}" is a file.`, {
      parameter: 'path',
      value: path,
      constraint: 'a directory',
      suggestion: at.relative.includes('/') ? at.relative.slice(0, at.relative.lastIndexOf('/')) : '.',
    })
  const prefix = at.kind === 'file' || at.relative === '.' ? '' : `${at.relative}/`
  return { at, prefix, name: (printed) => (at.kind === 'file' ? at.relative : prefix + toSlash(printed).replace(/^\.\//, '')) }
}

async function missing(workspace: Workspace, relative: string, value: string): Promise<ModelRetry> {
  const [files, directories] = await Promise.all([workspace.nearest(relative, 'file'), workspace.nearest(relative, 'directory')])
  return new ModelRetry(`There is no file or folder "${relative}".`, {
    errorType: 'not_found',
    parameter: 'path',
    value,
    constraint: 'an existing file or folder in the workspace',
    ...hint(nearestPaths(relative, [...files, ...directories])),
  })
}

/**
 * Runs `use` with the place to search, held open while it runs: ripgrep follows a path that it is given, so a link swapped
 * in for it after the check would lead out.
 */
export async function searchIn<T>({ at }: SearchRoot, use: (place: SearchPlace) => Promise<T>): Promise<T> {
  try {
    if (at.kind === 'directory') return await withDirectory(at.root, at.absolute, (cwd) => use({ cwd, target: '.' }))
    const handle = await openInside(at.root, at.absolute)
    try {
      if (process.platform === 'linux') return await use({ cwd: at.root, target: '/proc/self/fd/3', fd: handle.fd })
      return await use({ cwd: dirname(at.absolute), target: `./${baseName(toSlash(at.absolute))}` })
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw fsError(error, at.relative, 'read')
  }
}

const isWhole = (path: string): boolean => {
  const trimmed = path.trim().replace(/[/\\]+$/, '')
  return trimmed === ''
    ? /[/\\]/.test(path)
    : trimmed === '~' || trimmed === homedir() || `${trimmed}/` === parse(trimmed).root.replaceAll('\\', '/')
}

async function folders(at: Resolved): Promise<string[]> {
  const entries = await readdir(at.absolute, { withFileTypes: true }).catch((error) => {
    throw fsError(error, at.relative, 'list')
  })
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map((entry) => entry.name)
}

const tooBroad = (value: string, instead: readonly string[]): ModelRetry =>
  new ModelRetry('That is a whole disk or home folder, too much to walk.', {
    errorType: 'too_broad',
    parameter: 'path',
    value,
    constraint: 'a folder inside the workspace',
    ...hint(instead.slice(0, 10)),
  })
