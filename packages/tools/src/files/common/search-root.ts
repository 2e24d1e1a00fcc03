/** Searches below a folder: resolves the starting point and lists the files that ripgrep finds within the deadline. */
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, parse } from 'node:path'
import { ModelRetry, ToolFailure } from '@mulligan/core'
import type { Ripgrep } from '../../ripgrep.ts'
import type { Resolved } from '../../workspace/change.ts'
import { withDirectory, withFile } from '../../workspace/contain.ts'
import { about, fsError, hint } from '../../workspace/errors.ts'
import { nearestPaths } from '../../workspace/nearest.ts'
import { baseName, dirName, toSlash } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import type { FileLimits } from './limits.ts'
import { plural } from './page.ts'

export interface SearchRoot {
  readonly at: Resolved
  /** The folder as the model sees it, with a trailing slash; empty for the workspace itself and for a file. */
  readonly prefix: string
  /** Converts a path printed by ripgrep to the form that the model sees. */
  readonly name: (printed: string) => string
}

/** Where to run ripgrep. */
export interface SearchPlace {
  readonly cwd: string
  readonly target: string
  /** Passed on as descriptor 3. */
  readonly fd?: number
}

/** @throws ModelRetry too_broad for `/` and the home folder; not_found with the nearest folders, and with files if `files` is set */
export async function searchRoot(workspace: Workspace, path: string, { files = false } = {}): Promise<SearchRoot> {
  const tooBroad = (instead: readonly string[]): ModelRetry =>
    new ModelRetry(
      'That is a whole disk or home folder, too large to search.',
      about('path', path, 'a folder inside the workspace', { errorType: 'too_broad', ...hint(instead.slice(0, 10)) }),
    )
  if (isWhole(path)) throw tooBroad(['.'])
  const at = await workspace.resolve(path, { mustExist: !files, kind: 'directory', contents: files })
  const { relative } = at
  if (at.kind === 'missing') {
    const near = await Promise.all([workspace.nearest(relative, 'file'), workspace.nearest(relative, 'directory')])
    const more = { errorType: 'not_found', ...hint(nearestPaths(relative, near.flat())) } as const
    throw new ModelRetry(
      `There is no file or folder "${relative}".`,
      about('path', path, 'an existing file or folder in the workspace', more),
    )
  }
  if (!at.output && isWhole(at.absolute)) throw tooBroad(await foldersIn(at))
  if (at.kind === 'file' && !files)
    throw new ModelRetry(`"${relative}" is a file.`, about('path', path, 'a directory', { suggestion: dirName(relative) || '.' }))
  const prefix = at.kind === 'file' || relative === '.' ? '' : `${relative}/`
  return { at, prefix, name: (printed) => (at.kind === 'file' ? relative : prefix + toSlash(printed).replace(/^\.\//, '')) }
}

/**
 * Runs `use` with the place to search, held open while it runs. ripgrep follows a path that it is given, so a link swapped in after the
 * check would lead outside.
 */
export async function searchIn<T>({ at }: SearchRoot, use: (place: SearchPlace) => Promise<T>): Promise<T> {
  try {
    if (at.kind === 'directory') return await withDirectory(at.root, at.absolute, (cwd) => use({ cwd, target: '.' }))
    return await withFile(at.root, at.absolute, (fd) =>
      process.platform === 'linux'
        ? use({ cwd: at.root, target: '/proc/self/fd/3', fd })
        : use({ cwd: dirname(at.absolute), target: `./${baseName(toSlash(at.absolute))}` }),
    )
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

async function foldersIn(at: Resolved): Promise<string[]> {
  const entries = await readdir(at.absolute, { withFileTypes: true }).catch((error) => {
    throw fsError(error, at.relative, 'list')
  })
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map((entry) => entry.name)
}

/** @throws ToolFailure for the workspace itself, which can't be moved or deleted */
export function refuseRoot({ absolute, root }: Resolved, path: string): void {
  if (absolute !== root) return
  const constraint = 'a path inside the workspace'
  throw new ToolFailure('The workspace itself cannot be moved or deleted.', about('path', path, constraint, { errorType: 'permission' }))
}

export interface WalkOptions {
  readonly run: Ripgrep
  readonly root: SearchRoot
  readonly limits: FileLimits
  readonly signal: AbortSignal
  readonly hidden: boolean
  readonly gitignore: boolean
  /** Selects the files to keep; all others are skipped. */
  readonly keep?: (path: string) => boolean
}

/**
 * @returns the files as the model sees them, and whether the walk was cut short by the deadline or by the maximum number of files
 * @throws ModelRetry (too_broad) if the deadline passed without a result
 */
export async function walk({ run, root, limits, signal, hidden, gitignore, keep = () => true }: WalkOptions) {
  const files: string[] = []
  let beyond = 0
  const deadline = AbortSignal.timeout(limits.searchSeconds * 1000)
  const ignored = gitignore && !root.at.output ? [] : ['--no-ignore']
  const args = ['--files', '--null', '--glob=!.git', ...(hidden ? ['--hidden'] : []), ...ignored, '--']
  const onRecord = (printed: string): void => {
    const file = root.name(printed)
    if (!keep(file)) return
    if (files.length < limits.heldMatches) files.push(file)
    else beyond++
  }
  const { stderr, stopped } = await searchIn(root, ({ cwd, target }) =>
    run([...args, target], { cwd, signal, deadline, separator: '\0', onRecord }),
  )
  if (stopped === 'deadline' && files.length === 0) throw tooSlow(root, limits)
  const notes = unreadable(stderr)
  if (stopped === 'deadline') notes.push(`Partial: stopped after ${limits.searchSeconds} s; there may be more. Narrow path.`)
  const unnamed = files.filter((file) => file.includes('\ufffd')).length
  if (unnamed > 0) notes.push(`${plural(unnamed, 'name')} not in UTF-8, shown with \ufffd: they cannot be opened by that name.`)
  if (beyond > 0) notes.push(`${plural(beyond, 'more file')} matched than can be listed. Narrow path.`)
  return { files, partial: stopped === 'deadline' || beyond > 0, notes }
}

/** Finding nothing in time does not mean that there is nothing. */
export const tooSlow = ({ at }: SearchRoot, { searchSeconds }: FileLimits): ModelRetry =>
  new ModelRetry(
    `Nothing found in "${at.relative}" within ${searchSeconds} s, and not all of it was searched.`,
    about('path', at.relative, 'a smaller folder, or a narrower pattern', { errorType: 'too_broad' }),
  )

const SHOWN = 3

/** Lists what ripgrep could not read, from its error output, as notes. A search that skipped files must say so. */
export function unreadable(stderr: string): string[] {
  const failed = stderr.matchAll(/^rg: (.+?): .*\(os error \d+\)$/gm)
  const paths = [...new Set(Array.from(failed, (match) => (match[1] as string).replace(/^\.\//, '')))]
  if (paths.length === 0) return []
  const named = paths.slice(0, SHOWN).map((path) => `"${path}"`)
  return [`Partial: ${paths.length} could not be read: ${named.join(', ')}${paths.length > SHOWN ? ' and others' : ''}.`]
}
