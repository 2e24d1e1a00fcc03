/** Which lines of a new text are lines of the old one. Pure. */
import { diffArrays } from 'diff'

/** A stretch of lines, in the old text and in the new one. */
export interface Stretch {
  readonly same: boolean
  /** The first line of each, from 0. */
  readonly old: number
  readonly next: number
  readonly oldCount: number
  readonly nextCount: number
}

/** Past this many changed lines the search for the smallest difference is not worth its time. */
const MAX_CHANGED_LINES = 1000

/** What is the same at both ends is matched first: of lines that are equal, those stay that the edit plainly leaves. */
export function align(old: readonly string[], next: readonly string[]): Stretch[] {
  const most = Math.min(old.length, next.length)
  let head = 0
  while (head < most && old[head] === next[head]) head++
  let tail = 0
  while (tail < most - head && old.at(-1 - tail) === next.at(-1 - tail)) tail++
  const stretches: Stretch[] = []
  let [from, to] = [0, 0]
  const add = (same: boolean, oldCount: number, nextCount: number): void => {
    const last = stretches.at(-1)
    if (last && last.same === same)
      stretches[stretches.length - 1] = { ...last, oldCount: last.oldCount + oldCount, nextCount: last.nextCount + nextCount }
    else if (oldCount + nextCount > 0) stretches.push({ same, old: from, next: to, oldCount, nextCount })
    from += oldCount
    to += nextCount
  }
  add(true, head, head)
  const [before, after] = [old.slice(head, old.length - tail), next.slice(head, next.length - tail)]
  const parts = diffArrays(before, after, { maxEditLength: MAX_CHANGED_LINES })
  if (!parts) add(false, before.length, after.length)
  for (const { added, removed, count } of parts ?? []) add(!added && !removed, added ? 0 : count, removed ? 0 : count)
  add(true, tail, tail)
  return stretches
}
