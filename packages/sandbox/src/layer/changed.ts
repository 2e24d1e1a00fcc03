/** Computes the changes recorded in one upper folder: a command's layer, a waiting layer or a session's private layer. */
import { createHash } from 'node:crypto'
import { lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { mergeIgnored } from './private-layer.ts'
import { createTree } from './read.ts'
import { type Scanned, scan } from './scan.ts'
import { candidates, type Found, type ListOptions, type Manifest, removeLayer, sweepLayers } from './store.ts'
import { type Change, type Changed, type Entry, type Ignored, LayerError, type WaitingLayer } from './types.ts'

/** The maximum number of files and folders a layer may change. */
export const MAX_ENTRIES = 100_000

export interface ChangedOptions extends Pick<Manifest, 'workspace' | 'masks' | 'protect' | 'limits'> {
  /** Contains `upper` and `lower`, plus `private` if there is a private layer. */
  readonly folder: string
  readonly privateRoot: string | undefined
  readonly ignored: Ignored
}

export function openChanged({ folder, workspace, privateRoot, ignored, masks, protect, limits }: ChangedOptions): Changed {
  const root = join(folder, 'upper')
  const upper = createTree(root, true)
  const lower = createTree(workspace, false)
  const between = privateRoot === undefined ? undefined : createTree(privateRoot, true)
  const overlay = { folder, at: workspace, hasPrivate: privateRoot !== undefined }
  const scanned = async () => {
    if (!(await lstat(root).catch(() => undefined))?.isDirectory()) throw new LayerError('gone', 'the layer no longer exists')
    return scan({ upper, lower, between, overlay, ignored, masks, limits })
  }
  return {
    changes: async () => {
      const { before, after, ignored: left } = await scanned()
      const changes = compare({ before, after, protect })
      const bytes = changes.reduce((sum, { after }) => sum + (after?.type === 'file' ? after.size : 0), 0)
      return { changes, ignored: left, hash: hashOf(changes), bytes }
    },
    open: upper.open,
    keepIgnored: async () => {
      if (privateRoot === undefined) return
      const { ignored: paths } = await scanned()
      await mergeIgnored({ upper: root, privateRoot, lower: workspace, overlay, paths })
    },
    discard: () => removeLayer(folder),
  }
}

/**
 * Lists layers that are waiting for a decision, including those from earlier processes. Also returns how many layers were removed
 * because their command was interrupted.
 *
 * @example
 * const { waiting } = await listLayers()
 * for (const layer of waiting) console.log(layer.workspace, (await layer.changes()).changes.length)
 */
export async function listLayers(
  options: ListOptions = {},
): Promise<{ readonly waiting: readonly WaitingLayer[]; readonly discarded: number }> {
  const swept = await Promise.all(candidates(options).map(sweepLayers))
  const waiting = await Promise.all(swept.flatMap((one) => one.waiting).map(open))
  return { waiting: waiting.sort((a, b) => a.since - b.since), discarded: swept.reduce((sum, one) => sum + one.discarded, 0) }
}

async function open({ id, folder, manifest }: Found): Promise<WaitingLayer> {
  const { workspace, session, hash, note, since } = manifest
  const known = new Set(manifest.ignored)
  // The private layer of a sandbox without a session was removed with the sandbox.
  const privateRoot = await realpath(join(folder, 'private')).catch(() => undefined)
  const ignored: Ignored = (paths) => paths.map(({ path }) => path).filter((path) => known.has(path))
  return { ...openChanged({ ...manifest, folder, privateRoot, ignored }), id, workspace, session, hash, note, since }
}

type Sides = Pick<Scanned, 'before' | 'after'> & Pick<Manifest, 'protect'>

/** Compares both sides. Rewriting the same bytes with the same mode is not a change. */
export function compare({ before, after, protect }: Sides): readonly Change[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort(byName)
  return paths.flatMap((path): readonly Change[] => {
    const [old, now] = [before.get(path), after.get(path)]
    const kind = kindOf(old, now)
    if (kind === undefined) return []
    const unsupported = now?.type === 'special' ? UNSUPPORTED[now.what] : undefined
    return [
      {
        path,
        kind,
        ...(old && { before: old }),
        ...(now && { after: now }),
        git: path.split('/').includes('.git'),
        protected: isProtected(path, protect),
        ...(unsupported !== undefined && { unsupported }),
      },
    ]
  })
}

const UNSUPPORTED = {
  fifo: 'a named pipe',
  socket: 'a socket',
  device: 'a device',
  name: 'its name is not valid UTF-8, or its path is too long',
} as const

/** Compares by code units, so the order is the same everywhere and a folder comes before its contents. */
export const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function kindOf(old: Entry | undefined, now: Entry | undefined): Change['kind'] | undefined {
  if (!old || !now) return now ? 'added' : 'deleted'
  if (old.type !== now.type) return 'modified'
  if (old.type === 'link') return old.target === (now as typeof old).target ? undefined : 'modified'
  if (old.type === 'special') return 'modified'
  if (old.type === 'file') {
    const file = now as typeof old
    if (old.sha256 === undefined || old.sha256 !== file.sha256) return 'modified'
    if (old.setuid !== file.setuid) return 'mode'
  }
  return old.mode === (now as typeof old).mode ? undefined : 'mode'
}

const OF_GIT =
  /(^|\/)\.git($|\/(config|config\.worktree|commondir|hooks|info\/attributes)($|\/)|\/(modules|worktrees)\/.*(config|config\.worktree|commondir|gitdir|hooks)($|\/))/

/** Ignores case: on some disks `.GIT/config` is the same file. */
export function isProtected(path: string, protect: readonly string[]): boolean {
  const lower = path.toLowerCase()
  const within = (folder: string) => lower === folder || lower.startsWith(`${folder}/`)
  return OF_GIT.test(lower) || ['.mulligan', 'mulligan.json', ...protect.map((one) => one.toLowerCase())].some(within)
}

/** Leaves out timestamps, which can differ without a real change. */
export function hashOf(changes: readonly Change[]): string {
  const hash = createHash('sha256')
  for (const { path, kind, before, after } of changes) hash.update(`${JSON.stringify([path, kind, stable(before), stable(after)])}\n`)
  return hash.digest('hex')
}

const stable = (entry: Entry | undefined): unknown => {
  if (!entry) return null
  if (entry.type === 'file') return ['file', entry.mode, entry.size, entry.sha256 ?? null, entry.setuid ?? false]
  if (entry.type === 'directory') return ['directory', entry.mode]
  return entry.type === 'link' ? ['link', entry.target] : ['special', entry.what]
}
