/** Forgetting old turns, so that the store does not grow for ever. */
import type { DiskBlobs } from './blobs.ts'
import type { Entry, Journal } from './journal.ts'
import type { Step } from './step.ts'

export interface Retention {
  /** Turns that are kept. */
  readonly turns: number
  /** Bytes of contents that are kept, as far as that is more than one turn. */
  readonly bytes: number
}

export const DEFAULT_RETENTION: Retention = { turns: 100, bytes: 2 * 1024 ** 3 }

export async function prune(journal: Journal, blobs: DiskBlobs, retention: Retention): Promise<void> {
  const entries = await journal.list('done')
  const old = tooOld(entries, retention)
  if (old.length === 0) return
  // The latest first: should it end half way, what is left of a turn is its beginning, which is removed the next time.
  for (const { name } of old.toReversed()) await journal.remove(name)
  const rest = [
    ...(await journal.list('done')).map(({ name }) => ['done', name] as const),
    ...(await journal.list('pending')).map(({ name }) => ['pending', name] as const),
  ]
  const changesets = await Promise.all(rest.map(([of, name]) => journal.read(of, name)))
  await blobs.retain(new Set(changesets.flatMap((changeset) => changeset?.steps.flatMap(hashesOf) ?? [])))
}

/** @param entries oldest first */
export function tooOld(entries: readonly Entry[], { turns, bytes }: Retention): readonly Entry[] {
  const groups = new Map<string, number>()
  for (const { group, bytes: size } of entries.toReversed()) groups.set(group, (groups.get(group) ?? 0) + size)
  const kept = new Set<string>()
  let total = 0
  for (const [group, size] of groups) {
    total += size
    if (kept.size > 0 && (kept.size >= turns || total > bytes)) break
    kept.add(group)
  }
  return entries.filter(({ group }) => !kept.has(group))
}

const hashesOf = (step: Step): readonly string[] =>
  step.kind === 'set' ? [step.before, step.after].flatMap((state) => (state.kind === 'file' ? [state.hash] : [])) : []
