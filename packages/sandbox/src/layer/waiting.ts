/** Layers that wait for a decision, after a restart too. */
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { openChanged } from './changed.ts'
import { candidates, type Found, sweepLayers } from './store.ts'
import type { WaitingLayer } from './types.ts'

export interface ListOptions {
  /** Default: where sandboxes of this user put them. */
  readonly stateFolder?: string
  /** Default `process.env`. */
  readonly hostEnv?: Readonly<Record<string, string | undefined>>
}

/**
 * Layers that wait, and how many were removed because the command in them was cut off.
 *
 * @example
 * const { waiting } = await listLayers()
 * for (const layer of waiting) console.log(layer.workspace, (await layer.changes()).changes.length)
 */
export async function listLayers({
  stateFolder,
  hostEnv = process.env,
}: ListOptions = {}): Promise<{ readonly waiting: readonly WaitingLayer[]; readonly discarded: number }> {
  const swept = await Promise.all(candidates(stateFolder, hostEnv).map(sweepLayers))
  const waiting = await Promise.all(swept.flatMap((one) => one.waiting).map(open))
  return { waiting: waiting.sort((a, b) => a.since - b.since), discarded: swept.reduce((sum, one) => sum + one.discarded, 0) }
}

async function open({ id, folder, manifest }: Found): Promise<WaitingLayer> {
  const { workspace, session, hash, note, since, masks, protect, limits } = manifest
  const known = new Set(manifest.ignored)
  // That of a sandbox without a session went with it.
  const privateRoot = await realpath(join(folder, 'private')).catch(() => undefined)
  const ignored = (paths: readonly { readonly path: string }[]) => paths.map(({ path }) => path).filter((path) => known.has(path))
  const changed = openChanged({ folder, workspace, privateRoot, ignored, masks, protect, limits })
  return { ...changed, id, workspace, session, hash, note, since }
}
