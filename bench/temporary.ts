import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type Store } from '@mulligan/agent'

/** Runs `work` with a store in a file of its own, which is gone afterwards. */
export async function withFileStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  const store = await openStore(join(folder, 'store.db'))
  try {
    return await work(store)
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
