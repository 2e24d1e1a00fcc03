/** Fuzzy path matching: letters in order, with a preference for the file name. */

export interface Candidate {
  readonly path: string
  /** In small letters. */
  readonly folded: string
  /** Where its last name begins. */
  readonly base: number
  /** Folders above it. */
  readonly depth: number
}

export function candidate(path: string): Candidate {
  const end = path.endsWith('/') ? path.length - 1 : path.length
  let depth = 0
  for (let at = path.indexOf('/'); at !== -1 && at < end; at = path.indexOf('/', at + 1)) depth++
  return { path, folded: path.toLowerCase(), base: path.lastIndexOf('/', end - 1) + 1, depth }
}

/** How well the path fits, higher is better; `undefined` if it does not. @param query in small letters */
export function fit(query: string, { folded, base }: Candidate): number | undefined {
  if (query === '') return 0
  if (folded.startsWith(query, base)) return rated(folded.slice(base + query.length))
  const inPath = folded.lastIndexOf(query)
  if (inPath >= base) return /[^\p{L}\p{N}]/u.test(folded[inPath - 1] ?? '') ? 70 : 60
  const inName = query.includes('/') ? undefined : spanOf(query, folded, base)
  if (inName !== undefined) return 50 - looseness(inName, query)
  if (inPath !== -1) return inPath === 0 || folded[inPath - 1] === '/' ? 40 : 30
  const span = spanOf(query, folded, 0)
  return span === undefined ? undefined : 20 - looseness(span, query)
}

/** By what of the name was not typed: nothing, its extension, more. */
const rated = (rest: string): number => (rest === '' || rest === '/' ? 100 : rest.startsWith('.') ? 90 : 80)

/** Letters that lie between, as a part of ten. */
const looseness = (span: number, query: string): number => Math.min(9, (span - query.length) / 3)

/** From the first to the last letter of the query, as short as it is found from the end; `undefined` when they are not all there. */
function spanOf(query: string, text: string, from: number): number | undefined {
  let at = text.length
  let end = 0
  for (let letter = query.length - 1; letter >= 0; letter--) {
    at = at === 0 ? -1 : text.lastIndexOf(query[letter] as string, at - 1)
    if (at < from) return undefined
    if (letter === query.length - 1) end = at + 1
  }
  return end - at
}

/** Paths that are looked at before others have their turn. */
const AT_ONCE = 4000

export interface RankOptions {
  readonly most: number
  /** Paths that were used, newest first. */
  readonly recent?: readonly string[]
  readonly signal?: AbortSignal
}

interface Ranked {
  readonly path: string
  readonly score: number
  /** Higher for what was used later; 0 for what was not. */
  readonly used: number
  readonly depth: number
}

/** The best first: how well they fit, then what was used last, then the shorter. @throws the signal's reason */
export async function rank(query: string, candidates: readonly Candidate[], { most, recent = [], signal }: RankOptions): Promise<string[]> {
  const wanted = query.toLowerCase()
  const order = new Map(recent.map((path, index) => [path, recent.length - index]))
  const best: Ranked[] = []
  for (const [index, one] of candidates.entries()) {
    if (index % AT_ONCE === 0) {
      // A key that was pressed meanwhile comes first, and may make this needless.
      if (index > 0) await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
    }
    const score = fit(wanted, one)
    if (score !== undefined) keepBest(best, { path: one.path, score, used: order.get(one.path) ?? 0, depth: one.depth }, most)
  }
  return best.map(({ path }) => path)
}

/** Sorting all would take longer than looking at all. */
function keepBest(best: Ranked[], one: Ranked, most: number): void {
  let at = best.length
  while (at > 0 && better(one, best[at - 1] as Ranked) < 0) at--
  if (at === most) return
  best.splice(at, 0, one)
  if (best.length > most) best.pop()
}

const better = (a: Ranked, b: Ranked): number =>
  Math.floor(b.score / 10) - Math.floor(a.score / 10) ||
  b.used - a.used ||
  b.score - a.score ||
  a.depth - b.depth ||
  a.path.length - b.path.length ||
  (a.path < b.path ? -1 : 1)
