/** What became of the turns that were killed, by the instant. */
import type { Fate } from './fate.fixture.ts'

export interface Bar {
  readonly instant: string
  readonly turns: number
  /** Turns that ended as if nothing had been. */
  readonly whole: number
  /** Turns with a write that was reported as cut off. */
  readonly reported: number
  readonly doubled: number
}

/** The instants, in the order of a turn. */
const ORDER = ['nothing', 'session.created', 'turn.started', 'message', 'usage', 'finish-step', 'tool', 'turn.waiting']
const placeOf = (instant: string): number => ORDER.findIndex((one) => instant.startsWith(one))

export function histogram(fates: readonly Fate[]): readonly Bar[] {
  const groups = Map.groupBy(fates, ({ instant }) => instant ?? 'ended already')
  return [...groups]
    .map(([instant, all]) => ({
      instant,
      turns: all.length,
      whole: all.filter(({ reported }) => reported === 0).length,
      reported: all.filter(({ reported }) => reported > 0).length,
      doubled: all.filter(({ doubled }) => doubled > 0).length,
    }))
    .toSorted((a, b) => placeOf(a.instant) - placeOf(b.instant) || a.instant.localeCompare(b.instant))
}

export const problemsOf = (fates: readonly Fate[]): readonly string[] => [...new Set(fates.flatMap(({ problems }) => problems))]
