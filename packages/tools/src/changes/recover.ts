import type { Blobs } from './blobs.ts'
import type { Journal } from './journal.ts'
import { isAlive } from './owner.ts'
import { type Restored, rollBack } from './perform.ts'

/** Takes back every plan whose process is gone, the latest first. */
export async function recoverAll(root: string, journal: Journal, blobs: Blobs): Promise<Restored> {
  const restored: string[] = []
  const left: string[] = []
  for (const { name } of (await journal.list('pending')).toReversed()) {
    const changeset = await journal.read('pending', name)
    // It can't have been begun: a plan has its name only once all of it is on disk.
    if (!changeset || isAlive(changeset.owner, changeset.at)) continue
    const outcome = await rollBack(root, changeset.steps, blobs)
    await journal.abandon(name)
    restored.push(...outcome.restored)
    left.push(...outcome.left)
  }
  return { restored, left }
}
