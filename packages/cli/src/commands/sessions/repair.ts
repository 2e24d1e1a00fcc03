/** `mulligan sessions repair`: a new store of what can be read of a damaged one. */
import { repairStore, type StoreRepair } from '@mulligan/agent'
import { safeJson, UsageError } from '@mulligan/host/light'
import { EXIT } from '../../exit.ts'
import { openDataDir } from '../../paths.ts'
import type { Output } from '../../ui/output.ts'
import { plural } from '../../ui/plural.ts'

export interface RepairFlags {
  readonly json?: boolean
}

/** @throws UsageError where there is nothing that can be read */
export async function repairSessions({ json }: RepairFlags, { out }: Output): Promise<number> {
  const { store } = openDataDir()
  const repaired = await repairStore(store).catch((error: unknown): never => {
    throw new UsageError(
      `the store ${store} can't be repaired: ${(error as Error).message}`,
      'Close every mulligan that is running, or move the file away: a new one is made with the next session.',
    )
  })
  out(json ? `${safeJson(repaired)}\n` : told(repaired))
  return EXIT.ok
}

function told({ saved: { sessions, messages, calls }, damaged, kept }: StoreRepair): string {
  const what = `${plural(sessions, 'session')}, ${plural(messages, 'message')} and ${plural(calls, 'call')}`
  const lost = damaged.length === 0 ? 'All of it could be read.' : `A part of these tables could not be read: ${damaged.join(', ')}.`
  return `Saved ${what}. ${lost}\nThe file as it was: ${kept}\n`
}
