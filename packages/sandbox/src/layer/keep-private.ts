/**
 * Copies a session's changes to ignored files into the workspace, all at once and without undo. Paths that have changed in the
 * workspace since, and paths that run code on their own there (`.git`, `.mulligan`), are left alone.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, type Stats } from 'node:fs'
import { chmod, cp, lstat, mkdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { removeFolder } from '../folders.ts'
import { isWithin } from '../paths.ts'
import { isProtected } from './changed.ts'
import { readAround, renameOwn } from './private-layer.ts'
import { createTree, isWhiteout, openFolder } from './read.ts'
import { type Child, merged, missing, type Trees, walk } from './scan.ts'
import { type Manifest, makeSession } from './store.ts'

export interface PrivateLayer {
  /**
   * Lists the outermost paths where the workspace differs from what the session's commands see. Don't call this while a command is
   * running.
   */
  readonly changed: () => Promise<readonly string[]>
  /**
   * Applies these changes to the workspace and empties the private layer. Don't call this while a command is running.
   * @throws the file system's error; anything not yet applied stays in the private layer
   */
  readonly keep: () => Promise<KeptIgnored>
}

export interface KeptIgnored {
  readonly kept: readonly string[]
  readonly left: readonly { readonly path: string; readonly why: string }[]
}

export interface PrivateOptions extends Pick<Manifest, 'workspace' | 'masks' | 'protect'> {
  /** Contains `upper`, and `lower`, which links to the workspace. */
  readonly folder: string
}

/** A path to apply as a whole. */
interface Item {
  readonly path: string
  /** `folder` applies to the folder itself but not its contents, which may not all be allowed. */
  readonly does: 'delete' | 'put' | 'folder'
  /** When the command made the change, in milliseconds since 1970. A later change in the workspace came from somebody else. */
  readonly since: number
}

type Left = KeptIgnored['left'][number]

/** The maximum number of paths listed below one ignored folder; beyond this, the folder itself is listed. */
const MAX_NAMED = 8

export function openPrivate(options: PrivateOptions): PrivateLayer {
  return {
    changed: async () => {
      const { items } = await survey(options)
      const around = new Set(readAround(join(options.folder, 'upper')))
      const byRoot = Map.groupBy(topmost(items.map(({ path }) => path)), (path) => outermost(path, around))
      return [...byRoot].flatMap(([root, paths]) => (paths.length > MAX_NAMED ? [root] : paths))
    },
    keep: async () => {
      const { items, left: unfit } = await survey(options)
      const trash = join(options.folder, `trash-${randomUUID()}`)
      await mkdir(trash)
      const [kept, left]: [string[], Left[]] = [[], [...unfit]]
      for (const item of items) {
        const why = await bring(options, item, trash)
        if (why !== undefined) left.push({ path: item.path, why })
        else kept.push(item.path)
      }
      await removeFolder(options.folder)
      makeSession(options.folder, options.workspace)
      return { kept: topmost(kept), left }
    },
  }
}

/** Drops paths that are inside another listed folder. */
const topmost = (paths: readonly string[]): readonly string[] => {
  const all = new Set(paths)
  return paths.filter((path) => !path.split('/').some((_, at, names) => at > 0 && all.has(names.slice(0, at).join('/'))))
}

const outermost = (path: string, around: ReadonlySet<string>): string => {
  const names = path.split('/')
  const at = names.findIndex((_, index) => !around.has(names.slice(0, index + 1).join('/')))
  return at === -1 ? path : names.slice(0, at + 1).join('/')
}

async function survey(options: PrivateOptions) {
  const { folder, workspace } = options
  const trees: Trees = { upper: createTree(join(folder, 'upper'), true), lower: createTree(workspace, false) }
  const unbounded = { entries: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY }
  const { folders } = await walk({ ...trees, ignored: () => [], limits: unbounded })
  const shown = await merged({ folder, at: workspace, hasPrivate: false }, folders)
  const children = new Map(folders.map((one) => [one.path, one.children.filter(({ found }) => !isWhiteout(found))]))
  const below = (path: string): readonly Child[] => children.get(path) ?? []
  const items: Item[] = []
  const left: Left[] = []

  const unfitIn = ({ path, found }: Child): readonly Left[] => {
    const why = unfit(options, path, found)
    return why === undefined ? below(path).flatMap(unfitIn) : [{ path, why }]
  }
  const put = (child: Child): void => {
    const { path, found } = child
    const all = unfitIn(child)
    if (all.length === 0) items.push({ path, does: 'put', since: found.ctimeMs })
    else if (all.some((one) => one.path === path)) left.push(...all)
    else {
      items.push({ path, does: 'folder', since: found.ctimeMs })
      for (const inner of below(path)) put(inner)
    }
  }
  for (const one of folders.filter(({ isMerged }) => isMerged))
    for (const child of below(one.path)) {
      const { path, found, inLower } = child
      const isFolder = found.isDirectory()
      if (!inLower || isFolder !== inLower.isDirectory() || (!isFolder && !(await isSame(trees, path, found, inLower)))) put(child)
    }
  for (const { path, folder, found, mark } of await missing(trees, folders, shown)) {
    const why = unfit(options, path, found)
    const made = folder.found ? folder.found.birthtimeMs || folder.found.mtimeMs : Number.POSITIVE_INFINITY
    if (why === undefined) items.push({ path, does: 'delete', since: mark && isWhiteout(mark) ? mark.mtimeMs : made })
    else left.push({ path, why })
  }
  return { items, left }
}

async function isSame({ upper, lower }: Trees, path: string, ours: Stats, theirs: Stats): Promise<boolean> {
  if (ours.size !== theirs.size || ours.mode !== theirs.mode) return false
  const [one, other] = await Promise.all([upper.entry(path, ours), lower.entry(path, theirs)])
  if (one?.type === 'link') return other?.type === 'link' && one.target === other.target
  return one?.type === 'file' && other?.type === 'file' && one.sha256 !== undefined && one.sha256 === other.sha256
}

/** Returns the reason why a path can't be applied. */
function unfit({ masks, protect }: PrivateOptions, path: string, found: Stats): string | undefined {
  if (path.toLowerCase().split('/').includes('.git') || isProtected(path, protect)) return 'it can make programs run outside of the sandbox'
  if (masks.some((mask) => isWithin(mask, path))) return 'it is a secret file'
  return found.isFile() || found.isDirectory() || found.isSymbolicLink() ? undefined : 'it is not a file, folder or link'
}

/** @returns the reason if it was not applied */
async function bring({ folder, workspace }: PrivateOptions, { path, does, since }: Item, trash: string): Promise<string | undefined> {
  let parent: number
  try {
    parent = openFolder(workspace, path.split('/').slice(0, -1))
  } catch {
    // Throws if the workspace itself no longer exists.
    closeSync(openFolder(workspace, []))
    return 'a folder on the way does not exist, or is a link'
  }
  try {
    const at = `/proc/self/fd/${parent}`
    const target = `${at}/${basename(path)}`
    const there = await lstat(target).catch(() => undefined)
    // File times have a granularity of several milliseconds; if both fall into the same step, their order is unknown.
    if (there && (await changedIn(target, there)) >= since) return 'it was changed in the workspace since'
    const source = join(folder, 'upper', path)
    if (does === 'folder') {
      if (there?.isDirectory()) return undefined
      if (there) await away(target, trash)
      await mkdir(target)
      await chmod(target, (await lstat(source)).mode & MODE)
      return undefined
    }
    if (there && (does === 'delete' || there.isDirectory() || (await lstat(source)).isDirectory())) await away(target, trash)
    if (does === 'put') await into(source, target, at)
    return undefined
  } finally {
    closeSync(parent)
  }
}

const MODE = 0o1777

/** Returns the time of the last change to a file, or to anything in a folder. */
async function changedIn(at: string, found: Stats): Promise<number> {
  if (!found.isDirectory()) return found.ctimeMs
  let last = 0
  // For folders, use the times of their entries. If a folder only had entries removed, there is nothing in it to lose.
  for await (const inner of createTree(at, false).below('')) if (!inner.found.isDirectory()) last = Math.max(last, inner.found.ctimeMs)
  return last
}

/** Moves the target out of sight in one step, then removes it. */
async function away(target: string, trash: string): Promise<void> {
  const to = join(trash, randomUUID())
  await rename(target, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV') throw error
    await rm(target, { recursive: true, force: true })
  })
}

async function into(source: string, target: string, folder: string): Promise<void> {
  await withoutIds(source)
  try {
    await renameOwn(source, target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    const beside = join(folder, `.mulligan-${randomUUID()}.tmp`)
    try {
      await cp(source, beside, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, errorOnExist: true, force: false })
      await rename(beside, target)
    } finally {
      await rm(beside, { recursive: true, force: true })
    }
  }
}

/** Clears set-user-ID and set-group-ID bits, which are never copied from a command. */
async function withoutIds(root: string): Promise<void> {
  const take = async (path: string, found: Stats) => {
    if (found.isFile() && (found.mode & 0o6000) !== 0) await chmod(path, found.mode & MODE)
  }
  const found = await lstat(root)
  await take(root, found)
  if (found.isDirectory()) for await (const inner of createTree(root, true).below('')) await take(join(root, inner.path), inner.found)
}
