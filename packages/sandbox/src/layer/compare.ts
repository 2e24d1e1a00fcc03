/** From what is in a layer and in the workspace to the change set. Pure. */
import { createHash } from 'node:crypto'
import type { Change, Entry } from './types.ts'

export interface Sides {
  /** In the workspace: what the layer touches, and all of what it deletes. */
  readonly before: ReadonlyMap<string, Entry>
  /** In the layer. */
  readonly after: ReadonlyMap<string, Entry>
  /** Further paths that are loaded as code outside of the sandbox. */
  readonly protect: readonly string[]
}

/** Writing the same bytes and the same mode is not a change. */
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

/** By code units: the same everywhere, and a folder before what is in it. */
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

/** Compared without case: on some disks `.GIT/config` is the same file. */
export function isProtected(path: string, protect: readonly string[]): boolean {
  const lower = path.toLowerCase()
  const within = (folder: string) => lower === folder || lower.startsWith(`${folder}/`)
  return OF_GIT.test(lower) || ['.mulligan', 'mulligan.json', ...protect.map((one) => one.toLowerCase())].some(within)
}

/** Times are left out: they differ without a difference. */
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
