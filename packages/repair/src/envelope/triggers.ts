/** Finds the next place in a text where markup may begin. */
import type { Family } from './family.ts'
import { MARKS, type Mark } from './reasoning.ts'

/** A family's opener or a reasoning mark. */
interface Needle {
  readonly text: string
  /** Offset in `text` of its first character that is rare in prose. */
  readonly offset: number
  readonly family?: Family
  readonly mark?: Mark
}

export type Triggers = ReturnType<typeof triggersOf>

export interface Hit {
  readonly at: number
  readonly mark?: Mark
  /** Families with this opener, in order. Families without markup match only at the start of a line. */
  readonly families: readonly Family[]
}

/** Every opener and every mark contains such a character. */
const RARE = /[<[{◁`=>:]/
/** After text in which no opener has begun, a piece without these characters completes none, and ends no line. */
export const RARE_OR_LINE = new RegExp(`${RARE.source}|\\n`)

function triggersOf(families: readonly Family[]) {
  const openers = families.flatMap((family) => [...family.openers, ...(family.afterName ?? [])].map((text) => ({ text, family })))
  const all = [...MARKS.map((mark) => ({ text: mark.text, mark })), ...openers]
  const needles = all.map((one): Needle => {
    const offset = one.text.search(RARE)
    if (offset === -1) throw new TypeError(`the opener ${JSON.stringify(one.text)} has none of ${RARE.source}`)
    return { ...one, offset }
  })
  // Array.sort is stable, so families keep their order.
  needles.sort((a, b) => b.offset - a.offset || b.text.length - a.text.length)
  const tailOf = ({ text, offset }: Needle): string => text.slice(offset)
  const tails = [...new Set(needles.map(tailOf))].sort((a, b) => b.length - a.length)
  const sources = tails.map((tail) => {
    const before = needles.filter((one) => tailOf(one) === tail).map(({ text, offset }) => escaped(text.slice(0, offset)))
    return `${before.includes('') ? '' : `(?<=${before.join('|')})`}${escaped(tail)}`
  })
  return {
    /** Matches any opener or mark, from its first rare character on. */
    pattern: new RegExp(sources.join('|'), 'g'),
    /** Maps each match of the pattern to the possible needles: earlier starts first, then longer ones. */
    needles: new Map(tails.map((tail) => [tail, needles.filter((one) => tail.startsWith(tailOf(one)))])),
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

const known = new WeakMap<readonly Family[], Triggers>()
export function cachedTriggers(families: readonly Family[]): Triggers {
  const triggers = known.get(families) ?? triggersOf(families)
  known.set(families, triggers)
  return triggers
}

/** Returns the hits of a text in order. */
export function hitsIn(text: string, { pattern, needles }: Triggers, from = 0) {
  let at = from
  let floor = 0
  return {
    next(): Hit | undefined {
      for (;;) {
        pattern.lastIndex = at
        const found = pattern.exec(text)
        at = found ? found.index + 1 : text.length
        if (!found) return undefined
        const hit = hitAt(text, found.index, needles.get(found[0]) ?? [], from, floor)
        if (hit) return hit
      }
    },
    /** Continues further ahead; `isNew` means that a new text begins there. */
    skipTo(to: number, isNew = false): void {
      at = Math.max(at, to)
      if (isNew) floor = to
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
    if (family?.begins && !beginsLine(text, start, floor) && !followsSentence(text, start)) continue
    at = start
    if (family && !families.includes(family)) families.push(family)
  }
  return at === undefined ? undefined : { at, families }
}

/** A list of calls in Python notation may follow the end of a sentence on the same line. */
const followsSentence = (text: string, at: number): boolean =>
  text[at] === '[' && /^[.!?…:] \[\w/.test(text.slice(Math.max(0, at - 2), at + 2))

/** Markdown allows up to three spaces before a block; deeper indentation is code. */
const MAX_INDENT = 3

function beginsLine(text: string, at: number, floor: number): boolean {
  for (let i = at - 1; i >= floor && at - i <= MAX_INDENT + 1; i--) {
    if (text[i] === '\n') return true
    if (text[i] !== ' ' && text[i] !== '\t') return false
  }
  return at - floor <= MAX_INDENT
}
