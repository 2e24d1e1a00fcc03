/**
 * What commands of a session have changed of ignored files (caches, dependencies, build output): a further layer between the
 * workspace and the layer of a command. Changed only while no command runs.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { chmod, chown, lstat, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { removeFolder } from '../folders.ts'
import { listMerged, type Overlay } from './mount.ts'
import { createTree, decoded, isWhiteout } from './read.ts'
import { under } from './scan.ts'

export interface Merge {
  readonly upper: string
  readonly privateRoot: string
  readonly lower: string
  readonly overlay: Overlay
  /** Outermost ignored paths. */
  readonly paths: readonly string[]
}

const stat = (root: string, path: string) => createTree(root, true).stat(path)
const namesOf = async (root: string, path: string) => (await createTree(root, true).names(path)).names

/** Folders around ignored files, which are the workspace's; one NUL after each. */
const around = (privateRoot: string): string => join(dirname(privateRoot), 'around')

/** Moves ignored paths of an upper tree to the private layer, deletions too. */
export async function mergeIgnored(merge: Merge): Promise<void> {
  if (merge.paths.length === 0) return
  const both = await foldersOfBoth(merge)
  const shown = both.length === 0 ? new Set<string>() : new Set(decoded(await listMerged(merge.overlay, both)).names)
  const added = new Set<string>()
  const deleted: string[] = []
  for (const path of merge.paths) if (await makeAround(merge, dirname(path), added)) await move(merge, path, shown, deleted)
  await keepDeletions(merge, deleted)
  if (added.size === 0) return
  const known = readAround(merge.privateRoot)
  await writeFile(around(merge.privateRoot), [...new Set([...known, ...added])].map((one) => `${one}\0`).join(''))
}

/** Only those of what the workspace would show: a folder that hides nothing lists the marks themselves. */
async function keepDeletions({ upper, privateRoot, overlay }: Merge, deleted: readonly string[]): Promise<void> {
  if (deleted.length === 0) return
  const folders = [...new Set(deleted.map((path) => dirname(path)))]
  const seen = new Set(
    decoded(
      await listMerged(
        overlay,
        folders.map((path) => (path === '.' ? '' : path)),
        'private',
      ),
    ).names,
  )
  for (const path of deleted) if (seen.has(path)) await rename(join(upper, path), join(privateRoot, path))
}

async function foldersOfBoth({ upper, privateRoot, paths }: Merge): Promise<readonly string[]> {
  const both: string[] = []
  const open = [...paths]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const [ours, theirs] = [await stat(upper, path), await stat(privateRoot, path)]
    if (!ours?.isDirectory() || !theirs?.isDirectory()) continue
    both.push(path)
    open.push(...(await namesOf(upper, path)).map((name) => under(path as string, name)))
  }
  return both
}

/** False where the workspace has no such folder (any more): there is nothing that the files could lie in. */
async function makeAround({ privateRoot, lower }: Merge, folder: string, added: Set<string>): Promise<boolean> {
  if (folder === '.') return true
  if (!(await makeAround({ privateRoot, lower } as Merge, dirname(folder), added))) return false
  const found = await lstat(join(lower, folder)).catch(() => undefined)
  if (!found?.isDirectory()) return false
  const own = await lstat(join(privateRoot, folder)).catch(() => undefined)
  if (own?.isDirectory()) return true
  if (own) await rm(join(privateRoot, folder), { force: true })
  await mkdir(join(privateRoot, folder))
  await likeIn(lower, join(privateRoot, folder), folder)
  added.add(folder)
  return true
}

async function likeIn(lower: string, to: string, path: string): Promise<void> {
  const { mode, uid, gid } = await lstat(join(lower, path))
  if (process.getuid?.() === 0) await chown(to, uid, gid)
  await chmod(to, mode & 0o7777)
}

async function move(merge: Merge, path: string, shown: ReadonlySet<string>, deleted: string[]): Promise<void> {
  const [from, to] = [join(merge.upper, path), join(merge.privateRoot, path)]
  const [ours, theirs] = [await stat(merge.upper, path), await stat(merge.privateRoot, path)]
  if (!ours) return
  if (isWhiteout(ours)) {
    if (theirs) await removeFolder(to)
    if (await createTree(merge.lower, false).stat(path)) deleted.push(path)
    return
  }
  if (!ours.isDirectory() || !theirs?.isDirectory() || (await isReplaced(merge, path, shown))) {
    if (theirs) await removeFolder(to)
    await renameOwn(from, to)
    return
  }
  for (const name of await namesOf(merge.upper, path)) await move(merge, under(path, name), shown, deleted)
  await chmod(to, ours.mode & 0o7777)
  await utimes(to, ours.atime, ours.mtime)
}

/** Deleted and recreated: something that is below it is not shown through it, and was not deleted by its name. */
async function isReplaced({ upper, privateRoot, lower }: Merge, path: string, shown: ReadonlySet<string>): Promise<boolean> {
  const below = [...(await namesOf(privateRoot, path)), ...(await createTree(lower, false).names(path)).names].map((name) =>
    under(path, name),
  )
  for (const one of below) {
    if (shown.has(one) || (await stat(upper, one))) continue
    // The private layer's own deletions hide too.
    if (!(await stat(privateRoot, one))?.isCharacterDevice()) return true
  }
  return false
}

/** A folder that its owner may not write can't be moved elsewhere. */
export async function renameOwn(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    const { mode } = await lstat(from)
    await chmod(from, 0o700)
    await rename(from, to)
    await chmod(to, mode & 0o7777)
  }
}

/** Synchronous: it is on the way to every command. */
export function readAround(privateRoot: string): readonly string[] {
  const file = around(privateRoot)
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\0')
        .filter((one) => one !== '')
    : []
}

/** Before a command: folders of the workspace are seen as they are now, and what lay in one that is gone goes too. */
export async function refreshPrivate(privateRoot: string, lower: string): Promise<void> {
  for (const folder of readAround(privateRoot)) {
    const [own, found] = [await stat(privateRoot, folder), await createTree(lower, false).stat(folder)]
    if (!own?.isDirectory()) continue
    if (found?.isDirectory()) await likeIn(lower, join(privateRoot, folder), folder)
    else await removeFolder(join(privateRoot, folder))
  }
  const [own, found] = [statSync(privateRoot), statSync(lower)]
  if (own.mode !== found.mode || own.uid !== found.uid || own.gid !== found.gid) await likeIn(lower, privateRoot, '.')
}
