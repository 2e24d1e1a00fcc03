/** Groups changesets by turn: which changes of each turn are in effect, and which were undone. */
import type { Changeset, Entry } from './journal.ts'
import { netChanges } from './net.ts'
import { inverse, type Step } from './state.ts'

export interface TurnRecord {
  /** `session/turn`. */
  readonly turn: string
  /** Time of its first change in milliseconds since 1970. */
  readonly at: number
  /** Steps that are in effect, in order. */
  readonly present: readonly Step[]
  /** Steps that were undone and can be redone. */
  readonly taken: readonly Step[]
  /** Position, among all changesets, of the first one whose changes are in effect, or of the one that undid them. */
  readonly since: number
  /** Position of its latest changeset. */
  readonly position: number
  /** Whether part of its record can't be read. */
  readonly damaged: boolean
}

/** @param entries oldest first; the changeset is undefined if its record can't be read */
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

/** Returns true if the turn is fully undone. The rest of a partly undone turn can still be undone. */
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

/** The id of the turn that a group in the journal belongs to. */
export function readableGroup(group: string): string {
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
      // After an undo, only the new changes of the turn are in effect.
      return { ...base, present: [...present, ...steps], taken: [], since: present.length > 0 ? since : position }
  }
}
