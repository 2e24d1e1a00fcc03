/** Stores layers in the user's own folders, outside the workspace. */
import { createHash, randomUUID } from 'node:crypto'
import {
  type BigIntStats,
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { chmod, lstat, open, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { explain, readFacts } from '../backends/bubblewrap/explain.ts'
import { removeFolder } from '../folders.ts'
import { isWithin } from '../paths.ts'
import { isGone, owner } from '../processes.ts'
import { runProgram, systemProgram } from '../program.ts'
import { around, lastLine, listMerged, mounting, type Overlay, runIn } from './mount.ts'
import { isWhiteout } from './read.ts'
import type { ChangeLimits } from './scan.ts'
import { LayerError } from './types.ts'

const LAYER = /^(?:layer|gone)-([\d-]+)-[^-]{6}$/
const GONE = 'gone-'
/** Marks a layer that has not been given to a command yet. */
const UNUSED = 'unused'
const SESSION = 'session-'
const MANIFEST = 'manifest.json'

/** Written when a layer waits for a decision. A layer without one belongs to a command that is still running or was interrupted. */
export interface Manifest {
  readonly version: 1
  readonly workspace: string
  readonly session: string | undefined
  readonly masks: readonly string[]
  readonly ignored: readonly string[]
  readonly protect: readonly string[]
  readonly hash: string
  readonly note: string
  readonly since: number
  readonly limits: ChangeLimits
}

export interface ListOptions {
  /** Default: the user's usual state folder for sandboxes. */
  readonly stateFolder?: string
  /** Default `process.env`. */
  readonly hostEnv?: Readonly<Record<string, string | undefined>>
}

/** Returns candidate folders in order of preference; the first one in which an overlay actually works is used. */
export function candidates({ stateFolder: asked, hostEnv: env = process.env }: ListOptions): readonly string[] {
  const uid = process.getuid?.() ?? 0
  const state = env['XDG_STATE_HOME']
  const home = state && isAbsolute(state) ? state : join(env['HOME'] && isAbsolute(env['HOME']) ? env['HOME'] : homedir(), '.local/state')
  const all =
    asked === undefined
      ? [join(home, 'mulligan/layers'), `/var/tmp/mulligan-layers-${uid}`, join(tmpdir(), `mulligan-layers-${uid}`)]
      : [asked]
  return [...new Set(all)]
}

/** Creates a folder that only we can access: anyone able to write there could pass off a command's file as the user's. @throws Error */
function makeStore(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) throw new Error(`${folder} is not your folder`)
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
}

/** Synchronous, because these four calls run before every command. */
export function makeLayer(store: string, workspace: string, privateRoot: string | undefined): string {
  const folder = mkdtempSync(join(store, `layer-${owner()}-`))
  makeUpper(folder, workspace)
  mkdirSync(join(folder, 'work'))
  if (privateRoot !== undefined) symlinkSync(privateRoot, join(folder, 'private'))
  return folder
}

const markUnused = (folder: string): void => symlinkSync('.', join(folder, UNUSED))
const isUnused = (folder: string): boolean => existsSync(join(folder, UNUSED))
const markUsed = (folder: string): void => unlinkSync(join(folder, UNUSED))

/** Hides the layer immediately, then removes it. @returns when all its contents are removed */
export async function removeLayer(folder: string): Promise<void> {
  const gone = join(dirname(folder), `${GONE}${owner()}-${randomUUID().slice(-6)}`)
  try {
    renameSync(folder, gone)
  } catch {
    return
  }
  // A volatile mount leaves folders that nobody may enter.
  if (process.getuid?.() !== 0)
    for (const name of ['work/work', 'work/work/incompat', 'work/work/incompat/volatile'])
      await chmod(join(gone, name), 0o700).catch(() => {})
  await removeFolder(gone)
}

/** Creates the upper folder. The root of the merged view has the upper folder's mode and owner. */
function makeUpper(folder: string, workspace: string): void {
  const upper = join(folder, 'upper')
  const { mode, uid, gid } = statSync(workspace)
  mkdirSync(upper)
  if (process.getuid?.() === 0) chownSync(upper, uid, gid)
  chmodSync(upper, mode & 0o7777)
  symlinkSync(workspace, join(folder, 'lower'))
}

/** Returns the folder for all layers of a session on a workspace. Its `upper` is the private layer. */
export const sessionFolder = (store: string, workspace: string, session: string): string =>
  join(store, SESSION + createHash('sha256').update(`${workspace}\0${session}`).digest('hex').slice(0, 32))

export function makeSession(folder: string, workspace: string): string {
  const upper = join(folder, 'upper')
  if (lstatSync(upper, { throwIfNoEntry: false })?.isDirectory()) return upper
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  makeUpper(folder, workspace)
  return upper
}

/** Creates a folder for a sandbox without a session; it is removed with the sandbox. */
export function makeOwnSession(store: string): string {
  const folder = mkdtempSync(join(store, `layer-${owner()}-`))
  markUnused(folder)
  return folder
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const next = join(folder, `${MANIFEST}.${randomUUID()}`)
  await writeFile(next, JSON.stringify(manifest), { mode: 0o600, flag: 'wx' })
  await sync(next)
  await rename(next, join(folder, MANIFEST))
  await sync(folder)
}

/** Flushes everything the command wrote, which its volatile mount did not do, so that a waiting layer survives a machine crash. */
export const syncLayer = async (folder: string): Promise<void> => {
  await runProgram(systemProgram('sync') ?? '/usr/bin/sync', ['-f', folder])
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  await file.sync().finally(() => file.close())
}

async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    const read = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Manifest
    return read.version === 1 && isAbsolute(read.workspace) && typeof read.hash === 'string' && Array.isArray(read.ignored)
      ? read
      : undefined
  } catch {
    return undefined
  }
}

export interface Found {
  readonly id: string
  readonly folder: string
  readonly manifest: Manifest
}

/** Removes interrupted layers and lists the waiting ones. Another process may be doing the same. */
export async function sweepLayers(store: string): Promise<{ readonly waiting: readonly Found[]; readonly discarded: number }> {
  const waiting: Found[] = []
  let discarded = 0
  for (const id of await readdir(store).catch(() => [])) {
    const label = LAYER.exec(id)?.[1]
    if (label === undefined) continue
    const folder = join(store, id)
    const found = await lstat(folder).catch(() => undefined)
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue
    // A layer that is being removed may still have its manifest.
    const manifest = id.startsWith(GONE) ? undefined : await readManifest(folder)
    if (manifest) waiting.push({ id, folder, manifest })
    else if (isGone(label)) {
      if (!id.startsWith(GONE) && !isUnused(folder)) discarded++
      await removeFolder(folder)
    }
  }
  return { waiting, discarded }
}

/** Returns the first folder that works. @throws LayerError with the reason for each folder that does not */
export async function findStore(workspace: string, folders: readonly string[]): Promise<string> {
  checkMounts(workspace)
  const failed: string[] = []
  for (const store of folders) {
    try {
      if (isWithin(workspace, store) || isWithin(store, workspace)) throw new Error('it is in the workspace, or around it')
      makeStore(store)
      await sweepLayers(store)
      await tryLayer(store, workspace)
      return store
    } catch (error) {
      failed.push(`${store}: ${(error as Error).message}`)
    }
  }
  const isRefused = process.getuid?.() !== 0 && /unshare|not permitted|denied/i.test(failed.join())
  const remedy = isRefused ? explain(`unshare: ${failed.at(-1)}`, readFacts()).remedy : undefined
  throw new LayerError('unsupported', `no layer can be created over the workspace:\n${failed.join('\n')}`, remedy)
}

/** Tests a deletion, a recreated folder and a new file over two lower folders, then checks them through a second mount. */
async function tryLayer(store: string, workspace: string): Promise<void> {
  const below = mkdtempSync(join(store, `layer-${owner()}-`))
  const folder = makeLayer(store, workspace, below)
  const [gone, again, made] = ['gone', 'again', 'made'].map((name) => `.${name}-${randomUUID()}`) as [string, string, string]
  try {
    mkdirSync(join(below, again))
    writeFileSync(join(below, again, 'file'), '')
    writeFileSync(join(below, gone), '')
    const overlay = { folder, at: workspace, hasPrivate: true }
    const script = 'cd "$1" && rm "$2" && rm -r "$3" && mkdir "$3" && echo x >"$4"'
    const [exitCode, , stderr] = await runIn([...around(overlay), '/bin/sh', '-c', script, 'sh', workspace, gone, again, made])
    if (exitCode !== 0) throw new Error(lastLine(stderr))
    const upper = join(folder, 'upper')
    const seen = await listMerged(overlay, [again])
    if (seen.length > 0 || !isWhiteout(lstatSync(join(upper, gone))) || !lstatSync(join(upper, made)).isFile())
      throw new Error('what was deleted in a layer is still seen')
  } finally {
    await removeFolder(folder)
    await removeFolder(below)
  }
}

/** Rejects mount points in the workspace: an overlay shows the folder underneath, not what is mounted there. @throws LayerError */
export function checkMounts(workspace: string, mountinfo = readFileSync('/proc/self/mountinfo', 'utf8')): void {
  const points = mountinfo
    .split('\n')
    .map((line) => (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))))
  // The bytes were read as UTF-8; escapes (for blanks, line breaks and backslashes) are ASCII.
  const inside = points.find((point) => point !== workspace && isWithin(workspace, point))
  if (inside !== undefined) throw new LayerError('unsupported', `${inside} in the workspace is a mount point, which a layer would hide`)
}

export type SpareLayer = ReturnType<typeof createSpareLayer>

/**
 * Prepares a layer before there is a command for it, mounted by a waiting shell, because creating and mounting it takes
 * milliseconds.
 *
 * @param at the mount point
 */
export function createSpareLayer(store: string, workspace: string, at: string) {
  let spare: ReturnType<typeof make> | undefined
  let last: string | undefined

  const make = (privateRoot: string) => ({
    // Identifies the folders the mount was made over.
    over: identity(workspace, privateRoot),
    overlay: { folder: makeLayer(store, workspace, privateRoot), at, hasPrivate: true } satisfies Overlay,
    privateRoot,
  })
  const drop = async () => {
    const unused = spare
    spare = undefined
    if (unused) await removeLayer(unused.overlay.folder)
  }
  /** Checks that the layer still exists and fits: the system may clean up folders that are unused for days. */
  const fits = (one: ReturnType<typeof make>, privateRoot: string): boolean =>
    one.privateRoot === privateRoot && one.over === identity(workspace, privateRoot) && isUnused(one.overlay.folder)
  return {
    /** Creates the next layer. @returns shell commands that mount it; undefined if no layer has been requested yet */
    ahead: (): string | undefined => {
      void drop()
      if (last === undefined) return undefined
      try {
        spare = make(last)
        markUnused(spare.overlay.folder)
        return mounting(spare.overlay)
      } catch {
        // The error is reported when there is a command for it.
        return undefined
      }
    },
    /** Returns the spare layer, or a new one if the spare no longer fits. */
    take: (privateRoot: string): Overlay => {
      last = privateRoot
      if (spare && !fits(spare, privateRoot)) void drop()
      if (spare) markUsed(spare.overlay.folder)
      const { overlay } = spare ?? make(privateRoot)
      spare = undefined
      return overlay
    },
    close: drop,
  }
}

/**
 * Identifies the mounted folders. A mount keeps showing the original folders even after others replaced them, and its root keeps
 * their owner and mode.
 */
const identity = (workspace: string, privateRoot: string): string =>
  [workspace, privateRoot].map((one) => says(statSync(one, { bigint: true }))).join()
/** Includes the creation time, because the inode number of a deleted folder is reused. */
const says = ({ dev, ino, birthtimeNs, mode, uid, gid }: BigIntStats): string => [dev, ino, birthtimeNs, mode, uid, gid].join(':')
