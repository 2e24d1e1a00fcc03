/**
 * Mount points in a folder that commands may write to.
 *
 * With a mount on `~/.local/share/uv`, one command could rename `~/.local` and put a link in its place, and the next one's mount would
 * follow that link to wherever it leads on the host. A mount point can't be renamed by those who see it as one: so each folder on
 * the way to it becomes one too.
 */
import { dirname, join, relative } from 'node:path'
import { isWithin } from '../paths.ts'
import type { Mount } from './view.ts'

/** The same mounts, with what has to be mounted before each to hold it in its place. Pure. */
export function pinned(mounts: readonly Mount[]): readonly Mount[] {
  const done: Mount[] = []
  for (const mount of mounts) {
    done.push(...pinsOf(mount, done), mount)
  }
  return done
}

function pinsOf(mount: Mount, before: readonly Mount[]): readonly Mount[] {
  const under = lies(mount.target, before)
  if (!under || under.mode === 'read-only') return []
  const pins: Mount[] = []
  for (let folder = dirname(mount.target); folder !== under.target && isWithin(under.target, folder); folder = dirname(folder)) {
    pins.unshift({ source: join(under.source, relative(under.target, folder)), target: folder, mode: 'read-write' })
  }
  return pins
}

/** The mount that a mount point is in, that is, whose folder it is made in. */
export const lies = (target: string, mounts: readonly Mount[]): Mount | undefined =>
  mounts.findLast((one) => one.target !== target && isWithin(one.target, target))
