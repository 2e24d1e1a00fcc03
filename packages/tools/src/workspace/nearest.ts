/** Finds the existing paths that were probably meant by one that does not exist. */
import { editDistance } from '@mulligan/core/executor'
import { type Ripgrep, ripgrep } from '../ripgrep.ts'
import { baseName, dirName, normalized, toSlash } from './paths.ts'

const MAX_LISTED = 100_000
/** Candidates whose folders are compared. If there are more, they are ranked roughly first. */
const MAX_WEIGHED = 300
/** Once more than this many names have the same number of typos, names with more typos are skipped. */
const ENOUGH = 400
/** Longer names are cut before they are compared. */
const MAX_NAME = 64
/** How many folder characters one typo in the name outweighs. */
const SLIP_WEIGHT = 10
export const MAX_CANDIDATES = 5

/** Lists the files below `root` that git does not ignore, including hidden ones; at most {@link MAX_LISTED}. */
export async function listFiles(root: string, run: Ripgrep = ripgrep): Promise<string[]> {
  const files: string[] = []
  await run(['--files', '--hidden', '--null', '--no-messages', '--glob=!.git'], {
    cwd: root,
    separator: '\0',
    onRecord: (file) => files.push(toSlash(file)) < MAX_LISTED,
  })
  return files
}

/** Returns every directory that contains one of the files. */
export function directoriesOf(files: readonly string[]): string[] {
  const found = new Set<string>()
  for (const file of files) for (let dir = dirName(file); dir !== '' && !found.has(dir); dir = dirName(dir)) found.add(dir)
  return [...found]
}

/**
 * Returns the nearest of `paths`, best first: those with the same name or a typo in it (letters, case, separators, extension), ranked
 * together with the similarity of their folders to the wanted ones.
 *
 * @param paths must not be modified afterwards, because data computed for them is cached as long as they exist
 */
export function nearestPaths(wanted: string, paths: readonly string[], limit = MAX_CANDIDATES): string[] {
  const want = normalized(wanted)
  const name = baseName(want)
  const masks = known.get(paths) ?? Int32Array.from(paths, maskOf)
  known.set(paths, masks)
  const reach = slipsOf(folded(name).length)
  const weigh = (near: readonly Near[]) => weighed(want, near)
  const first = weigh(nearNames(name, paths, masks, Math.min(1, reach), false))
  // Names with more typos can't rank higher.
  const good = first[0] !== undefined && first[0].cost < slipCost(2)
  const all = good ? first : [...first, ...weigh(nearNames(name, paths, masks, reach, true))].sort(byCost)
  return [...new Set(all.map(({ path }) => path))].slice(0, limit)
}

const known = new WeakMap<readonly string[], Int32Array>()

interface Near {
  readonly path: string
  /** {@link PART} if one name is only a part of the other. */
  readonly slips: number
}

/** More typos than any name may have. */
const PART = 5
const slipCost = (slips: number): number => (slips === 0 ? 0 : 0.4 + 0.6 * slips)
/** Returns how many typos a name of that length may have to still be a match: one in a short name, four in a long one. */
const slipsOf = (length: number): number => (length === 0 ? 0 : length < 6 ? 1 : length < 9 ? 2 : length < 15 ? 3 : 4)

/** Returns where the extension begins, or the end if there is none. A dot file has no extension. */
function stemEnd(path: string, from: number): number {
  const dot = path.lastIndexOf('.')
  return dot > from ? dot : path.length
}

/** Returns the stem without case, separators and punctuation: `userName`, `user-name` and `USER_NAME` are the same. */
const folded = (name: string): string =>
  name
    .slice(0, Math.min(stemEnd(name, 0), MAX_NAME))
    .replace(/[\0-/:-@[-`{-\x7f]+/g, '')
    .toLowerCase()

/** Returns a 32-bit mask of the letters and digits in the stem of a path's name. Names that differ in many are not compared. */
function maskOf(path: string): number {
  const from = path.lastIndexOf('/') + 1
  const end = Math.min(stemEnd(path, from), from + MAX_NAME)
  let mask = 0
  for (let at = from; at < end; at++) {
    const unit = path.charCodeAt(at)
    // Upper and lower case have the same lowest five bits.
    if (unit >= 0x80 || (unit >= 0x30 && unit <= 0x39) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a)) mask |= 1 << (unit & 31)
  }
  return mask
}

function ones(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/**
 * Returns the paths whose name is `name` with at most `reach` typos, in no particular order.
 *
 * @param parts also include names that contain the name or are contained in it
 */
function nearNames(name: string, paths: readonly string[], masks: Int32Array, reach: number, parts: boolean): Near[] {
  const want = folded(name)
  if (want === '') return paths.filter((path) => baseName(path) === name).map((path) => ({ path, slips: 0 }))
  const wanted = maskOf(name)
  const found: Near[] = []
  const counts = new Array<number>(PART + 1).fill(0)
  let most = reach
  for (let at = 0; at < paths.length; at++) {
    const mask = masks[at] as number
    const close = ones(mask ^ wanted) <= 2 * most
    const inside = parts && ((wanted & ~mask) === 0 || (mask & ~wanted) === 0)
    if (!close && !inside) continue
    const path = paths[at] as string
    const have = folded(baseName(path))
    const slips = (close ? slipsWithin(want, have, most) : undefined) ?? (inside && isPart(want, have) ? PART : undefined)
    if (slips === undefined) continue
    found.push({ path, slips })
    const count = (counts[slips] as number) + 1
    counts[slips] = count
    if (slips > 0 && slips < most && count > ENOUGH) most = slips
  }
  return found
}

/** Returns the edit distance if it is at most `most`. Common prefixes and suffixes are not compared. */
function slipsWithin(a: string, b: string, most: number): number | undefined {
  const shorter = Math.min(a.length, b.length)
  if (Math.max(a.length, b.length) - shorter > most) return undefined
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  // One edit, or two letters swapped.
  if (most <= 1 && shorter - start - end > 2) return undefined
  const distance = editDistance(a.slice(start, a.length - end), b.slice(start, b.length - end))
  return distance <= most ? distance : undefined
}

/** Returns true if one name contains the other and both have at least four letters. */
const isPart = (a: string, b: string): boolean => Math.min(a.length, b.length) >= 4 && (a.includes(b) || b.includes(a))

interface Weighed {
  readonly path: string
  readonly cost: number
}

function weighed(want: string, near: readonly Near[]): Weighed[] {
  const [folder, name] = [dirName(want), baseName(want)]
  const costOf = folderCost(folder)
  return fewest(near, folder)
    .map(({ path, slips }) => ({ path, cost: nameCost(name, baseName(path), slips) + costOf(dirName(path)) }))
    .sort(byCost)
}

const byCost = (a: Weighed, b: Weighed): number => a.cost - b.cost || a.path.length - b.path.length || (a.path < b.path ? -1 : 1)

/** If very many files have the name (`index.ts`), selects those that begin or end most like the wanted path. */
function fewest(near: readonly Near[], folder: string): readonly Near[] {
  if (near.length <= MAX_WEIGHED) return near
  return near
    .map((one) => ({ one, like: likeness(one.path, folder) - SLIP_WEIGHT * one.slips }))
    .sort((a, b) => b.like - a.like)
    .slice(0, MAX_WEIGHED)
    .map(({ one }) => one)
}

/** Counts the characters that the folder of a path shares with another at its start or end. */
function likeness(path: string, folder: string): number {
  let start = 0
  while (start < folder.length && path[start] === folder[start]) start++
  let end = 0
  const last = path.lastIndexOf('/') - 1
  while (end < folder.length && path[last - end] === folder[folder.length - 1 - end]) end++
  return Math.max(start, end)
}

/** Returns the cost of a name with that many typos: 0 for an exact match, about 1 for one typo. */
function nameCost(want: string, have: string, slips: number): number {
  const [endWant, endHave] = [stemEnd(want, 0), stemEnd(have, 0)]
  const [stem, other] = [want.slice(0, endWant), have.slice(0, endHave)]
  const cost = slips === PART ? partCost(stem, other) : slips > 0 ? slipCost(slips) : spellingCost(stem, other)
  return cost + extensionCost(want.slice(endWant + 1).toLowerCase(), have.slice(endHave + 1).toLowerCase())
}

/** `user-service` and `main.test` extend `user` and `main`; other names only share letters with them. */
function partCost(want: string, have: string): number {
  const said = have.toLowerCase().startsWith(want.toLowerCase()) && /[^a-z]/.test(have.charAt(want.length))
  return (said ? 0.7 : 2) + 0.03 * Math.abs(have.length - want.length)
}

const spellingCost = (want: string, have: string): number => (want === have ? 0 : want.toLowerCase() === have.toLowerCase() ? 0.1 : 0.3)

/** Groups of extensions that are often confused. */
const KIN = [
  'ts tsx js jsx mjs cjs mts cts',
  'yaml yml json json5 jsonc toml',
  'md mdx markdown txt rst',
  'htm html',
  'c h cc cpp hpp cxx',
  'jpg jpeg png webp gif svg',
].map((row) => new Set(row.split(' ')))

function extensionCost(want: string, have: string): number {
  if (want === have) return 0
  return want === '' || have === '' || KIN.some((row) => row.has(want) && row.has(have)) ? 0.5 : 0.9
}

/** A wanted folder that does not exist. At the start it is probably the root of another machine or project. */
const EXTRA = 0.7
const EXTRA_AT_START = 0.35
/** An existing folder that is missing from the wanted path. */
const LEFT_OUT = 0.5
/** One folder in place of another. */
const OTHER = 1.1

/** Returns a function that computes the distance of a folder (empty for the root) from `wanted`; 0 if they are the same. */
function folderCost(wanted: string): (folder: string) => number {
  const want = steps(wanted)
  const known = new Map<string, number>()
  const stepCost = (a: string, b: string): number => {
    const key = `${a}/${b}`
    const cost = known.get(key) ?? folderNameCost(a, b)
    known.set(key, cost)
    return cost
  }
  return (folder) => {
    const have = steps(folder)
    let last = Array.from({ length: have.length + 1 }, (_, at) => at * LEFT_OUT)
    for (const [i, name] of want.entries()) {
      const extra = last[0] === EXTRA_AT_START * i ? EXTRA_AT_START : EXTRA
      const row = [(last[0] as number) + extra]
      for (const [j, other] of have.entries()) {
        const [skipped, leftOut] = [(last[j + 1] as number) + EXTRA, (row[j] as number) + LEFT_OUT]
        row.push(Math.min(skipped, leftOut, (last[j] as number) + stepCost(name, other)))
      }
      last = row
    }
    return last[have.length] as number
  }
}

const steps = (folder: string): string[] => (folder === '' ? [] : folder.split('/'))

/** Case and separators count for little, a typo for more. */
function folderNameCost(a: string, b: string): number {
  if (a === b) return 0
  const [x, y] = [a, b].map((name) => name.toLowerCase().replace(/[\s_.-]+/g, '')) as [string, string]
  if (x === y) return 0.1
  const [least, most] = [Math.min(x.length, y.length), Math.max(x.length, y.length)]
  if (most - least > 3 || most > 100) return OTHER
  const distance = editDistance(x, y)
  return distance <= Math.max(1, Math.floor(most / 3)) && distance < least ? 0.2 + 0.15 * distance : OTHER
}
