/** The folder that the file tools work in, what in it the model has read, and which paths lead out of it. */
import { lstatSync, mkdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve as resolvePath } from 'node:path'
import { ModelRetry, ToolFailure } from '@mulligan/core'
import type { ChangeLog } from './change.ts'
import { deepestReal, openInside, realLocation } from './contain.ts'
import { fsError } from './fs-error.ts'
import { directoriesOf, listFiles, MAX_CANDIDATES, nearestPaths } from './nearest.ts'
import { baseName, dirName, inOutput, isInside, normalized, OUTPUT_PREFIX, ofSystem, pathProblem, shown, toSlash } from './paths.ts'
import { PROTECTED, protection } from './protect.ts'
import type { Resolved } from './resolved.ts'
import { isSecretFile, isSecretFolder, SECRET_HEAD, secretName } from './secret-files.ts'
import { targetOf } from './target.ts'

export type { Resolved } from './resolved.ts'

/** What is remembered of a file that the model has read. */
export interface SeenFile {
  /** SHA-256 of all its bytes as they were; absent when it was too large to be read through for one page. */
  readonly hash?: string
}

export interface ResolveOptions {
  /** Default `read`. Writing is refused in spilled results and protected paths. */
  readonly for?: 'read' | 'write'
  /** A missing path is refused, with the nearest ones. Default false. */
  readonly mustExist?: boolean
  /** What is looked for when it is missing. Default `file`. */
  readonly kind?: 'file' | 'directory'
  /** A link at the end of the path is followed. Default true; false for what acts on the link itself. */
  readonly follow?: boolean
  /** For a folder: what lies in it is written too, so nothing in it may be protected. Default false. */
  readonly whole?: boolean
  /** Whether what the file holds may be shown, or put under another name: secret files are refused then. Default true. */
  readonly contents?: boolean
  /** Secret files that may be opened all the same, as their {@link Workspace.target}. Default: none. */
  readonly opened?: ReadonlySet<string>
}

export interface Workspace {
  /** Real path of the folder. */
  readonly root: string
  /**
   * Checks a path that the model sent.
   * @throws ModelRetry for a path that can be put right; ToolFailure (permission) for one outside the workspace, and for a secret file.
   */
  readonly resolve: (path: string, options?: ResolveOptions) => Promise<Resolved>
  /**
   * What a call on the path acts on, for policies, denials and locks: one name however the path is spelt, `src/a.ts` for
   * `./src//b/../a.ts` and for a link that leads there. A path that leads outside stays outside.
   */
  readonly target: (path: string) => string
  /** Which of these paths are secret files, as their {@link Workspace.target}. `gone`: by their names also those that don't exist. */
  readonly secrets: (paths: readonly string[], options?: { readonly gone?: boolean }) => Promise<readonly string[]>
  /** Whether what stands under this {@link Workspace.target} may be shown, by its name. */
  readonly shows: (target: string) => boolean
  /** Paths that exist and are nearest to one that does not, best first. */
  readonly nearest: (path: string, kind: 'file' | 'directory') => Promise<string[]>
  /** By real path. Belongs to the session that the workspace was made for. */
  readonly seen: Map<string, SeenFile>
  /** See {@link PathOptions.trustPresent}. */
  readonly trustPresent: boolean
  /** Every change to a file goes through it. */
  readonly changes: ChangeLog
}

export interface PathOptions {
  /** Where over-long results are spilled: read as `@output/<name>`. */
  readonly outputs?: { readonly dir: string }
  /**
   * What can be read but not written, in upper or lower case: a name, at any depth and wherever it leads, or a relative
   * path. Default `.git`, `.mulligan` and `mulligan.json`: what is in them runs by itself.
   */
  readonly protect?: readonly string[]
  /** A file counts as read in its present content: for calls by a person, who sees it. Default false. */
  readonly trustPresent?: boolean
}

const OUTSIDE = 'a path inside the workspace'

/**
 * @param root an existing folder
 * @param changesIn the log for its real path
 */
export function workspaceAt(root: string, options: PathOptions, changesIn: (root: string) => ChangeLog): Workspace {
  const real = realpathSync(root)
  const isProtected = protection(real, options.protect ?? PROTECTED)
  const outputs = options.outputs
  let outputRoot: string | undefined
  const outputsRoot = (): string | undefined => {
    if (!outputs) return undefined
    if (outputRoot === undefined) {
      mkdirSync(outputs.dir, { recursive: true, mode: 0o700 })
      outputRoot = realpathSync(outputs.dir)
    }
    return outputRoot
  }

  const nearestTo = async (path: string, kind: 'file' | 'directory'): Promise<string[]> => {
    const outputsAt = path.startsWith(OUTPUT_PREFIX) ? outputsRoot() : undefined
    if (outputsAt)
      return nearestPaths(
        path,
        (await readdir(outputsAt)).map((name) => OUTPUT_PREFIX + name),
      )
    const [files, beside] = await Promise.all([listFiles(real).catch(() => []), siblings(real, path, kind)])
    return nearestPaths(path, [...new Set([...beside, ...(kind === 'file' ? files : directoriesOf(files))])])
  }

  const resolve = async (
    path: string,
    {
      for: purpose = 'read',
      mustExist = false,
      kind = 'file',
      follow = true,
      whole = false,
      contents = true,
      opened = NONE,
    }: ResolveOptions = {},
  ): Promise<Resolved> => {
    const problem = pathProblem(path)
    if (problem) throw new ModelRetry(`path must be ${problem}.`, { parameter: 'path', value: path.slice(0, 200), constraint: problem })
    const inner = inOutput(path)
    const outputsAt = inner === undefined ? undefined : outputsRoot()
    if (outputsAt && purpose === 'write')
      throw new ToolFailure('@output/ holds results of earlier calls and can only be read.', {
        errorType: 'permission',
        parameter: 'path',
        value: path,
        constraint: OUTSIDE,
      })
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
      throw new ToolFailure(`"${relative}" is the system's own and no file, which the file tools do not open.`, {
        errorType: 'permission',
        parameter: 'path',
        value: path,
        constraint: 'a path outside /proc, /sys and /dev',
      })
    if (!found && /^~(?:[/\\]|$)/.test(path)) throw await homePath(path, purpose)
    if (purpose === 'write' && !outputsAt && (await isProtected(asked, absolute, whole && found?.isDirectory() === true)))
      throw new ToolFailure(`"${relative}" is protected${whole ? ', or something in it is' : ''}: it can be read but not written.`, {
        errorType: 'permission',
        parameter: 'path',
        value: path,
        constraint: 'a path that is not protected',
      })
    const isLink = found?.isSymbolicLink() === true
    if (found && !isLink && !found.isFile() && !found.isDirectory())
      throw new ToolFailure(`"${relative}" is a ${specialKind(found)}, which the file tools do not open.`, {
        errorType: 'unsupported',
        parameter: 'path',
        value: path,
        constraint: 'a regular file or a directory',
      })
    if (!found && mustExist) throw notFound(relative, path, kind, await nearestTo(relative, kind))
    if (contents && found && !isLink && !outputsAt && !opened.has(shown(base, absolute)) && (await isSecret(below, absolute, found, whole)))
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

  /** By what it is called and by what it really is. */
  const isSecret = async (asked: string, absolute: string, found: Stats, whole = false): Promise<boolean> => {
    const names = [...new Set([asked, shown(real, absolute)])]
    if (found.isDirectory()) return whole && names.some(isSecretFolder)
    const said = names.map(secretName)
    if (said.includes('secret')) return true
    if (!said.includes('perhaps')) return false
    const head = await headOf(real, absolute)
    return names.some((name) => isSecretFile(name, head))
  }

  const secrets: Workspace['secrets'] = async (paths, { gone = false } = {}) => {
    const targets = new Set<string>()
    for (const path of new Set(paths)) {
      const target = targetOf(path, real, options.outputs !== undefined)
      if (![target, shown(real, resolvePath(real, path))].some((name) => secretName(name) || isSecretFolder(name))) continue
      const at = await resolve(path, { contents: false }).catch(() => undefined)
      if (!at || at.output) continue
      const found = at.kind === 'missing' ? undefined : await stat(at.absolute).catch(() => undefined)
      if (found ? await isSecret(at.relative, at.absolute, found, true) : gone && secretName(at.relative) !== undefined) targets.add(target)
    }
    return [...targets]
  }

  /** Paths inside that were probably meant by one that leads out. */
  const meantInside = async (path: string, purpose: 'read' | 'write'): Promise<string[]> => {
    const inner = normalized(path.replace(/^~/, ''))
    if (inner === '') return purpose === 'read' ? ['.'] : []
    // The path itself again: it leads out through a link, and would do so for ever.
    if (inner === path || inner.split('/').includes('..')) return purpose === 'read' ? sameName(inner) : []
    if (purpose === 'write' && path.startsWith('.')) return []
    const at = purpose === 'read' ? inner : dirName(inner) || '.'
    const there = await resolve(at, { contents: false }).catch(() => undefined)
    if (there && (purpose === 'read' ? there.kind !== 'missing' : there.kind === 'directory')) return [inner]
    return purpose === 'read' ? sameName(inner) : []
  }

  const sameName = async (path: string): Promise<string[]> => {
    const name = baseName(path)
    return (await nearestTo(path, 'file')).filter((one) => baseName(one) === name)
  }

  const outside = async (path: string, purpose: 'read' | 'write'): Promise<Error> => {
    const inside = path.startsWith(OUTPUT_PREFIX) ? [] : await meantInside(path, purpose)
    const about = { errorType: 'permission', parameter: 'path', value: path, constraint: OUTSIDE } as const
    if (inside.length === 0) return new ToolFailure('The path leads outside the workspace, where the file tools may not go.', about)
    return new ModelRetry('The path leads outside the workspace; paths are relative to its root.', { ...about, ...hint(inside) })
  }

  const homePath = async (path: string, purpose: 'read' | 'write'): Promise<Error> =>
    new ModelRetry('"~" is not expanded; paths are relative to the root of the workspace.', {
      parameter: 'path',
      value: path,
      constraint: OUTSIDE,
      ...hint(await meantInside(path, purpose)),
    })

  return {
    root: real,
    resolve,
    secrets,
    shows: (target) => !isSecretFile(target),
    target: (path) => targetOf(path, real, options.outputs !== undefined),
    nearest: nearestTo,
    seen: new Map(),
    trustPresent: options.trustPresent ?? false,
    changes: changesIn(real),
  }
}

const NONE: ReadonlySet<string> = new Set()

/** Enough of a file to tell whether it holds keys. `undefined` where it can't be read: it is then taken for secret. */
async function headOf(root: string, absolute: string): Promise<string | undefined> {
  const handle = await openInside(root, absolute).catch(() => undefined)
  if (!handle) return undefined
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SECRET_HEAD), 0, SECRET_HEAD, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

const secretRefused = (relative: string, value: string): ToolFailure =>
  new ToolFailure(
    `"${relative}" may hold keys or passwords, and nobody has approved opening it. The user can name it in a message as @${relative}.`,
    { errorType: 'permission', status: 'denied', parameter: 'path', value, constraint: 'a file that holds no keys or passwords' },
  )

/** The part of a hint that says what to send instead. */
export function hint(paths: readonly string[]): { suggestion?: string; candidates?: readonly string[] } {
  const [first, ...rest] = paths
  return first === undefined ? {} : rest.length === 0 ? { suggestion: first } : { suggestion: first, candidates: rest }
}

function notFound(relative: string, value: string, kind: 'file' | 'directory', near: readonly string[]): ModelRetry {
  return new ModelRetry(`There is no ${kind} "${relative}".`, {
    errorType: 'not_found',
    parameter: 'path',
    value,
    constraint: `an existing ${kind} in the workspace`,
    ...hint(near.slice(0, MAX_CANDIDATES)),
  })
}

/** `undefined` for what does not exist: `lstatSync` throws where a parent is a file. */
function statsOf(path: string, follow: boolean): Stats | undefined {
  try {
    return (follow ? statSync : lstatSync)(path)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
    return undefined
  }
}

/** What stands in the deepest folder of the path that exists: also where git ignores it, where the listing has nothing. */
async function siblings(root: string, path: string, kind: 'file' | 'directory'): Promise<string[]> {
  let dir = isAbsolute(path) ? root : resolvePath(root, dirname(path))
  const { rest } = await deepestReal(dir).catch(() => ({ rest: [] }))
  for (const _ of rest) dir = dirname(dir)
  while (isInside(root, dir)) {
    const real = await realLocation(dir).catch(() => undefined)
    if (!real || !isInside(root, real)) return []
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => undefined)
    const prefix = shown(root, dir) === '.' ? '' : `${shown(root, dir)}/`
    if (entries) return entries.filter((one) => (kind === 'file' ? one.isFile() : one.isDirectory())).map((one) => prefix + one.name)
    if (dir === root) return []
    dir = dirname(dir)
  }
  return []
}

function specialKind(stats: Stats): string {
  if (stats.isFIFO()) return 'named pipe'
  if (stats.isSocket()) return 'socket'
  return 'device'
}
