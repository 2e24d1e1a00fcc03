/**
 * One JSON value as models write it: what is plainly meant is read and noted, what has two readings is refused,
 * and a text that ends in the middle is never completed. In linear time, and without throwing.
 */
import { fix, type JsonFix, matchEnd, misplaced, peek, type Refusal, restructure, type State, Stop, skip, unclear } from './json-state.ts'
import { TAIL } from './json-string.ts'
import { readValue } from './json-value.ts'

export type { JsonFix } from './json-state.ts'

export type LooseJson = { readonly ok: true; readonly value: unknown; readonly end: number; readonly fixes: readonly JsonFix[] } | Refusal

export interface ReadJsonOptions {
  /** Where to begin; default 0. */
  readonly from?: number
  /** Only the value is read, and `end` says where it stopped. By default nothing but noise may come after it. */
  readonly partial?: boolean
  /** Strings have the escapes of Python, and a tuple is a list. */
  readonly pythonic?: boolean
}

/** Reads one object or list: strictly, and what that refuses with tolerance. Valid JSON comes back as it is, without fixes. */
export function readJson(text: string, options: ReadJsonOptions = {}): LooseJson {
  const exact = attempt(text, true, options)
  return exact.ok ? exact : attempt(text, false, options)
}

export function attempt(text: string, strict: boolean, { from = 0, partial, pythonic }: ReadJsonOptions = {}): LooseJson {
  const fixes = new Map<string, JsonFix>()
  const state: State = { text, strict, partial, pythonic, open: [], fixes, position: Math.max(0, from), quotesGuessed: 0 }
  try {
    const fenced = begin(state)
    const value = readValue(state)
    const end = state.position
    if (!partial) finish(state, fenced)
    const noted = [...fixes.values()].sort((a, b) => a.position - b.position)
    if (
      (state.quotesGuessed > 0 && (state.structureGuessed || state.textsInList)) || //
      (state.apostrophes && state.edgesUnclear)
    )
      throw unclear(noted[0]?.position ?? 0)
    return { ok: true, value, end, fixes: noted }
  } catch (error) {
    if (error instanceof Stop) return error.refusal
    throw error
  }
}

const FENCE = /```[\w-]*\s*$/
/** `options: {…}` without the braces around it is one member of an object, not the object. */
const NAME = /^[\s,]*[\w$.-]+\s*[:=]\s*$/

/** Goes to the first bracket. True when the value is in a code fence. */
function begin(state: State): boolean {
  const { text } = state
  skip(state)
  const from = state.position
  if (text[from] === '{' || text[from] === '[') return false
  const bracket = matchEnd(/[^{[]*/y, text, from)
  if (bracket >= text.length) throw new Stop('there is no object', from)
  const before = text.slice(from, bracket)
  const fence = before.search(FENCE)
  state.position = bracket
  if (fence >= 0) fix(state, 'a code fence', from + fence)
  const prose = fence >= 0 ? before.slice(0, fence) : before
  if (prose.trim() === '') return fence >= 0
  if (fence < 0 && (/["“”}\])`]/.test(prose) || NAME.test(prose))) throw misplaced(from)
  restructure(state, 'text before the object', from)
  return fence >= 0
}

/** Behind the value may be brackets too many, commas, empty brackets, the end of the fence, and a remark that has nothing of JSON. */
function finish(state: State, fenced: boolean): void {
  const { text } = state
  const end = state.position
  skip(state)
  const tail = matchEnd(TAIL, text, state.position)
  const noise = text.slice(state.position, tail)
  if (noise.trim() !== '') {
    const { missing } = state
    if (missing !== undefined && /[\])}]/.test(noise) && !/^\s*([\]})])\s*\1\s*$/.test(text.slice(missing, tail).slice(0, 1000)))
      throw misplaced(state.position)
    restructure(state, /^\s*[\])}]/.test(noise) ? 'a bracket too many' : 'text after the object', state.position)
  }
  const at = peek(state, tail)
  if (at >= text.length) return
  if (text.startsWith('```', at)) {
    if (!fenced) fix(state, 'a code fence', at)
    const rest = matchEnd(/`+[^{}`]*/y, text, at)
    if (rest < text.length) throw new Stop('more than one object', rest)
    if (text.slice(at).replace(/^`+/, '').trim() !== '') fix(state, 'text after the object', at)
    return
  }
  const isRemark = /[\r\n]/.test(text.slice(end, at)) && matchEnd(/[^{}[\]"“”`]*/y, text, at) === text.length
  if (!isRemark) throw misplaced(at)
  restructure(state, 'text after the object', at)
}
