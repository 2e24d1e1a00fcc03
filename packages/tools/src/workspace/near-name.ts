/** Which names are near another: spelt otherwise, with slips, or as a part of it. */

import { type Folded, foldedName, MAX_UNITS, type NameIndex, stemEnd } from './name-index.ts'
import { baseName } from './paths.ts'

/** Paths whose names are near, in columns: of a hundred thousand `index.ts` none is worth an object. */
export interface NearNames {
  readonly count: number
  /** Place of each in the index. */
  readonly at: Int32Array
  /** {@link PART} where one name is only a part of the other. */
  readonly slips: Uint8Array
}

/** More than any name may have slips. */
export const PART = 5

/** What a name with so many slips costs at least. */
export const slipCost = (slips: number): number => (slips === 0 ? 0 : 0.4 + 0.6 * slips)

/** How many slips a name of that length may have and still be meant: one in a short name, four in a long one. */
export const slipsOf = (length: number): number => (length === 0 ? 0 : length < 6 ? 1 : length < 9 ? 2 : length < 15 ? 3 : 4)

/** Past so many with one number of slips, those with more are not looked for. */
const ENOUGH = 400

/**
 * The paths whose name is that of `wanted` with at most `reach` slips, in no order.
 *
 * @param parts also those that have the name as a part, or are a part of it
 */
export function nearNames(name: string, index: NameIndex, reach: number, parts: boolean): NearNames {
  const { paths, units, starts, masks } = index
  const want = foldedName(name)
  const found = { count: 0, at: new Int32Array(paths.length), slips: new Uint8Array(paths.length) }
  const kept = new Uint32Array(PART + 1)
  let most = reach
  for (let at = 0; at < paths.length; at++) {
    const slips = want.length === 0 ? (baseName(paths[at] as string) === name ? 0 : undefined) : slipsIn(at)
    if (slips === undefined) continue
    found.at[found.count] = at
    found.slips[found.count++] = slips
    kept[slips] = (kept[slips] as number) + 1
    if (slips > 0 && slips < most && (kept[slips] as number) > ENOUGH) most = slips
  }
  return found

  function slipsIn(at: number): number | undefined {
    const mask = masks[at] as number
    const apart = ones(mask ^ want.mask) > 2 * most
    const inside = parts && ((want.mask & ~mask) === 0 || (mask & ~want.mask) === 0)
    if (apart && !inside) return undefined
    const start = starts[at] as number
    const length = (starts[at + 1] as number) - start
    const slips = apart ? undefined : within(want, units, start, length, most)
    return slips ?? (inside && partly(want, units, start, length) ? PART : undefined)
  }
}

/** What a name costs that is so near: 0 for the name itself; about 1 for one slip. */
export function nameCost(want: string, have: string, slips: number): number {
  const [endWant, endHave] = [stemEnd(want, 0), stemEnd(have, 0)]
  const [stem, other] = [want.slice(0, endWant), have.slice(0, endHave)]
  const cost = slips === PART ? partCost(stem, other) : slips > 0 ? slipCost(slips) : spellingCost(stem, other)
  return cost + extensionCost(want.slice(endWant + 1), have.slice(endHave + 1))
}

function ones(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

const ROWS = 3
const WIDTH = MAX_UNITS + 2

/**
 * The edit distance (two neighbours swapped are one edit) where it is at most `most`, in a band of that width along the
 * diagonal, without what both have in common at either end.
 */
function within(a: Folded, b: Uint16Array, from: number, length: number, most: number): number | undefined {
  if (Math.abs(a.length - length) > most) return undefined
  let start = 0
  let [endA, endB] = [a.length, length]
  while (start < endA && start < endB && a.units[start] === b[from + start]) start++
  while (endA > start && endB > start && a.units[endA - 1] === b[from + endB - 1]) {
    endA--
    endB--
  }
  const [n, m] = [endA - start, endB - start]
  if (n === 0 || m === 0) return n + m <= most ? n + m : undefined
  if (most === 0) return undefined
  if (most === 1) {
    const one = n === 1 && m === 1
    const swapped = n === 2 && m === 2 && a.units[start] === b[from + start + 1] && a.units[start + 1] === b[from + start]
    return one || swapped ? 1 : undefined
  }
  return banded(a.units, start, n, b, from + start, m, most)
}

const cells = new Uint8Array(ROWS * WIDTH)

function banded(a: Uint16Array, startA: number, n: number, b: Uint16Array, startB: number, m: number, most: number): number | undefined {
  for (let j = 0; j <= m; j++) cells[j] = Math.min(j, most + 1)
  for (let i = 1; i <= n; i++) {
    const before = ((i + 1) % ROWS) * WIDTH
    const last = ((i - 1) % ROWS) * WIDTH
    const row = (i % ROWS) * WIDTH
    const low = Math.max(1, i - most)
    const high = Math.min(m, i + most)
    cells[row + low - 1] = low === 1 ? Math.min(i, most + 1) : most + 1
    let best = most + 1
    for (let j = low; j <= high; j++) {
      const same = a[startA + i - 1] === b[startB + j - 1]
      let cost = (cells[last + j - 1] as number) + (same ? 0 : 1)
      if (j < i + most) cost = Math.min(cost, (cells[last + j] as number) + 1)
      cost = Math.min(cost, (cells[row + j - 1] as number) + 1)
      if (i > 1 && j > 1 && a[startA + i - 1] === b[startB + j - 2] && a[startA + i - 2] === b[startB + j - 1])
        cost = Math.min(cost, (cells[before + j - 2] as number) + 1)
      cells[row + j] = cost
      if (cost < best) best = cost
    }
    if (best > most) return undefined
  }
  const distance = cells[(n % ROWS) * WIDTH + m] as number
  return distance <= most ? distance : undefined
}

/** A name that holds the other one, of four letters at least. */
function partly(want: Folded, b: Uint16Array, from: number, length: number): boolean {
  if (Math.min(want.length, length) < 4) return false
  return want.length < length
    ? holds(b, from, length, want.units, want.start, want.length)
    : holds(want.units, want.start, want.length, b, from, length)
}

function holds(long: Uint16Array, at: number, length: number, short: Uint16Array, from: number, count: number): boolean {
  for (let place = at; place + count <= at + length; place++) {
    let same = 0
    while (same < count && short[from + same] === long[place + same]) same++
    if (same === count) return true
  }
  return false
}

/** `user-service` and `main.test` are `user` and `main` with more said; the rest only shares letters. */
function partCost(want: string, have: string): number {
  const more = 0.03 * Math.abs(have.length - want.length)
  const next = have.charAt(want.length)
  if (have.toLowerCase().startsWith(want.toLowerCase()) && /[^a-z]/.test(next)) return 0.7 + more
  return 2 + more
}

function spellingCost(want: string, have: string): number {
  if (want === have) return 0
  return want.toLowerCase() === have.toLowerCase() ? 0.1 : 0.3
}

/** Extensions that one is taken for another of most often. */
const KIN = [
  'ts tsx js jsx mjs cjs mts cts',
  'yaml yml json json5 jsonc toml',
  'md mdx markdown txt rst',
  'htm html',
  'c h cc cpp hpp cxx',
  'jpg jpeg png webp gif svg',
].map((row) => new Set(row.split(' ')))

function extensionCost(wanted: string, extension: string): number {
  const [want, have] = [wanted.toLowerCase(), extension.toLowerCase()]
  if (want === have) return 0
  if (want === '' || have === '') return 0.5
  return KIN.some((row) => row.has(want) && row.has(have)) ? 0.5 : 0.9
}
