/** Finds the changes in a layer. Only paths that the layer touches are examined, so the size of the workspace does not matter. */
import type { Stats } from 'node:fs'
import { isWithin } from '../paths.ts'
import { listMerged, type Overlay } from './mount.ts'
import { decoded, isWhiteout, type Tree } from './read.ts'
import { type Entry, type Ignored, LayerError } from './types.ts'

export interface Trees {
  readonly upper: Tree
  /** The workspace. */
  readonly lower: Tree
}

export interface Scope extends Trees {
  /** The session's private layer. */
  readonly between: Tree | undefined
  readonly overlay: Overlay
  readonly ignored: Ignored
  readonly masks: readonly string[]
  readonly limits: ChangeLimits
}

export interface ChangeLimits {
  readonly entries: number
  readonly bytes: number
}

export type Scanned = Awaited<ReturnType<typeof scan>>

/** An entry in the upper tree. */
export interface Child {
  readonly path: string
  readonly found: Stats
  /** The workspace's entry, if it is visible through the layer. */
  readonly inLower: Stats | undefined
}

export interface Folder {
  /** Empty for the root. */
  readonly path: string
  /** The entry in the upper tree; undefined for the root. */
  readonly found?: Stats
  /** Whether a workspace folder is merged with it. */
  readonly isMerged: boolean
  readonly bad: readonly string[]
  readonly children: readonly Child[]
}

const SPECIAL_NAME: Entry = { type: 'special', what: 'name' }
export const under = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

/** @throws LayerError */
export async function scan(scope: Scope) {
  const { upper, lower } = scope
  const { folders, ignored } = await walk(scope)
  const shown = await merged(scope.overlay, folders)
  const before = new Map<string, Entry>()
  const after = new Map<string, Entry>()
  const count = counter(scope.limits)
  const add = (map: Map<string, Entry>, path: string, entry: Entry | undefined) => {
    if (!entry || scope.masks.some((mask) => isWithin(mask, path))) return
    count(map === after && entry.type === 'file' ? entry.size : 0)
    map.set(path, entry)
  }
  /** Adds everything in a folder that the layer no longer contains. */
  const addLower = async (path: string, found: Stats): Promise<void> => {
    add(before, path, await lower.entry(path, found))
    if (!found.isDirectory()) return
    const { names, bad } = await lower.names(path)
    for (const name of bad) add(before, under(path, name), SPECIAL_NAME)
    for (const name of names) {
      const inner = await lower.stat(under(path, name))
      if (inner) await addLower(under(path, name), inner)
    }
  }

  for (const [tree, map] of [[lower, before] as const, [upper, after] as const]) {
    const found = await tree.stat('')
    const entry = found && (await tree.entry('', found))
    if (entry) map.set('.', entry)
  }
  for (const folder of folders) {
    for (const { path, found, inLower } of folder.children) {
      if (isWhiteout(found) || (folder.isMerged && !shown.has(path))) continue
      add(after, path, (await upper.entry(path, found)) ?? SPECIAL_NAME)
      if (inLower?.isDirectory() && !found.isDirectory()) await addLower(path, inLower)
      else if (inLower) add(before, path, await lower.entry(path, inLower))
    }
    // Added last: any name that can't be distinguished from this one can't be kept either.
    for (const name of folder.bad) add(after, under(folder.path, name), SPECIAL_NAME)
  }
  for (const { path, found } of await deleted(scope, folders, shown)) await addLower(path, found)
  return { before, after, ignored }
}

function counter({ entries, bytes }: ChangeLimits): (size: number) => void {
  let [seen, total] = [0, 0]
  return (size) => {
    seen += 1
    total += size
    if (seen > entries) throw new LayerError('entries', `the command changed more than ${entries} files and folders; a layer holds no more`)
    if (total > bytes)
      throw new LayerError('bytes', `the command changed files of more than ${bytes} bytes in total; a layer holds no more`)
  }
}

/** Walks the upper tree level by level, so each level is queried at once. */
export async function walk({ upper, lower, ignored, limits }: Pick<Scope, 'upper' | 'lower' | 'ignored' | 'limits'>) {
  const folders: Folder[] = []
  const left: string[] = []
  const count = counter({ ...limits, bytes: Number.POSITIVE_INFINITY })
  let level: readonly Pick<Folder, 'path' | 'isMerged' | 'found'>[] = [{ path: '', isMerged: true }]
  while (level.length > 0) {
    const read: Folder[] = []
    for (const folder of level) {
      const { names, bad } = await upper.names(folder.path)
      const children: Child[] = []
      const unread: string[] = []
      for (const name of names) {
        count(0)
        const path = under(folder.path, name)
        const found = await upper.stat(path)
        // Go only through real folders of the workspace, never its links.
        const inLower = folder.isMerged ? await lower.stat(path) : undefined
        if (found) children.push({ path, found, inLower })
        else unread.push(name)
      }
      read.push({ ...folder, bad: [...bad, ...unread], children })
    }
    const asked = read
      .flatMap(({ children }) => children)
      .map(({ path, found, inLower }) => ({ path, isDirectory: (isWhiteout(found) ? (inLower ?? found) : found).isDirectory() }))
    const out = new Set(asked.length === 0 ? [] : await ignored(asked))
    const isKept = ({ path }: Child) => !out.has(path)
    left.push(...asked.map(({ path }) => path).filter((path) => out.has(path)))
    const kept = read.map((folder) => ({ ...folder, children: folder.children.filter(isKept) }))
    folders.push(...kept)
    level = kept
      .flatMap(({ children }) => children.filter(({ found }) => found.isDirectory()))
      .map(({ path, found, inLower }) => ({ path, found, isMerged: inLower?.isDirectory() ?? false }))
  }
  return { folders, ignored: left }
}

/** Returns the paths shown in the merged view, in folders below which the workspace may have files. */
export async function merged(overlay: Overlay, folders: readonly Folder[]): Promise<ReadonlySet<string>> {
  const asked = folders.filter(isRead).map(({ path }) => path)
  const { names, bad } = decoded(asked.length === 0 ? [] : await listMerged(overlay, asked))
  return new Set([...names, ...bad])
}

/** Returns whether workspace files may lie below it. The root always exists, and counts only if it has entries. */
const isRead = ({ isMerged, path, children, bad }: Folder): boolean => isMerged && (path !== '' || children.length + bad.length > 0)

/** Returns workspace entries that the layer no longer shows. */
async function deleted(scope: Scope, folders: readonly Folder[], shown: ReadonlySet<string>): Promise<readonly Missing[]> {
  const gone = await missing(scope, folders, shown)
  if (gone.length === 0) return []
  const ignored = new Set(await scope.ignored(gone.map(({ path, found }) => ({ path, isDirectory: found.isDirectory() }))))
  const kept: Missing[] = []
  for (const one of gone) {
    // If the parent folder was deleted and recreated, its ignored files are gone with it.
    const isEarlier = !one.mark && (await scope.between?.stat(one.path)) !== undefined
    if (!ignored.has(one.path) || !(one.mark || isEarlier)) kept.push(one)
  }
  return kept
}

export interface Missing {
  readonly path: string
  readonly folder: Folder
  readonly found: Stats
  /** The layer's entry for it, which can only be a deletion marker. */
  readonly mark: Stats | undefined
}

export async function missing({ lower, upper }: Trees, folders: readonly Folder[], shown: ReadonlySet<string>) {
  const gone: Missing[] = []
  for (const folder of folders.filter(isRead)) {
    const { names } = await lower.names(folder.path)
    for (const path of names.map((name) => under(folder.path, name)).filter((one) => !shown.has(one))) {
      const found = await lower.stat(path)
      // The kernel never shows a device that looks like its own deletion marker. If a command created one in the workspace, nothing was
      // deleted.
      if (found && !isWhiteout(found)) gone.push({ path, folder, found, mark: await upper.stat(path) })
    }
  }
  return gone
}
