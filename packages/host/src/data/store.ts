/** The sessions on this machine. */
import { existsSync } from 'node:fs'
import { openStore, type Store } from '@mulligan/agent'
import { damagedHint, UsageError } from '../common/errors.ts'
import type { DataPaths } from '../common/paths.ts'
import { changing } from '../common/write.ts'

/** @throws UsageError */
export async function openStoreAt({ store }: Pick<DataPaths, 'store'>): Promise<Store> {
  const isThere = existsSync(store) && !existsSync(`${store}.lock`)
  try {
    // Of two that open it for the first time, one makes the tables. SQLite's own wait would stop the other one's process, and itself with it.
    return await (isThere ? openStore(store) : changing(store, () => openStore(store)))
  } catch (error) {
    throw new UsageError(
      `the store ${store} can't be opened: ${(error as Error).message}`,
      damagedHint(error) ?? 'Set MULLIGAN_DATA_DIR to another folder, or move the file away.',
    )
  }
}
