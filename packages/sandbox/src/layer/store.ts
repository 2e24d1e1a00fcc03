/** Where layers lie: folders of the person's own, outside of the workspace. */
import { createHash, randomUUID } from 'node:crypto'
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, statSync, symlinkSync, unlinkSync } from 'node:fs'
import { chmod, lstat, open, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { removeFolder } from '../folders.ts'
import { isGone, owner } from '../owner.ts'
import { runProgram, systemProgram } from '../program.ts'
import type { ChangeLimits } from './scan.ts'

const LAYER = /^(?:layer|gone)-([\d-]+)-[^-]{6}$/
const GONE = 'gone-'
/** In a layer that no command was given yet. */
const UNUSED = 'unused'
const SESSION = 'session-'
const MANIFEST = 'manifest.json'

/** Written when a layer waits for a decision. One without is a command's that still runs, or was cut off. */
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

/** In this order; the first on which an overlay really works is taken. */
export function candidates(asked: string | undefined, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const uid = process.getuid?.() ?? 0
  const state = env['XDG_STATE_HOME']
  const home = state && isAbsolute(state) ? state : join(env['HOME'] && isAbsolute(env['HOME']) ? env['HOME'] : homedir(), '.local/state')
  const all =
    asked === undefined
      ? [join(home, 'mulligan/layers'), `/var/tmp/mulligan-layers-${uid}`, join(tmpdir(), `mulligan-layers-${uid}`)]
      : [asked]
  return [...new Set(all)]
}

/** Ours alone: who could write there could make a command's file the person's. @throws Error */
export function makeStore(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (!found.isDirectory() || found.uid !== process.getuid?.()) throw new Error(`${folder} is not your folder`)
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
}

/** Synchronous: it is four calls on the way to a command. */
export function makeLayer(store: string, workspace: string, privateRoot: string | undefined): string {
  const folder = mkdtempSync(join(store, `layer-${owner()}-`))
  makeUpper(folder, workspace)
  mkdirSync(join(folder, 'work'))
  if (privateRoot !== undefined) symlinkSync(privateRoot, join(folder, 'private'))
  return folder
}

export const markUnused = (folder: string): void => symlinkSync('.', join(folder, UNUSED))
export const isUnused = (folder: string): boolean => existsSync(join(folder, UNUSED))
export const markUsed = (folder: string): void => unlinkSync(join(folder, UNUSED))

/** It is out of the way at once. @returns when all that was in it is removed */
export async function removeLayer(folder: string): Promise<void> {
  const gone = join(dirname(folder), `${GONE}${owner()}-${randomUUID().slice(-6)}`)
  try {
    renameSync(folder, gone)
  } catch {
    return
  }
  // What a volatile mount leaves, in folders that nobody may enter.
  if (process.getuid?.() !== 0)
    for (const name of ['work/work', 'work/work/incompat', 'work/work/incompat/volatile'])
      await chmod(join(gone, name), 0o700).catch(() => {})
  await removeFolder(gone)
}

/** The root of a merged view has the mode and the owner of the upper one. */
function makeUpper(folder: string, workspace: string): void {
  const upper = join(folder, 'upper')
  const { mode, uid, gid } = statSync(workspace)
  mkdirSync(upper)
  if (process.getuid?.() === 0) chownSync(upper, uid, gid)
  chmodSync(upper, mode & 0o7777)
  symlinkSync(workspace, join(folder, 'lower'))
}

/** Of all layers of a session on a workspace; `upper` in it is the private layer. */
export const sessionFolder = (store: string, workspace: string, session: string): string =>
  join(store, SESSION + createHash('sha256').update(`${workspace}\0${session}`).digest('hex').slice(0, 32))

export function makeSession(folder: string, workspace: string): string {
  const upper = join(folder, 'upper')
  if (lstatSync(upper, { throwIfNoEntry: false })?.isDirectory()) return upper
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  makeUpper(folder, workspace)
  return upper
}

/** For a sandbox without a session: gone with it. */
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

/** All that a command wrote, which its volatile mount did not: a layer that waits outlives a crash of the machine. */
export const syncLayer = async (folder: string): Promise<void> => {
  await runProgram(systemProgram('sync') ?? '/usr/bin/sync', ['-f', folder])
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  await file.sync().finally(() => file.close())
}

export async function readManifest(folder: string): Promise<Manifest | undefined> {
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

/** Removes what was cut off, and tells what waits. Another process may be doing the same. */
export async function sweepLayers(store: string): Promise<{ readonly waiting: readonly Found[]; readonly discarded: number }> {
  const waiting: Found[] = []
  let discarded = 0
  for (const id of await readdir(store).catch(() => [])) {
    const label = LAYER.exec(id)?.[1]
    if (label === undefined) continue
    const folder = join(store, id)
    const found = await lstat(folder).catch(() => undefined)
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue
    // One that is being removed may still have its manifest.
    const manifest = id.startsWith(GONE) ? undefined : await readManifest(folder)
    if (manifest) waiting.push({ id, folder, manifest })
    else if (isGone(label)) {
      if (!id.startsWith(GONE) && !isUnused(folder)) discarded++
      await removeFolder(folder)
    }
  }
  return { waiting, discarded }
}
