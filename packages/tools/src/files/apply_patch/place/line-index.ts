/** Finding runs of lines in a text, in four passes from exact to forgiving. Pure. */
import { firstFrom, fold } from '../../edit_file/match/folded.ts'

export interface Pass {
  readonly name: string
  readonly of: (line: string) => string
  /** Said of a hunk that was found by it. */
  readonly note?: string
}

export const PASSES: readonly Pass[] = [
  { name: 'exact', of: (line) => line },
  { name: 'trailing-space', of: (line) => line.trimEnd(), note: 'apart from spaces at the ends of lines' },
  { name: 'trimmed', of: (line) => line.trim(), note: 'apart from indentation, which was kept as it is in the file' },
  { name: 'punctuation', of: (line) => fold(line).text.trim(), note: 'apart from dashes, quotes and spaces of other kinds' },
]

export interface LineIndex {
  readonly length: number
  /** The places, in order, where the lines stand at or after `from`; no more of them than `most`. */
  readonly find: (pass: Pass, wanted: readonly string[], from: number, most: number) => number[]
  readonly fits: (pass: Pass, wanted: readonly string[], at: number) => boolean
}

/** Comparisons of lines for one file. A text that repeats itself would else take time squared. */
const MAX_WORK = 50_000_000

export class TooMuchWork extends Error {}

/** An index is made once per pass: of the wanted lines, only the rarest one is looked for. */
export function lineIndex(lines: readonly string[]): LineIndex {
  const made = new Map<Pass, { readonly keys: readonly string[]; readonly places: ReadonlyMap<string, readonly number[]> }>()
  let work = 0
  const indexFor = (pass: Pass) => {
    const known = made.get(pass)
    if (known) return known
    const keys = lines.map(pass.of)
    const places = new Map<string, number[]>()
    for (const [at, key] of keys.entries()) {
      const list = places.get(key)
      if (list) list.push(at)
      else places.set(key, [at])
    }
    const index = { keys, places }
    made.set(pass, index)
    return index
  }
  const equal = (keys: readonly string[], wanted: readonly string[], at: number): boolean => {
    let count = 0
    while (count < wanted.length && keys[at + count] === wanted[count]) count++
    work += count + 1
    if (work > MAX_WORK) throw new TooMuchWork()
    return count === wanted.length
  }
  return {
    length: lines.length,
    fits: (pass, wanted, at) => at >= 0 && at + wanted.length <= lines.length && equal(indexFor(pass).keys, wanted.map(pass.of), at),
    find(pass, wanted, from, most) {
      const { keys, places } = indexFor(pass)
      const keyed = wanted.map(pass.of)
      let rarest = 0
      let places_: readonly number[] | undefined
      for (const [offset, key] of keyed.entries()) {
        const list = places.get(key)
        if (!list) return []
        if (!places_ || list.length < places_.length) [rarest, places_] = [offset, list]
      }
      const found: number[] = []
      const candidates = places_ ?? []
      for (let at = firstFrom(candidates, from + rarest); at < candidates.length && found.length < most; at++) {
        const start = (candidates[at] as number) - rarest
        if (start + keyed.length <= keys.length && equal(keys, keyed, start)) found.push(start)
      }
      return found
    },
  }
}
