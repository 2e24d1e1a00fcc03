/** Watches the free space of the disks that a command can write to. There is no quota that an ordinary user could set. */
import { statfs } from 'node:fs/promises'

/** Milliseconds between two looks. */
const INTERVAL = 250
/** Bytes: below, a command that made the disk shrink is ended, whatever its limit. */
export const RESERVE = 64 * 1024 * 1024

/** Free bytes of the disk a folder is on. */
export type FreeSpace = (folder: string) => Promise<number>

const freeSpace: FreeSpace = async (folder) => {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** @param onFull called once, when the free space of a folder's disk fell by more than `limit` bytes */
export function watchDisk(
  folders: readonly string[],
  limit: number,
  onFull: (reason: 'disk') => void,
  free: FreeSpace = freeSpace,
): { readonly close: () => void } {
  const before = new Map<string, number>()
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    for (const folder of folders) {
      const now = await free(folder).catch(() => undefined)
      if (now === undefined) continue
      const first = before.get(folder) ?? now
      before.set(folder, first)
      if (isFull(first, now, limit)) onFull('disk')
    }
    isLooking = false
  }
  void look()
  const timer = setInterval(() => void look(), INTERVAL)
  return { close: () => clearInterval(timer) }
}

/** Others write to the same disk: a small loss next to an old shortage is not this command's. */
export const isFull = (before: number, now: number, limit: number): boolean =>
  before - now > limit || (now < RESERVE && before - now > RESERVE / 4)
