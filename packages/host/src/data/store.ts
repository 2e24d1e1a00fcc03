/** The sessions on this machine. */
import { openStore, type Store } from '@mulligan/agent'
import { damagedHint, UsageError } from '../common/errors.ts'
import type { DataPaths } from '../common/paths.ts'

/** @throws UsageError */
export async function openStoreAt({ store }: Pick<DataPaths, 'store'>): Promise<Store> {
  try {
    return await openStore(store)
  } catch (error) {
    throw new UsageError(
      `the store ${store} can't be opened: ${(error as Error).message}`,
      damagedHint(error) ?? 'Set MULLIGAN_DATA_DIR to another folder, or move the file away.',
    )
  }
}
