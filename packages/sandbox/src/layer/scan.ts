/** Finds what a layer changes: only what it touches is looked at, so the size of the workspace makes no difference. */
import type { Stats } from 'node:fs'
import { isWithin } from '../paths.ts'
import { listMerged, type Overlay } from './mount.ts'
import { decoded, isWhiteout, type Tree } from './read.ts'
import { type Entry, type Ignored, LayerError } from './types.ts'

export interface Scope {
  readonly upper: Tree
  /** The workspace. */
  readonly lower: Tree
  /** The private layer of the session. */
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

export interface Scanned {
  readonly before: ReadonlyMap<string, Entry>
  readonly after: ReadonlyMap<string, Entry>
  readonly ignored: readonly string[]
}

interface Child {
  readonly path: string
  readonly name: string
  readonly found: Stats
  readonly inLower: Stats | undefined
}

interface Folder {
  /** `` for the root. */
  readonly path: string
  /** Whether a folder of the workspace is merged with it. */
  readonly isMerged: boolean
  readonly bad: readonly string[]
  readonly children: readonly Child[]
}

const SPECIAL_NAME: Entry = { type: 'special', what: 'name' }
export const under = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

/** @throws LayerError */
export async function scan(scope: Scope): Promise<Scanned> {
  const { folders, ignored } = await walk(scope)
  const shown = await merged(scope, folders)
  const before = new Map<string, Entry>()
  const after = new Map<string, Entry>()
  const count = counter(scope.limits)
  const isMasked = (path: string) => scope.masks.some((mask) => isWithin(mask, path))
  const add = (map: Map<string, Entry>, path: string, entry: Entry | undefined) => {
    if (!entry || isMasked(path)) return
    count(map === after && entry.type === 'file' ? entry.size : 0)
    map.set(path, entry)
  }
  /** All that was in a folder which the layer does not have any more. */
  const addLower = async (path: string, found: Stats): Promise<void> => {
    add(before, path, await scope.lower.entry(path, found))
    if (!found.isDirectory()) return
    const { names, bad } = await scope.lower.names(path)
    for (const name of bad) add(before, under(path, name), SPECIAL_NAME)
    for (const name of names) {
      const inner = await scope.lower.stat(under(path, name))
      if (inner) await addLower(under(path, name), inner)
    }
  }

  await addRoot(scope, before, after)
  for (const folder of folders) {
    for (const { path, name, found, inLower } of folder.children) {
      if (!isShown(shown, folder, name, found)) continue
      add(after, path, (await scope.upper.entry(path, found)) ?? SPECIAL_NAME)
      if (inLower?.isDirectory() && !found.isDirectory()) await addLower(path, inLower)
      else if (inLower) add(before, path, await scope.lower.entry(path, inLower))
    }
    // Last: a name that can't be distinguished from this one is not to be kept either.
    for (const name of folder.bad) add(after, under(folder.path, name), SPECIAL_NAME)
  }
  for (const [path, found] of await deleted(scope, folders, shown)) await addLower(path, found)
  return { before, after, ignored }
}

async function addRoot({ upper, lower }: Scope, before: Map<string, Entry>, after: Map<string, Entry>): Promise<void> {
  for (const [tree, map] of [
    [lower, before],
    [upper, after],
  ] as const) {
    const found = await tree.stat('')
    const entry = found && (await tree.entry('', found))
    if (entry) map.set('.', entry)
  }
}

function counter({ entries, bytes }: ChangeLimits): (size: number) => void {
  let [seen, total] = [0, 0]
  return (size) => {
    seen += 1
    total += size
    if (seen > entries) throw new LayerError('entries', `the command changed more than ${entries} files and folders; a layer holds no more`)
    if (total > bytes)
      throw new LayerError('bytes', `the command changed files of more than ${bytes} bytes together; a layer holds no more`)
  }
}

/** The upper tree as it is there, level by level, so that a whole level is asked for at once. */
async function walk(scope: Scope): Promise<{ readonly folders: readonly Folder[]; readonly ignored: readonly string[] }> {
  const folders: Folder[] = []
  const ignored: string[] = []
  const count = counter({ ...scope.limits, bytes: Number.POSITIVE_INFINITY })
  let level: readonly { readonly path: string; readonly isMerged: boolean }[] = [{ path: '', isMerged: true }]
  while (level.length > 0) {
    const read: Folder[] = []
    for (const { path, isMerged } of level) {
      const { names, bad } = await scope.upper.names(path)
      const children: Child[] = []
      const unread: string[] = []
      for (const name of names) {
        count(0)
        const inner = under(path, name)
        const found = await scope.upper.stat(inner)
        // Only through folders of the workspace that are none of its links.
        const inLower = isMerged ? await scope.lower.stat(inner) : undefined
        if (found) children.push({ path: inner, name, found, inLower })
        else unread.push(name)
      }
      read.push({ path, isMerged, bad: [...bad, ...unread], children })
    }
    const asked = read
      .flatMap(({ children }) => children)
      .map(({ path, found, inLower }) => ({ path, isDirectory: (isWhiteout(found) ? (inLower ?? found) : found).isDirectory() }))
    const out = new Set(asked.length === 0 ? [] : await scope.ignored(asked))
    const isKept = ({ path }: Child) => !out.has(path)
    ignored.push(...asked.map(({ path }) => path).filter((path) => out.has(path)))
    const kept = read.map((folder) => ({ ...folder, children: folder.children.filter(isKept) }))
    folders.push(...kept)
    level = kept.flatMap(({ children }) =>
      children.filter(({ found }) => found.isDirectory()).map(({ path, inLower }) => ({ path, isMerged: inLower?.isDirectory() ?? false })),
    )
  }
  return { folders, ignored }
}

/** Paths in the merged view, of the folders where something of the workspace may lie below. */
async function merged({ overlay }: Scope, folders: readonly Folder[]): Promise<ReadonlySet<string>> {
  const asked = folders.filter(isRead)
  if (asked.length === 0) return new Set()
  const { names, bad } = decoded(
    await listMerged(
      overlay,
      asked.map(({ path }) => path),
    ),
  )
  return new Set([...names, ...bad])
}

/** Whether something of the workspace is below it; the root is always there, and was touched only where something is in it. */
const isRead = ({ isMerged, path, children, bad }: Folder): boolean => isMerged && (path !== '' || children.length + bad.length > 0)

const isShown = (paths: ReadonlySet<string>, folder: Folder, name: string, found: Stats): boolean =>
  !isWhiteout(found) && (!folder.isMerged || paths.has(under(folder.path, name)))

/** What the workspace has there and the layer does not show. */
async function deleted(
  scope: Scope,
  folders: readonly Folder[],
  shown: ReadonlySet<string>,
): Promise<readonly (readonly [string, Stats])[]> {
  const gone = (await Promise.all(folders.filter(isRead).map((folder) => missing(scope, folder, shown)))).flat()
  if (gone.length === 0) return []
  const ignored = new Set(await scope.ignored(gone.map(({ path, found }) => ({ path, isDirectory: found.isDirectory() }))))
  const kept: Missing[] = []
  for (const one of gone) {
    // Ignored files go with the folder around them, where that was deleted and recreated.
    const isEarlier = !one.isNamed && (await scope.between?.stat(one.path)) !== undefined
    if (!ignored.has(one.path) || !(one.isNamed || isEarlier)) kept.push(one)
  }
  return kept.map(({ path, found }) => [path, found])
}

interface Missing {
  readonly path: string
  readonly found: Stats
  /** Whether the layer has an entry for it, which can only be a deletion. */
  readonly isNamed: boolean
}

async function missing({ lower, upper }: Scope, folder: Folder, shown: ReadonlySet<string>): Promise<readonly Missing[]> {
  const { names } = await lower.names(folder.path)
  const gone: Missing[] = []
  for (const path of names.map((name) => under(folder.path, name)).filter((one) => !shown.has(one))) {
    const found = await lower.stat(path)
    // A device like the kernel's own mark, which a command may have made in the workspace, is never shown: nothing deleted it.
    if (found && !isWhiteout(found)) gone.push({ path, found, isNamed: (await upper.stat(path)) !== undefined })
  }
  return gone
}
