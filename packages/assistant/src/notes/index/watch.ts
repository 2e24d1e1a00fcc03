/** Watches the folders of a vault, so that a search need not look at every file. */
import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'

export interface Watcher {
  /** Watches a folder, before it is listed. */
  readonly add: (folder: string) => void
  /** Returns the paths that may have changed since the last time; undefined if that is not known. */
  readonly take: () => Promise<readonly string[] | undefined>
  readonly close: () => void
}

/** From this many changes on, looking at all files is faster. */
const MAX_CHANGES = 2000

/** @param root the vault; folders and paths are relative to it */
export function watchFolders(root: string): Watcher {
  const watched = new Map<string, FSWatcher>()
  let changed = new Set<string>()
  /** Set if changes may have been missed: the system allows no more watches, or there were too many changes. */
  let blind = false

  const drop = (folder: string): void => {
    watched.get(folder)?.close()
    watched.delete(folder)
  }

  return {
    add(folder) {
      if (blind || watched.has(folder)) return
      try {
        const watcher = watch(join(root, folder), { persistent: false }, (_, name) => {
          if (name === null || changed.size > MAX_CHANGES) blind = true
          else changed.add(folder === '' ? name : `${folder}/${name}`)
        })
        watcher.on('error', () => {
          // The folder is gone, or can't be watched; its parent tells the former.
          drop(folder)
          changed.add(folder)
        })
        watched.set(folder, watcher)
      } catch {
        blind = true
      }
    },
    async take() {
      // Lets the event loop deliver what the system has noticed.
      for (let round = 0; round < 2; round++) await new Promise((resolve) => setImmediate(resolve))
      if (blind) {
        for (const folder of [...watched.keys()]) drop(folder)
        blind = false
        changed = new Set()
        return undefined
      }
      const taken = [...changed]
      changed = new Set()
      for (const path of taken) drop(path)
      return taken
    },
    close() {
      for (const folder of [...watched.keys()]) drop(folder)
    },
  }
}
