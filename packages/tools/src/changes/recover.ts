import type { Blobs } from './blobs.ts'
import type { Journal } from './journal.ts'
import { isAlive } from './owner.ts'
import { type Restored, rollBack } from './perform.ts'
import type { Changeset } from './record.ts'

/** Plans that a process left half done and that it can't go on with, the latest first. */
export async function deadPlans(journal: Journal): Promise<readonly (readonly [name: string, plan: Changeset])[]> {
  const dead: (readonly [string, Changeset])[] = []
  for (const { name } of (await journal.list('pending')).toReversed()) {
    const changeset = await journal.read('pending', name)
    // One that can't be read can't have been begun: a plan has its name only once all of it is on disk.
    if (changeset && !isAlive(changeset.owner, changeset.at)) dead.push([name, changeset])
  }
  return dead
}

/** Takes them back. */
export async function recoverAll(root: string, journal: Journal, blobs: Blobs): Promise<Restored> {
  const restored: string[] = []
  const left: string[] = []
  for (const [name, { steps }] of await deadPlans(journal)) {
    const outcome = await rollBack(root, steps, blobs)
    await journal.abandon(name)
    restored.push(...outcome.restored)
    left.push(...outcome.left)
  }
  return { restored, left }
}
