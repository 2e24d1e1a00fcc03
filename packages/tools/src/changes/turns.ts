/** Changesets as turns: what of each turn is in the tree, and what was taken back. */
import type { Entry } from './journal.ts'
import { netChanges } from './net.ts'
import type { Changeset } from './record.ts'
import { inverse, type Step } from './step.ts'

export interface TurnRecord {
  /** `session/turn`. */
  readonly turn: string
  /** Milliseconds since 1970, of its first change. */
  readonly at: number
  /** What it changed, in order. */
  readonly steps: readonly Step[]
  readonly undone: boolean
  /** The position of its latest changeset among all. */
  readonly position: number
  /** A part of its record can't be read. */
  readonly damaged: boolean
}

/** @param entries oldest first; undefined for a record that can't be read */
export function turnsOf(entries: readonly { readonly entry: Entry; readonly changeset: Changeset | undefined }[]): readonly TurnRecord[] {
  const groups = new Map<string, TurnRecord>()
  for (const [position, { entry, changeset }] of entries.entries()) {
    const known = groups.get(entry.group)
    if (changeset) groups.set(entry.group, added(known, changeset, position))
    else groups.set(entry.group, { ...(known ?? unreadable(entry)), position, damaged: true })
  }
  return [...groups.values()]
    .filter(({ steps, damaged }) => damaged || netChanges(steps).length > 0)
    .sort((a, b) => a.position - b.position)
}

const unreadable = ({ group, name }: Entry): TurnRecord => ({
  turn: readableGroup(group),
  at: Number.parseInt(name, 10),
  steps: [],
  undone: false,
  position: 0,
  damaged: true,
})

function readableGroup(group: string): string {
  try {
    return decodeURIComponent(group)
  } catch {
    return group
  }
}

function added(known: TurnRecord | undefined, { kind, turn, at, steps }: Changeset, position: number): TurnRecord {
  const base = { turn, at: known?.at ?? at, position, damaged: known?.damaged ?? false }
  switch (kind) {
    case 'undo':
      return { ...base, steps: inverse(steps), undone: true }
    case 'redo':
      return { ...base, steps, undone: false }
    case 'call':
      // What a turn does after it was taken back is all that is in the tree of it.
      return { ...base, steps: known && !known.undone ? [...known.steps, ...steps] : steps, undone: false }
  }
}
