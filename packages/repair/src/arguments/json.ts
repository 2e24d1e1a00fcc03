/**
 * Reads one JSON value as models write it. Clear intent is read and noted, ambiguous text is refused, and truncated text is never
 * completed. Takes linear time and does not throw.
 */

import { matchEnd } from '../text.ts'
import { fix, type JsonFix, misplaced, peek, type Refusal, restructure, type State, Stop, skip, unclear } from './json-state.ts'
import { TAIL } from './json-string.ts'
import { readValue } from './json-value.ts'

export type { JsonFix } from './json-state.ts'

export type LooseJson = { readonly ok: true; readonly value: unknown; readonly fixes: readonly JsonFix[] } | Refusal

/** Reads one object or list, first strictly, then tolerantly. Valid JSON is returned unchanged, without fixes. */
export function readJson(text: string): LooseJson {
  const exact = attempt(text, true)
  return exact.ok ? exact : attempt(text, false)
}

export function attempt(text: string, strict: boolean): LooseJson {
  const fixes = new Map<string, JsonFix>()
  const state: State = { text, strict, open: [], fixes, position: 0, quotesGuessed: 0 }
  try {
    const fenced = begin(state)
    const value = readValue(state)
    finish(state, fenced)
    const noted = [...fixes.values()].sort((a, b) => a.position - b.position)
    if (
      (state.quotesGuessed > 0 && (state.structureGuessed || state.textsInList)) || //
      (state.apostrophes && state.edgesUnclear)
    )
      throw unclear(noted[0]?.position ?? 0)
    return { ok: true, value, fixes: noted }
  } catch (error) {
    if (error instanceof Stop) return error.refusal
    throw error
  }
}

const FENCE = /```[\w-]*\s*$/
/** `options: {…}` without surrounding braces is a member of an object, not the object itself. */
const NAME = /^[\s,]*[\w$.-]+\s*[:=]\s*$/

/** Moves to the first bracket. Returns true if the value is in a code fence. */
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

/** Checks the text after the value: extra brackets, commas, empty brackets, the end of the fence, or a remark without any JSON. */
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
