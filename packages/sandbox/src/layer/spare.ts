/** A layer that is made, and mounted by a shell that waits, before there is a command for it: making and mounting it takes milliseconds. */
import { type BigIntStats, statSync } from 'node:fs'
import { mounting, type Overlay } from './mount.ts'
import { isUnused, makeLayer, markUnused, markUsed, removeLayer } from './store.ts'

export interface SpareLayer {
  /** Makes the next layer. @returns shell commands that mount it; undefined if nobody has asked for a layer yet */
  readonly ahead: () => string | undefined
  /** The spare layer, or a new one where that no longer fits. */
  readonly take: (privateRoot: string) => Overlay
  readonly close: () => Promise<void>
}

interface Spare {
  readonly overlay: Overlay
  readonly privateRoot: string
  /** What its mount was made over. */
  readonly over: string
}

/** @param at where it is mounted */
export function createSpareLayer(store: string, workspace: string, at: string): SpareLayer {
  let spare: Spare | undefined
  let last: string | undefined

  const make = (privateRoot: string): Spare => ({
    over: identity(workspace, privateRoot),
    overlay: { folder: makeLayer(store, workspace, privateRoot), at, hasPrivate: true },
    privateRoot,
  })
  const drop = async () => {
    const unused = spare
    spare = undefined
    if (unused) await removeLayer(unused.overlay.folder)
  }
  /** Folders that are not used for days may be swept by the system. */
  const fits = (one: Spare, privateRoot: string): boolean =>
    one.privateRoot === privateRoot && one.over === identity(workspace, privateRoot) && isUnused(one.overlay.folder)
  return {
    ahead: () => {
      void drop()
      if (last === undefined) return undefined
      try {
        spare = make(last)
        markUnused(spare.overlay.folder)
        return mounting(spare.overlay)
      } catch {
        // Told when there is a command for it.
        return undefined
      }
    },
    take: (privateRoot) => {
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

/** A mount shows the folders that it was made of, also where others have come in their places since; its root keeps their owner and mode. */
const identity = (workspace: string, privateRoot: string): string =>
  [workspace, privateRoot].map((one) => says(statSync(one, { bigint: true }))).join()
/** The number of a folder that is gone is given to the next one; when it was made tells them apart. */
const says = ({ dev, ino, birthtimeNs, mode, uid, gid }: BigIntStats): string => [dev, ino, birthtimeNs, mode, uid, gid].join(':')
