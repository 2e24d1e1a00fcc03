/** Finds the next place in a text where markup may begin. Where such places are far apart, the engine's own search goes there. */
import type { Family } from './family.ts'
import { MARKS, type Mark } from './reasoning.ts'

/** An opener of a family, or a mark of reasoning, by the first character of it that is rare in prose. */
interface Needle {
  readonly text: string
  /** Where in `text` the trigger stands. */
  readonly offset: number
  readonly family?: Family
  readonly mark?: Mark
}

export interface Triggers {
  readonly chars: readonly string[]
  /** By the code of a character: the bit of the trigger that it is. */
  readonly bits: Uint8Array
  /** By the code of a character: the bits of the triggers that it can follow. */
  readonly follows: Uint8Array
  /** The bits of triggers that are at the end of an opener, or one before it: anything can follow them. */
  readonly last: number
  /** By `keyOf` the first three characters from the trigger on: what begins earlier first, then what is longer. */
  readonly byKey: ReadonlyMap<number, readonly Needle[]>
  /** What a text may end in the middle of, by its first character. */
  readonly byFirst: ReadonlyMap<string, readonly string[]>
  readonly longest: number
}

export interface Hit {
  readonly at: number
  readonly mark?: Mark
  /** Families that have an opener here, in order. Those without markup of their own only at the start of a line. */
  readonly families: readonly Family[]
}

export interface Hits {
  readonly next: () => Hit | undefined
  /** Goes on from further ahead. */
  readonly skipTo: (to: number) => void
  /** Goes on from further ahead, where a new text begins. */
  readonly restart: (at: number) => void
}

const RARE = ['<', '[', '{', '◁', '`', '=', '>', ':'] as const
const CODES = 0x10000

/** One number for a trigger and the two characters after it. Some share one: the needles are compared in full. */
const keyOf = (bit: number, next: number, third: number): number =>
  ((31 - Math.clz32(bit)) << 28) | ((next & 0x3fff) << 14) | (third & 0x3fff)

export function triggersOf(families: readonly Family[]): Triggers {
  const needles: Needle[] = MARKS.map((mark) => needle(mark.text, { mark }))
  for (const family of families)
    for (const opener of [...family.openers, ...(family.afterName ?? [])]) needles.push(needle(opener, { family }))
  // Array.sort is stable, so families keep their order.
  needles.sort((a, b) => b.offset - a.offset || b.text.length - a.text.length)
  const chars = [...new Set(needles.map(({ text, offset }) => text[offset] as string))]
  const bits = new Uint8Array(CODES)
  for (const [index, char] of chars.entries()) bits[char.charCodeAt(0)] = 1 << index
  const follows = new Uint8Array(CODES)
  const byKey = new Map<number, readonly Needle[]>()
  let last = 0
  const bitOf = ({ text, offset }: Needle): number => bits[text.charCodeAt(offset)] as number
  const isLast = ({ text, offset }: Needle): boolean => offset + 2 >= text.length
  const key = (one: Needle): number =>
    isLast(one) ? keyOf(bitOf(one), 0, 0) : keyOf(bitOf(one), one.text.charCodeAt(one.offset + 1), one.text.charCodeAt(one.offset + 2))
  for (const one of needles) {
    const bit = bitOf(one)
    const next = one.text.charCodeAt(one.offset + 1)
    if (isLast(one)) last |= bit
    else follows[next] = (follows[next] as number) | bit
    byKey.set(
      key(one),
      needles.filter((other) => key(other) === key(one) || (isLast(other) && bitOf(other) === bit)),
    )
  }
  const byFirst = new Map<string, string[]>()
  for (const { text } of needles) byFirst.set(text[0] as string, [...(byFirst.get(text[0] as string) ?? []), text])
  return { chars, bits, follows, last, byKey, byFirst, longest: Math.max(...needles.map(({ text }) => text.length)) }
}

const known = new WeakMap<readonly Family[], Triggers>()
export function cachedTriggers(families: readonly Family[]): Triggers {
  const triggers = known.get(families) ?? triggersOf(families)
  known.set(families, triggers)
  return triggers
}

function needle(text: string, of: Pick<Needle, 'family' | 'mark'>): Needle {
  const offset = RARE.map((char) => text.indexOf(char)).find((at) => at !== -1)
  if (offset === undefined) throw new TypeError(`the opener ${JSON.stringify(text)} has none of ${RARE.join(' ')}`)
  return { text, offset, ...of }
}

/** How far each character is looked at before the engine searches, where triggers stand close together, and where they don't. */
const NEAR = 256
const FAR = 8

/** The hits of a text in order. */
export function hitsIn(text: string, { chars, bits, follows, last, byKey }: Triggers, from = 0): Hits {
  const ahead = new Map<string, number>()
  let at = from
  let floor = 0
  let reach = NEAR

  /** The next trigger from `at` on. */
  function trigger(): number {
    const near = Math.min(text.length, at + reach)
    for (let i = at; i < near; i++) {
      const bit = bits[text.charCodeAt(i)] as number
      if (bit !== 0 && (bit & (last | (follows[text.charCodeAt(i + 1) || 0] as number))) !== 0) return i
    }
    let first = text.length
    for (const char of chars) {
      let found = ahead.get(char)
      if (found === undefined || found < near) {
        const next = text.indexOf(char, near)
        found = next === -1 ? text.length : next
        ahead.set(char, found)
      }
      if (found < first) first = found
    }
    reach = first - at > NEAR / 2 ? FAR : NEAR
    return first
  }

  function next(): Hit | undefined {
    for (;;) {
      const found = trigger()
      if (found >= text.length) return undefined
      at = found + 1
      const bit = bits[text.charCodeAt(found)] as number
      const needles = byKey.get(keyOf(bit, text.charCodeAt(at), text.charCodeAt(at + 1))) ?? byKey.get(keyOf(bit, 0, 0))
      const hit = needles && hitAt(text, found, needles, from, floor)
      if (hit) return hit
    }
  }

  const skipTo = (to: number): void => {
    at = Math.max(at, to)
  }
  return {
    next,
    skipTo,
    restart: (to) => {
      floor = to
      skipTo(to)
    },
  }
}

function hitAt(text: string, trigger: number, needles: readonly Needle[], from: number, floor: number): Hit | undefined {
  let at: number | undefined
  const families: Family[] = []
  for (const { text: opener, offset, family, mark } of needles) {
    const start = trigger - offset
    if (start < from || (at !== undefined && start !== at) || !text.startsWith(opener, start)) continue
    if (mark) return families.length === 0 ? { at: start, mark, families } : { at: at as number, families }
    if (!family?.strong && !beginsLine(text, start, floor) && !followsSentence(text, start)) continue
    at = start
    if (family && !families.includes(family)) families.push(family)
  }
  return at === undefined ? undefined : { at, families }
}

/** A list of calls in Python's notation may stand behind the end of a sentence, on its line. */
const followsSentence = (text: string, at: number): boolean =>
  text[at] === '[' && /^[.!?…:] \[\w/.test(text.slice(Math.max(0, at - 2), at + 2))

/** Markdown takes up to three spaces before a block; what has more is code. */
const MAX_INDENT = 3

function beginsLine(text: string, at: number, floor: number): boolean {
  for (let i = at - 1; i >= floor && at - i <= MAX_INDENT + 1; i--) {
    if (text[i] === '\n') return true
    if (text[i] !== ' ' && text[i] !== '\t') return false
  }
  return at - floor <= MAX_INDENT
}
