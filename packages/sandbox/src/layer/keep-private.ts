/**
 * Brings to the workspace what commands of a session changed in ignored files: in bulk, with no way back. What the workspace has
 * changed since, and what runs by itself there (`.git`, `.mulligan`), stays as it is.
 */
import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import { chmod, constants, cp, type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { removeFolder } from '../folders.ts'
import { isWithin } from '../paths.ts'
import { isProtected } from './compare.ts'
import { listMerged } from './mount.ts'
import { readAround, renameOwn } from './private-layer.ts'
import { createTree, decoded, isWhiteout } from './read.ts'
import { under } from './scan.ts'
import { makeSession } from './store.ts'

export interface PrivateLayer {
  /** The outermost paths where the workspace is not as the session's commands see it. Not while one runs. */
  readonly changed: () => Promise<readonly string[]>
  /**
   * Makes the workspace so, and empties the private layer. Not while a command runs.
   * @throws the error of the file system; what was not brought by then is still in the private layer
   */
  readonly keep: () => Promise<KeptIgnored>
}

export interface KeptIgnored {
  readonly kept: readonly string[]
  readonly left: readonly { readonly path: string; readonly why: string }[]
}

export interface PrivateOptions {
  /** Holds `upper`, and `lower`, which leads to the workspace. */
  readonly folder: string
  readonly workspace: string
  readonly masks: readonly string[]
  readonly protect: readonly string[]
}

/** One path to be brought over whole. */
interface Item {
  readonly path: string
  /** `folder`: only itself, since not all that is in it may be brought. */
  readonly does: 'delete' | 'put' | 'folder'
  /** When the command did it, in milliseconds since 1970: a later change in the workspace is somebody else's. */
  readonly since: number
}

type Left = KeptIgnored['left'][number]

interface Survey {
  readonly items: readonly Item[]
  readonly left: readonly Left[]
}

/** Paths that are named below one ignored folder, before it is named instead. */
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

/** Of folders that are named, what is in them is not. */
const topmost = (paths: readonly string[]): readonly string[] => {
  const all = new Set(paths)
  return paths.filter((path) => !path.split('/').some((_, at, names) => at > 0 && all.has(names.slice(0, at).join('/'))))
}

const outermost = (path: string, around: ReadonlySet<string>): string => {
  const names = path.split('/')
  const at = names.findIndex((_, index) => !around.has(names.slice(0, index + 1).join('/')))
  return at === -1 ? path : names.slice(0, at + 1).join('/')
}

async function survey(options: PrivateOptions): Promise<Survey> {
  const { folder, workspace } = options
  const upper = createTree(join(folder, 'upper'), true)
  const lower = createTree(workspace, false)
  const items: Item[] = []
  const left: Left[] = []

  async function put(path: string, found: Stats): Promise<void> {
    const unfit = await unfitIn(path, found)
    if (unfit.length === 0) items.push({ path, does: 'put', since: found.ctimeMs })
    else if (!found.isDirectory() || unfit.some((one) => one.path === path)) left.push(...unfit)
    else {
      items.push({ path, does: 'folder', since: found.ctimeMs })
      for (const inner of await below(path)) await put(inner.path, inner.found)
    }
  }

  async function unfitIn(path: string, found: Stats): Promise<readonly Left[]> {
    const why = unfit(options, path, found)
    if (why !== undefined) return [{ path, why }]
    if (!found.isDirectory()) return []
    return (await Promise.all((await below(path)).map((inner) => unfitIn(inner.path, inner.found)))).flat()
  }

  async function below(path: string): Promise<readonly { readonly path: string; readonly found: Stats }[]> {
    const { names } = await upper.names(path)
    const all = await Promise.all(names.map(async (name) => ({ path: under(path, name), found: await upper.stat(under(path, name)) })))
    return all.flatMap(({ path: inner, found }) => (found && !isWhiteout(found) ? [{ path: inner, found }] : []))
  }

  let level: readonly { readonly path: string; readonly since: number }[] = [{ path: '', since: Number.POSITIVE_INFINITY }]
  while (level.length > 0) {
    const next: { path: string; since: number }[] = []
    const shown = await shownIn(folder, workspace, level)
    for (const { path, since } of level) {
      const marks = new Map<string, number>()
      for (const name of (await upper.names(path)).names) {
        const inner = under(path, name)
        const [ours, theirs] = [await upper.stat(inner), await lower.stat(inner)]
        if (!ours) continue
        if (isWhiteout(ours)) marks.set(name, ours.mtimeMs)
        else if (!theirs || ours.isDirectory() !== theirs.isDirectory()) await put(inner, ours)
        else if (ours.isDirectory()) next.push({ path: inner, since: ours.birthtimeMs || ours.mtimeMs })
        else if (!(await isSame(inner, ours, theirs))) await put(inner, ours)
      }
      for (const name of (await lower.names(path)).names) {
        const inner = under(path, name)
        const found = shown.has(inner) ? undefined : await lower.stat(inner)
        if (!found || isWhiteout(found)) continue
        const why = unfit(options, inner, found)
        if (why === undefined) items.push({ path: inner, does: 'delete', since: marks.get(name) ?? since })
        else left.push({ path: inner, why })
      }
    }
    level = next
  }
  return { items, left }

  async function isSame(path: string, ours: Stats, theirs: Stats): Promise<boolean> {
    if (ours.size !== theirs.size || ours.mode !== theirs.mode) return false
    const [one, other] = await Promise.all([upper.entry(path, ours), lower.entry(path, theirs)])
    if (one?.type === 'link') return other?.type === 'link' && one.target === other.target
    return one?.type === 'file' && other?.type === 'file' && one.sha256 !== undefined && one.sha256 === other.sha256
  }
}

/** Why it may not be brought over. */
function unfit({ masks, protect }: PrivateOptions, path: string, found: Stats): string | undefined {
  if (path.toLowerCase().split('/').includes('.git') || isProtected(path, protect)) return 'it can make programs run outside of the sandbox'
  if (masks.some((mask) => isWithin(mask, path))) return 'it is a secret file'
  return found.isFile() || found.isDirectory() || found.isSymbolicLink() ? undefined : 'it is not a file, folder or link'
}

async function shownIn(folder: string, workspace: string, level: readonly { readonly path: string }[]): Promise<ReadonlySet<string>> {
  const overlay = { folder, at: workspace, hasPrivate: false }
  const found = await listMerged(
    overlay,
    level.map(({ path }) => path),
  )
  const { names, bad } = decoded(found)
  return new Set([...names, ...bad])
}

/** @returns why not */
async function bring({ folder, workspace }: PrivateOptions, { path, does, since }: Item, trash: string): Promise<string | undefined> {
  const parent = await openParent(workspace, path)
  if (parent === undefined) return 'a folder on the way does not exist, or is a link'
  try {
    const at = `/proc/self/fd/${parent.fd}`
    const target = `${at}/${path.slice(path.lastIndexOf('/') + 1)}`
    const there = await lstat(target).catch(() => undefined)
    // Times have steps of some milliseconds: of the same step it is not known which was first.
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
    await parent.close()
  }
}

const MODE = 0o1777
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Part by part and held open: no link on the way leads elsewhere, one that is put there meanwhile neither. */
export async function openParent(workspace: string, path: string): Promise<FileHandle | undefined> {
  let at = await open(workspace, constants.O_RDONLY | constants.O_DIRECTORY)
  for (const part of path.split('/').slice(0, -1)) {
    const folder = at
    const next = await open(`/proc/self/fd/${folder.fd}/${part}`, FOLDER).catch(() => undefined)
    await folder.close()
    if (next === undefined) return undefined
    at = next
  }
  return at
}

/** The last change of it, or of anything in it. */
async function changedIn(at: string, found: Stats): Promise<number> {
  if (!found.isDirectory()) return found.ctimeMs
  const tree = createTree(at, false)
  const walk = async (path: string, one: Stats): Promise<number> => {
    // Of folders the entries tell; one that something was only taken out of holds nothing to lose.
    if (!one.isDirectory()) return one.ctimeMs
    const { names } = await tree.names(path)
    const times = await Promise.all(
      names.map(async (name) => {
        const inner = await tree.stat(under(path, name))
        return inner ? walk(under(path, name), inner) : 0
      }),
    )
    return Math.max(0, ...times)
  }
  return walk('', found)
}

/** Out of sight in one step, then removed. */
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

/** Set-user-id and set-group-id are never taken over from a command. */
async function withoutIds(path: string): Promise<void> {
  const found = await lstat(path)
  if (found.isFile() && (found.mode & 0o6000) !== 0) await chmod(path, found.mode & MODE)
  if (!found.isDirectory()) return
  for (const name of (await createTree(path, true).names('')).names) await withoutIds(join(path, name))
}
