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
  /** What of it is in the tree, in order. */
  readonly present: readonly Step[]
  /** What of it was taken back, and can be made again. */
  readonly taken: readonly Step[]
  /** The position among all of the first changeset whose changes are in the tree, or of the one that took them back. */
  readonly since: number
  /** The position of its latest changeset. */
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
    .filter(({ present, taken, damaged }) => damaged || netChanges(present).length > 0 || netChanges(taken).length > 0)
    .sort((a, b) => a.position - b.position)
}

/** Of one that is undone in part, what is left of it can be undone too. */
export const isUndone = ({ present, taken }: TurnRecord): boolean => taken.length > 0 && netChanges(present).length === 0

const unreadable = ({ group, name }: Entry): TurnRecord => ({
  turn: readableGroup(group),
  at: Number.parseInt(name, 10),
  present: [],
  taken: [],
  since: 0,
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

function added(known: TurnRecord | undefined, changeset: Changeset, position: number): TurnRecord {
  const { kind, turn, at, steps, left = [] } = changeset
  const { present = [], taken = [], since = position } = known ?? {}
  const base = { turn, at: known?.at ?? at, position, damaged: known?.damaged ?? false }
  switch (kind) {
    case 'undo':
      return { ...base, present: left, taken: [...inverse(steps), ...taken], since: left.length > 0 ? since : position }
    case 'redo':
      return { ...base, present: [...present, ...steps], taken: left, since: present.length > 0 ? since : position }
    case 'call':
      // What a turn does after it was taken back is all that is in the tree of it.
      return { ...base, present: [...present, ...steps], taken: [], since: present.length > 0 ? since : position }
  }
}
