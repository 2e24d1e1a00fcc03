/**
 * Holds a session's changes to ignored files (caches, dependencies, build output) in an extra layer between the workspace and each
 * command's layer. It changes only while no command is running.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { chmod, chown, lstat, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { removeFolder } from '../folders.ts'
import { listMerged, type Overlay } from './mount.ts'
import { createTree, decoded, isWhiteout } from './read.ts'
import { under } from './scan.ts'

export interface Merge extends Record<'upper' | 'privateRoot' | 'lower', string> {
  readonly overlay: Overlay
  /** The outermost ignored paths. */
  readonly paths: readonly string[]
}

/** Path of the list of workspace folders that contain ignored files. Each entry ends with a NUL. */
const around = (privateRoot: string): string => join(dirname(privateRoot), 'around')

/** Moves ignored paths, including deletions, from an upper tree to the private layer. */
export async function mergeIgnored({ upper: upperRoot, privateRoot, lower: workspace, overlay, paths }: Merge): Promise<void> {
  if (paths.length === 0) return
  const [upper, own, lower] = [createTree(upperRoot, true), createTree(privateRoot, true), createTree(workspace, false)]
  const added = new Set<string>()
  const deleted: string[] = []

  const both: string[] = []
  const open = [...paths]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const folder = path
    if (!(await upper.stat(folder))?.isDirectory() || !(await own.stat(folder))?.isDirectory()) continue
    both.push(folder)
    open.push(...(await upper.names(folder)).names.map((name) => under(folder, name)))
  }
  const shown = new Set(both.length === 0 ? [] : decoded(await listMerged(overlay, both)).names)

  /** Creates a folder around ignored files. Returns false if the workspace does not have it, so there is nowhere to put them. */
  const makeAround = async (folder: string): Promise<boolean> => {
    if (folder === '.') return true
    if (!(await makeAround(dirname(folder)))) return false
    const to = join(privateRoot, folder)
    const found = await lstat(join(workspace, folder)).catch(() => undefined)
    if (!found?.isDirectory()) return false
    const there = await lstat(to).catch(() => undefined)
    if (there?.isDirectory()) return true
    if (there) await rm(to, { force: true })
    await mkdir(to)
    await likeIn(workspace, to, folder)
    added.add(folder)
    return true
  }
  /** Returns whether a parent folder was deleted and recreated. Files below it are then hidden without being deleted individually. */
  const isReplaced = async (path: string): Promise<boolean> => {
    for (const name of [...(await own.names(path)).names, ...(await lower.names(path)).names]) {
      const one = under(path, name)
      if (shown.has(one) || (await upper.stat(one))) continue
      // Deletions in the private layer hide files too.
      if (!(await own.stat(one))?.isCharacterDevice()) return true
    }
    return false
  }
  const move = async (path: string): Promise<void> => {
    const to = join(privateRoot, path)
    const [ours, theirs] = [await upper.stat(path), await own.stat(path)]
    if (!ours) return
    const isDeleted = isWhiteout(ours)
    if (!isDeleted && ours.isDirectory() && theirs?.isDirectory() && !(await isReplaced(path))) {
      for (const name of (await upper.names(path)).names) await move(under(path, name))
      await chmod(to, ours.mode & 0o7777)
      await utimes(to, ours.atime, ours.mtime)
      return
    }
    if (theirs) await removeFolder(to)
    if (!isDeleted) await renameOwn(join(upperRoot, path), to)
    else if (await lower.stat(path)) deleted.push(path)
  }

  for (const path of paths) if (await makeAround(dirname(path))) await move(path)
  // Keep only deletions of files the workspace would show: in a folder that hides nothing, the markers themselves would be listed.
  const folders = [...new Set(deleted.map((path) => dirname(path).replace(/^\.$/, '')))]
  const seen = new Set(folders.length === 0 ? [] : decoded(await listMerged(overlay, folders, 'private')).names)
  for (const path of deleted) if (seen.has(path)) await rename(join(upperRoot, path), join(privateRoot, path))
  if (added.size === 0) return
  const known = new Set([...readAround(privateRoot), ...added])
  await writeFile(around(privateRoot), [...known].map((one) => `${one}\0`).join(''))
}

async function likeIn(lower: string, to: string, path: string): Promise<void> {
  const { mode, uid, gid } = await lstat(join(lower, path))
  if (process.getuid?.() === 0) await chown(to, uid, gid)
  await chmod(to, mode & 0o7777)
}

/** Renames a folder even if its owner has no write permission, which the move requires. */
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

/** Synchronous because it runs before every command. */
export function readAround(privateRoot: string): readonly string[] {
  const file = around(privateRoot)
  return existsSync(file) ? readFileSync(file, 'utf8').split('\0').slice(0, -1) : []
}

/**
 * Runs before a command so that workspace folders are seen as they are now. Private files in a folder that no longer exists are
 * removed.
 */
export async function refreshPrivate(privateRoot: string, lower: string): Promise<void> {
  const [ours, theirs] = [createTree(privateRoot, true), createTree(lower, false)]
  for (const folder of readAround(privateRoot)) {
    if (!(await ours.stat(folder))?.isDirectory()) continue
    const to = join(privateRoot, folder)
    if ((await theirs.stat(folder))?.isDirectory()) await likeIn(lower, to, folder)
    else await removeFolder(to)
  }
  const [own, found] = [statSync(privateRoot), statSync(lower)]
  if (own.mode !== found.mode || own.uid !== found.uid || own.gid !== found.gid) await likeIn(lower, privateRoot, '.')
}
