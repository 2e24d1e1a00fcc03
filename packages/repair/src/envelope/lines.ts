/** Lines and fences of a text, for positions that only grow: every character is looked at once. */
import { OUTSIDE, type Place, placeAfter } from './place.ts'

const MAX_FENCE_LINE = 200

export interface Lines {
  /** Where the line of `at` begins. */
  readonly startOf: (at: number) => number
  /** Which fence is open at `at`. */
  readonly placeAt: (at: number) => Place
  /** What stands before `at` is thinking: a new text begins there. */
  readonly restart: (at: number) => void
  /** Where the present text began. */
  readonly floor: () => number
}

/** @param before the place at `from`, where a line begins */
export function linesOf(text: string, before: Place = OUTSIDE, from = 0): Lines {
  let start = from
  let next = text.indexOf('\n', from)
  let place = before
  let placed = from
  let floor = 0

  function startOf(at: number): number {
    while (next !== -1 && next < at) {
      start = next + 1
      next = text.indexOf('\n', start)
    }
    return start
  }

  function placeAt(at: number): Place {
    const line = startOf(at)
    if (line > placed) {
      place = placeAfter(text.slice(placed, line), place)
      placed = line
    }
    // A fence opens at the beginning of its line.
    return at - line > MAX_FENCE_LINE ? place : placeAfter(text.slice(line, at), place)
  }

  function restart(at: number): void {
    startOf(at)
    floor = start = placed = at
    place = OUTSIDE
  }

  return { startOf, placeAt, restart, floor: () => floor }
}
