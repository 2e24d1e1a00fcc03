/**
 * Represents the folder that the file tools work in: resolves paths, refuses those that lead outside, and records what the model has read.
 */
import { lstatSync, mkdirSync, readSync, realpathSync, type Stats, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve as resolvePath } from 'node:path'
import { ModelRetry, ToolFailure } from '@mulligan/core'
import type { ErrorType } from '@mulligan/core/executor'
import type { ChangeLog, Resolved } from './change.ts'
import { deepestReal, isMissing, realLocation, targetOf, withFile } from './contain.ts'
import { about, fsError, hint } from './errors.ts'
import { directoriesOf, listFiles, MAX_CANDIDATES, nearestPaths } from './nearest.ts'
import { baseName, dirName, inOutput, isInside, normalized, OUTPUT_PREFIX, ofSystem, pathProblem, shown, toSlash } from './paths.ts'
import { PROTECTED, protection } from './protect.ts'
import { isSecretFile, isSecretFolder, SECRET_HEAD, secretName } from './secret-files.ts'

export type { Resolved } from './change.ts'

/** Record of a file that the model has read. */
export interface SeenFile {
  /** SHA-256 of the whole content when it was read; absent if the file was too large to read completely for one page. */
  readonly hash?: string
}

export interface ResolveOptions {
  /** Default: `read`. Writing to spilled results and protected paths is refused. */
  readonly for?: 'read' | 'write'
  /** Whether to refuse a missing path and suggest the nearest ones. Default: false. */
  readonly mustExist?: boolean
  /** Kind of path to suggest if it is missing. Default: `file`. */
  readonly kind?: 'file' | 'directory'
  /** Whether to follow a link at the end of the path. Default: true. False for operations on the link itself. */
  readonly follow?: boolean
  /** For a folder: whether everything in it is written too, so nothing in it may be protected. Default: false. */
  readonly whole?: boolean
  /** Whether the content of the file may be shown or put under another name. If so, secret files are refused. Default: true. */
  readonly contents?: boolean
  /** Secret files that may be opened anyway, as their {@link Workspace.target}. Default: none. */
  readonly opened?: ReadonlySet<string>
}

export interface Workspace {
  /** Real path of the folder. */
  readonly root: string
  /**
   * Checks a path that the model sent.
   * @throws ModelRetry for a path that can be corrected; ToolFailure (permission) for one outside the workspace and for a secret file
   */
  readonly resolve: (path: string, options?: ResolveOptions) => Promise<Resolved>
  /**
   * Returns what a call on the path acts on, for policies, denials and locks. The name is the same however the path is spelled: `src/a.ts`
   * for `./src//b/../a.ts` and for a link to it. A path that leads outside stays outside.
   */
  readonly target: (path: string) => string
  /** Returns which of these paths are secret files, as their {@link Workspace.target}. `gone` also includes missing ones, by name. */
  readonly secrets: (paths: readonly string[], options?: { readonly gone?: boolean }) => Promise<readonly string[]>
  /** Returns true if the file with this {@link Workspace.target} may be shown, judging by its name. */
  readonly shows: (target: string) => boolean
  /** Returns existing paths that are nearest to a missing one, best first. */
  readonly nearest: (path: string, kind: 'file' | 'directory') => Promise<string[]>
  /** Files that were read, by real path. Belongs to the session that the workspace was made for. */
  readonly seen: Map<string, SeenFile>
  /** See {@link PathOptions.trustPresent}. */
  readonly trustPresent: boolean
  /** All changes to files go through this log. */
  readonly changes: ChangeLog
}

export interface PathOptions {
  /** Folder for spilled results, which are read as `@output/<name>`. */
  readonly outputs?: { readonly dir: string }
  /**
   * Paths that can be read but not written, ignoring case: names, at any depth and wherever they lead, or relative paths. Default: `.git`,
   * `.mulligan` and `mulligan.json`, whose content takes effect by itself.
   */
  readonly protect?: readonly string[]
  /** Whether every file counts as read with its current content: for calls by a person, who can see it. Default: false. */
  readonly trustPresent?: boolean
}

const OUTSIDE = 'a path inside the workspace'

/**
 * @param root an existing folder
 * @param changesIn creates the change log for the real path of the folder
 */
export function workspaceAt(root: string, options: PathOptions, changesIn: (root: string) => ChangeLog): Workspace {
  const real = realpathSync(root)
  const isProtected = protection(real, options.protect ?? PROTECTED)
  const { outputs } = options
  let outputRoot: string | undefined
  const outputsRoot = (): string | undefined => {
    if (outputs && outputRoot === undefined) {
      mkdirSync(outputs.dir, { recursive: true, mode: 0o700 })
      outputRoot = realpathSync(outputs.dir)
    }
    return outputRoot
  }

  const nearest: Workspace['nearest'] = async (path, kind) => {
    const outputsAt = path.startsWith(OUTPUT_PREFIX) ? outputsRoot() : undefined
    if (outputsAt) {
      const names = await readdir(outputsAt)
      return nearestPaths(
        path,
        names.map((name) => OUTPUT_PREFIX + name),
      )
    }
    const [files, beside] = await Promise.all([listFiles(real).catch(() => []), siblings(real, path, kind)])
    return nearestPaths(path, [...new Set([...beside, ...(kind === 'file' ? files : directoriesOf(files))])])
  }

  const resolve: Workspace['resolve'] = async (path, options = {}) => {
    const { for: purpose = 'read', mustExist = false, kind = 'file', follow = true, whole = false, contents = true, opened } = options
    const refused = (says: string, constraint: string, errorType: ErrorType = 'permission') =>
      new ToolFailure(says, about('path', path, constraint, { errorType, status: 'failed' }))
    const problem = pathProblem(path)
    if (problem) throw new ModelRetry(`path must be ${problem}.`, about('path', path.slice(0, 200), problem))
    const inner = inOutput(path)
    const outputsAt = inner === undefined ? undefined : outputsRoot()
    if (outputsAt && purpose === 'write') throw refused('@output/ holds results of earlier calls and can only be read.', OUTSIDE)
    const base = outputsAt ?? real
    const asked = resolvePath(base, outputsAt ? `./${inner}` : path)
    let absolute: string
    let found: Stats | undefined
    try {
      absolute = follow || asked === base ? await realLocation(asked) : join(await realLocation(dirname(asked)), basename(asked))
      if (isInside(base, absolute)) found = statsOf(absolute, follow)
    } catch (error) {
      throw fsError(error, isInside(base, asked) ? shown(base, asked) : baseName(toSlash(path)), purpose)
    }
    if (!isInside(base, absolute)) throw await outside(path, purpose)
    const below = shown(base, isInside(base, asked) ? asked : absolute)
    const relative = outputsAt ? (below === '.' ? '@output' : OUTPUT_PREFIX + below) : below
    if (ofSystem(absolute))
      throw refused(`"${relative}" is a system path, not a file, and the file tools do not open it.`, 'a path outside /proc, /sys and /dev')
    if (!found && /^~(?:[/\\]|$)/.test(path)) {
      const says = '"~" is not expanded; paths are relative to the root of the workspace.'
      throw new ModelRetry(says, about('path', path, OUTSIDE, hint(await meantInside(path, purpose))))
    }
    if (purpose === 'write' && !outputsAt && (await isProtected(asked, absolute, whole && found?.isDirectory() === true))) {
      const which = `"${relative}" is protected${whole ? ', or something in it is' : ''}`
      throw refused(`${which}: it can be read but not written.`, 'a path that is not protected')
    }
    const isLink = found?.isSymbolicLink() === true
    if (found && !isLink && !found.isFile() && !found.isDirectory()) {
      const is = found.isFIFO() ? 'named pipe' : found.isSocket() ? 'socket' : 'device'
      throw refused(`"${relative}" is a ${is}, which the file tools do not open.`, 'a regular file or a directory', 'unsupported')
    }
    if (!found && mustExist) {
      const near = (await nearest(relative, kind)).slice(0, MAX_CANDIDATES)
      throw new ModelRetry(
        `There is no ${kind} "${relative}".`,
        about('path', path, `an existing ${kind} in the workspace`, { errorType: 'not_found', ...hint(near) }),
      )
    }
    if (
      contents &&
      found &&
      !isLink &&
      !outputsAt &&
      !opened?.has(shown(base, absolute)) &&
      (await isSecret(below, absolute, found, whole))
    )
      throw secretRefused(relative, path)
    return {
      absolute,
      relative,
      kind: !found ? 'missing' : found.isDirectory() ? 'directory' : 'file',
      root: base,
      output: outputsAt !== undefined,
      ...(isLink && { isLink }),
    }
  }

  /** Checks both the requested path and the real one. */
  const isSecret = async (asked: string, absolute: string, found: Stats, whole = false): Promise<boolean> => {
    const names = [...new Set([asked, shown(real, absolute)])]
    if (found.isDirectory()) return whole && names.some(isSecretFolder)
    const said = names.map(secretName)
    if (said.includes('secret') || !said.includes('perhaps')) return said.includes('secret')
    // A file that can't be read counts as secret.
    const head = await withFile(real, absolute, headOf).catch(() => undefined)
    return names.some((name) => isSecretFile(name, head))
  }

  const target = (path: string): string => targetOf(path, real, outputs !== undefined)

  const secrets: Workspace['secrets'] = async (paths, { gone = false } = {}) => {
    const targets = new Set<string>()
    for (const path of new Set(paths)) {
      if (![target(path), shown(real, resolvePath(real, path))].some((name) => secretName(name) || isSecretFolder(name))) continue
      const at = await resolve(path, { contents: false }).catch(() => undefined)
      if (!at || at.output) continue
      const found = at.kind === 'missing' ? undefined : statsOf(at.absolute, true)
      if (found ? await isSecret(at.relative, at.absolute, found, true) : gone && secretName(at.relative) !== undefined)
        targets.add(target(path))
    }
    return [...targets]
  }

  /** Returns paths inside the workspace that were probably meant by one that leads outside. */
  const meantInside = async (path: string, purpose: 'read' | 'write'): Promise<string[]> => {
    const inner = normalized(path.replace(/^~/, ''))
    const reads = purpose === 'read'
    if (inner === '') return reads ? ['.'] : []
    // Never suggest the path itself: it leads outside through a link and would do so again.
    if (inner !== path && !inner.split('/').includes('..') && (reads || !path.startsWith('.'))) {
      const there = await resolve(reads ? inner : dirName(inner) || '.', { contents: false }).catch(() => undefined)
      if (there && (reads ? there.kind !== 'missing' : there.kind === 'directory')) return [inner]
    }
    return reads ? (await nearest(inner, 'file')).filter((one) => baseName(one) === baseName(inner)) : []
  }

  const outside = async (path: string, purpose: 'read' | 'write'): Promise<Error> => {
    const inside = path.startsWith(OUTPUT_PREFIX) ? [] : await meantInside(path, purpose)
    const given = about('path', path, OUTSIDE, { errorType: 'permission', ...hint(inside) })
    return inside.length === 0
      ? new ToolFailure('The path leads outside the workspace, where the file tools may not go.', given)
      : new ModelRetry('The path leads outside the workspace; paths are relative to its root.', given)
  }

  return {
    root: real,
    resolve,
    secrets,
    shows: (target) => !isSecretFile(target),
    target,
    nearest,
    seen: new Map(),
    trustPresent: options.trustPresent ?? false,
    changes: changesIn(real),
  }
}

/** Returns enough of a file to tell whether it contains keys. */
function headOf(fd: number): string {
  const buffer = Buffer.alloc(SECRET_HEAD)
  return buffer.toString('latin1', 0, readSync(fd, buffer, 0, SECRET_HEAD, 0))
}

function secretRefused(relative: string, value: string): ToolFailure {
  const says = `"${relative}" may hold keys or passwords, and nobody has approved opening it.`
  return new ToolFailure(
    `${says} The user can name it in a message as @${relative}.`,
    about('path', value, 'a file that holds no keys or passwords', { errorType: 'permission', status: 'denied' }),
  )
}

/** Returns `undefined` if the path does not exist. `lstatSync` throws if a parent is a file. */
function statsOf(path: string, follow: boolean): Stats | undefined {
  try {
    return (follow ? statSync : lstatSync)(path)
  } catch (error) {
    if (!isMissing(error)) throw error
    return undefined
  }
}

/** Lists the deepest existing folder of the path. Includes what git ignores, which the file listing lacks. */
async function siblings(root: string, path: string, kind: 'file' | 'directory'): Promise<string[]> {
  try {
    let dir = isAbsolute(path) ? root : resolvePath(root, dirname(path))
    for (const _ of deepestReal(dir).rest) dir = dirname(dir)
    while (isInside(root, dir) && dir !== root && !statSync(dir).isDirectory()) dir = dirname(dir)
    if (!isInside(root, dir) || !isInside(root, await realLocation(dir))) return []
    const prefix = dir === root ? '' : `${shown(root, dir)}/`
    const entries = await readdir(dir, { withFileTypes: true })
    return entries.filter((one) => (kind === 'file' ? one.isFile() : one.isDirectory())).map((one) => prefix + one.name)
  } catch {
    return []
  }
}
