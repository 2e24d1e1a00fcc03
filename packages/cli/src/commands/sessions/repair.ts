/** `mulligan sessions repair`: a new store of what can be read of a damaged one. */
import { isPostgresUrl, NoStore, repairStore, type StoreRepair } from '@mulligan/agent'
import { safeJson, UsageError } from '@mulligan/host/light'
import { storePlace } from '@mulligan/host/parts'
import { EXIT } from '../../exit.ts'
import { openDataDir } from '../../paths.ts'
import type { Output } from '../../ui/output.ts'
import { plural } from '../../ui/plural.ts'

export interface RepairFlags {
  readonly json?: boolean
}

/** @throws UsageError where there is nothing that can be read */
export async function repairSessions({ json }: RepairFlags, { out }: Output): Promise<number> {
  const { place: store } = storePlace(openDataDir(), process.env)
  if (isPostgresUrl(store))
    throw new UsageError(
      'the sessions are kept in PostgreSQL, and this repairs only files',
      'Restore a backup of the database: pg_restore.',
    )
  const repaired = await repairStore(store).catch((error: unknown): never => {
    throw new UsageError(
      `the store ${store} can't be repaired: ${(error as Error).message}`,
      error instanceof NoStore
        ? 'There is nothing to repair: the first session makes a store. If there was one, MULLIGAN_DATA_DIR may name another folder than before.'
        : 'Close every mulligan that is running, or move the file away: a new one is made with the next session.',
    )
  })
  out(json ? `${safeJson(repaired)}\n` : told(repaired))
  return EXIT.ok
}

function told({ saved: { sessions, turns }, restored, damaged, kept }: StoreRepair): string {
  const what = `${plural(sessions, 'session')} and ${plural(turns, 'turn')}`
  const lost = damaged.length === 0 ? 'All of it could be read.' : `A part of these tables could not be read: ${damaged.join(', ')}.`
  const rows = Object.values(restored).reduce((sum, count) => sum + count, 0)
  const read = kept === undefined ? 'There was no store any more.' : lost
  const backup = rows === 0 ? '' : ` From the backup: ${plural(rows, 'row')}.`
  return `Saved ${what}. ${read}${backup}\n${kept === undefined ? '' : `The file as it was: ${kept}\n`}`
}
