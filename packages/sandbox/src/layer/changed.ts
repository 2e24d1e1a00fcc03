/** The changes of one upper folder: of a command's layer, of one that waits, or of a session's private layer. */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { compare, hashOf } from './compare.ts'
import { mergeIgnored } from './private-layer.ts'
import { createTree } from './read.ts'
import { type ChangeLimits, scan } from './scan.ts'
import { removeLayer } from './store.ts'
import { type Changed, type ChangeSet, type Ignored, LayerError } from './types.ts'

/** Files and folders that a layer may change. */
export const MAX_ENTRIES = 100_000

export interface ChangedOptions {
  /** Holds `upper` and `lower`, and `private` where there is a private layer. */
  readonly folder: string
  readonly workspace: string
  readonly privateRoot: string | undefined
  readonly ignored: Ignored
  readonly masks: readonly string[]
  readonly protect: readonly string[]
  readonly limits: ChangeLimits
}

export function openChanged({ folder, workspace, privateRoot, ignored, masks, protect, limits }: ChangedOptions): Changed {
  const root = join(folder, 'upper')
  const upper = createTree(root, true)
  const lower = createTree(workspace, false)
  const between = privateRoot === undefined ? undefined : createTree(privateRoot, true)
  const overlay = { folder, at: workspace, hasPrivate: privateRoot !== undefined }
  const scanned = async () => {
    if (!(await lstat(root).catch(() => undefined))?.isDirectory()) throw new LayerError('gone', 'the layer is not there any more')
    return scan({ upper, lower, between, overlay, ignored, masks, limits })
  }
  return {
    changes: async (): Promise<ChangeSet> => {
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
