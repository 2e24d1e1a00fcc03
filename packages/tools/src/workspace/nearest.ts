/** Which path that exists was meant by one that does not. */
import { type Ripgrep, ripgrep } from '../ripgrep.ts'
import { foldedName, nameIndex } from './name-index.ts'
import { folderCost } from './near-folder.ts'
import { type NearNames, nameCost, nearNames, PART, slipCost, slipsOf } from './near-name.ts'
import { baseName, dirName, normalized, toSlash } from './paths.ts'

const MAX_LISTED = 100_000
/** Their folders are compared; more are first told apart roughly. */
const MAX_WEIGHED = 300
/** Characters of the folder that one slip in the name outweighs. */
const SLIP_WEIGHT = 10
export const MAX_CANDIDATES = 5

/** The files below `root` that git does not ignore, hidden ones too, at most {@link MAX_LISTED}. */
export async function listFiles(root: string, run: Ripgrep = ripgrep): Promise<string[]> {
  const files: string[] = []
  await run(['--files', '--hidden', '--null', '--no-messages', '--glob=!.git'], {
    cwd: root,
    separator: '\0',
    onRecord: (file) => files.push(toSlash(file)) < MAX_LISTED,
  })
  return files
}

/** Every directory that holds one of the files. */
export function directoriesOf(files: readonly string[]): string[] {
  const found = new Set<string>()
  for (const file of files) for (let dir = dirName(file); dir !== '' && !found.has(dir); dir = dirName(dir)) found.add(dir)
  return [...found]
}

/**
 * The nearest of `paths`, best first: those whose name is the same or has a slip (letters, case, separators, extension),
 * weighed together with how much their folders are like the wanted ones.
 *
 * @param paths must not be changed afterwards: what is worked out of them is kept as long as they are
 */
export function nearestPaths(wanted: string, paths: readonly string[], limit = MAX_CANDIDATES): string[] {
  const want = normalized(wanted)
  const name = baseName(want)
  const index = nameIndex(paths)
  const reach = slipsOf(foldedName(name).length)
  const weigh = (near: NearNames) => weighed(want, paths, near)
  const first = weigh(nearNames(name, index, Math.min(1, reach), false))
  // Nothing with more slips can come before it.
  const good = first[0] !== undefined && first[0].cost < slipCost(2)
  const all = good ? first : [...first, ...weigh(nearNames(name, index, reach, true))].sort(byCost)
  return [...new Set(all.map(({ path }) => path))].slice(0, limit)
}

interface Weighed {
  readonly path: string
  readonly cost: number
}

function weighed(want: string, paths: readonly string[], near: NearNames): Weighed[] {
  const folder = dirName(want)
  const name = baseName(want)
  const costOf = folderCost(folder)
  return fewest(near, paths, folder)
    .map((one) => {
      const path = paths[near.at[one] as number] as string
      return { path, cost: nameCost(name, baseName(path), near.slips[one] as number) + costOf(dirName(path)) }
    })
    .sort(byCost)
}

const byCost = (a: Weighed, b: Weighed): number => a.cost - b.cost || a.path.length - b.path.length || (a.path < b.path ? -1 : 1)

/** Where very many have the name (`index.ts`), only those are weighed that begin or end most as the wanted path does. */
function fewest({ count, at, slips }: NearNames, paths: readonly string[], folder: string): number[] {
  if (count <= MAX_WEIGHED) return Array.from({ length: count }, (_, one) => one)
  const likes = new Uint16Array(count)
  const counts = new Uint32Array(folder.length + SLIP_WEIGHT * PART + 1)
  for (let one = 0; one < count; one++) {
    const like = likeness(paths[at[one] as number] as string, folder) + SLIP_WEIGHT * (PART - (slips[one] as number))
    likes[one] = like
    counts[like] = (counts[like] as number) + 1
  }
  let least = counts.length
  let above = 0
  while (above + (counts[least - 1] ?? 0) <= MAX_WEIGHED) above += counts[--least] ?? 0
  let level = MAX_WEIGHED - above
  const taken: number[] = []
  for (let one = 0; one < count; one++) {
    const like = likes[one] as number
    if (like >= least || (like === least - 1 && level-- > 0)) taken.push(one)
  }
  return taken
}

/** Characters that the folder of a path has in common with another, at its start or its end. */
function likeness(path: string, folder: string): number {
  let start = 0
  while (start < folder.length && path.charCodeAt(start) === folder.charCodeAt(start)) start++
  let end = 0
  const last = path.lastIndexOf('/') - 1
  while (end < folder.length && path.charCodeAt(last - end) === folder.charCodeAt(folder.length - 1 - end)) end++
  return Math.max(start, end)
}
