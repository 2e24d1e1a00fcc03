/** Finds the existing name that was probably meant. */

/** Maximum distance between two texts that counts as a typo: a third of the longer one, at least 1 and at most 5 edits. */
const reach = (a: string, b: string): number => Math.min(5, Math.max(1, Math.floor(Math.max(a.length, b.length) / 3)))

/** Removes differences of case, separators and camelCase: `readFile`, `read-file` and `READ_FILE` become the same. */
export const fold = (name: string): string => name.replace(/[\s_\-./:]+/g, '').toLowerCase()

/**
 * Returns the nearest candidates, best first; empty if none is near. The order is: names equal except for case and separators, then by
 * edit distance (Damerau–Levenshtein, adjacent transpositions as one edit; ties prefer the same letters), then names that contain the
 * whole text.
 */
export function nearest(text: string, candidates: readonly string[], limit = 3): string[] {
  const want = text.toLowerCase()
  const folded = fold(text)
  if (folded === '') return []
  const scored = candidates.flatMap((candidate) => {
    const have = candidate.toLowerCase()
    if (have === want || fold(candidate) === folded) return [{ candidate, score: 0 }]
    const most = reach(want, have)
    const apart = Math.abs(want.length - have.length)
    const distance = apart > most ? most + 1 : editDistance(want, have)
    if (distance <= most) return [{ candidate, score: distance }]
    const holds = want.length >= 3 && have.length >= 3 && (have.includes(want) || want.includes(have))
    return holds ? [{ candidate, score: 10 + apart }] : []
  })
  const swapped = ({ candidate }: { readonly candidate: string }): number =>
    Number(candidate.length === want.length && sorted(candidate.toLowerCase()) === sorted(want))
  scored.sort((a, b) => a.score - b.score || swapped(b) - swapped(a) || (a.candidate < b.candidate ? -1 : 1))
  return scored.slice(0, limit).map((one) => one.candidate)
}

const sorted = (text: string): string => [...text].sort().join('')

/** Returns the number of edits between two texts: insert, delete, replace, or swap two neighbours (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (before[j - 2] as number) + 1)
      row.push(cost)
    }
    before = last
    last = row
  }
  return last[b.length] as number
}
