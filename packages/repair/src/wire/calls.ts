/**
 * Assigns deltas to calls, whatever the server did to their ids and indexes. Matches by id first, then name, then index, then by
 * whether the arguments are complete.
 */
import { MAX_CALLS_PER_REPLY } from '../limits.ts'
import { isRecord } from '../schema/validate.ts'
import { type Fields, idFor, type Rules, tell, wire } from './rules.ts'

/** A call of one choice, as received so far. */
export interface Call {
  /** As sent on; the id is set once the call has begun. */
  readonly index: number
  id: string
  /** As received. */
  wireId: string | undefined
  readonly wireIndex: number | undefined
  /** Undefined while the call is held back, since a call without a name cannot begin. */
  name: string | undefined
  text: string
  scan: Scan
  /**
   * Its name was sent again after the call was complete. This is either a repetition or the start of the next call; the arguments will
   * show which.
   */
  isNamedAgain: boolean
  /** Fields of a call that is held back. */
  held: Fields
  /** Repairs already noted for this call, so that each is noted once rather than for every delta. */
  readonly noted: Set<string>
}

export const WHY = {
  index: 'the index was missing, or that of another call',
  id: 'the id was missing, or that of another call',
  laterId: 'a later delta had another id',
  name: 'the name was sent again in a later delta',
  earlyName: 'the name came before the call before had ended',
  lateName: 'the name came after the call began',
  arguments: 'the arguments were not text',
  function: 'a delta had no function',
  again: 'the whole call was sent twice',
} as const

/**
 * Adds one entry of `delta.tool_calls` to the calls. Returns the entry to send on (the same object if nothing was repaired), undefined
 * if it is held back or a repetition, or `dropped` if it begins a call beyond {@link MAX_CALLS_PER_REPLY}.
 */
export function step(calls: Call[], entry: Fields, rules: Rules): Fields | 'dropped' | undefined {
  const delta = readDelta(entry)
  const call = owner(calls, delta)
  const isWhole = call?.scan.state === 'whole'
  // Each entry is compared with all earlier calls; without a limit, the work would be quadratic.
  if (calls.length >= MAX_CALLS_PER_REPLY && (!call || isWhole))
    return delta.name !== undefined && (!call || begins(delta)) ? 'dropped' : undefined
  if (!call) return resume(calls, open(calls, delta), entry, delta, rules)
  if (isRepetition(call, delta)) {
    note(call, rules, WHY.again, entry, undefined)
    return undefined
  }
  if (call.isNamedAgain && isWhole && delta.text.trim() !== '') return resume(calls, open(calls, delta), entry, delta, rules, call.name)
  return call.name === undefined ? resume(calls, call, entry, delta, rules) : proceed(call, entry, delta, rules)
}

type Delta = ReturnType<typeof readDelta>

function readDelta(entry: Fields) {
  const { id, index } = entry
  const called = isRecord(entry['function']) ? entry['function'] : {}
  const place = typeof index === 'string' && /^\d+$/.test(index) ? Number(index) : index
  return {
    id: typeof id === 'number' ? String(id) : filled(id),
    index: typeof place === 'number' && Number.isInteger(place) && place >= 0 ? place : undefined,
    name: filled(called['name']),
    text: argumentText(called['arguments']) ?? '',
    called,
  }
}

const filled = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value : undefined)

/** Returns the arguments as the text they should have been; undefined if there are none. */
export const argumentText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : value === undefined || value === null ? undefined : JSON.stringify(value)

const begins = (delta: Delta): boolean => /^\s*[{["]/.test(delta.text)
/** Returns whether this is a piece from the middle of an object, which cannot begin a call. */
const isMiddle = (delta: Delta): boolean => delta.text.trim() !== '' && !begins(delta)

/** Returns the call that a delta continues, or undefined if it begins another. */
function owner(calls: readonly Call[], delta: Delta): Call | undefined {
  const there = delta.index === undefined ? undefined : calls.findLast((call) => call.wireIndex === delta.index)
  const sameId = delta.id === undefined ? [] : calls.filter((call) => call.wireId === delta.id)
  const known = sameId.findLast((call) => call.wireIndex === delta.index) ?? sameId.at(-1)
  if (known) return ofKnownId(known, there, delta)
  const near = there ?? (delta.index === undefined ? calls.at(-1) : undefined)
  if (delta.name !== undefined) return ofName(near, delta)
  if (delta.id !== undefined && near?.scan.state === 'whole' && delta.text.trim() !== '') return undefined
  return there ?? (delta.index === undefined ? openCall(calls) : stray(calls.at(-1), delta))
}

function ofKnownId(known: Call, there: Call | undefined, delta: Delta): Call | undefined {
  const isWhole = known.scan.state === 'whole'
  const moved = delta.index !== undefined && known.wireIndex !== undefined && delta.index !== known.wireIndex
  if (delta.name === undefined) return moved ? (there ?? (isWhole && begins(delta) ? undefined : known)) : known
  if (known.name === undefined) return known
  if (known.name !== delta.name || moved) return undefined
  return isWhole && begins(delta) && !isRepetition(known, delta) ? undefined : known
}

function ofName(near: Call | undefined, delta: Delta): Call | undefined {
  if (!near || near.name === undefined) return near
  if (near.name !== delta.name) return undefined
  // A separate id means a separate call, unless this continues the unfinished object of the previous call.
  if (delta.id !== undefined) return near.scan.state === 'open' && isMiddle(delta) ? near : undefined
  return near.scan.state === 'whole' && begins(delta) ? undefined : near
}

/** Returns the call that unlabelled arguments belong to. */
function openCall(calls: readonly Call[]): Call | undefined {
  const last = calls.at(-1)
  return last?.scan.state === 'whole' ? (calls.findLast((call) => call.scan.state === 'open') ?? last) : last
}

/** Returns the call that arguments belong to if no call began under their index. */
function stray(last: Call | undefined, delta: Delta): Call | undefined {
  if (!last) return undefined
  const isUnplaced = last.wireIndex === undefined && last.scan.state !== 'whole'
  return isUnplaced || (last.scan.state === 'open' && isMiddle(delta)) ? last : undefined
}

/** Returns whether the delta repeats a call exactly, including its id. Running a call twice is worse than losing an identical one. */
const isRepetition = (call: Call, delta: Delta): boolean =>
  call.scan.state === 'whole' && delta.id !== undefined && delta.id === call.wireId && delta.name === call.name && delta.text === call.text

function open(calls: Call[], { id: wireId, index: wireIndex }: Delta): Call {
  const places = calls.map((call) => call.index)
  const isFree = wireIndex !== undefined && !places.includes(wireIndex)
  const index = isFree ? wireIndex : places.reduce((next, place) => Math.max(next, place + 1), 0)
  const more = { id: '', name: undefined, text: '', scan: NOTHING, isNamedAgain: false, held: {}, noted: new Set<string>() }
  const call: Call = { index, wireId, wireIndex, ...more }
  calls.push(call)
  return call
}

/** Continues a call without a name. The call begins once the name arrives, with everything received before. */
function resume(calls: readonly Call[], call: Call, entry: Fields, delta: Delta, rules: Rules, name = delta.name): Fields | undefined {
  const isFirst = Object.keys(call.held).length === 0
  const held = { ...entry, ...call.held }
  call.wireId ??= delta.id
  call.text += delta.text
  call.scan = advance(call.scan, delta.text)
  call.held = held
  if (name === undefined) return undefined
  const taken = calls.filter((other) => other.name !== undefined).map((other) => other.id)
  const id = idFor(call.wireId, taken, rules)
  const { called } = delta
  const found = [
    held['index'] !== call.index && note(call, rules, WHY.index, held['index'], call.index),
    id !== (isFirst ? entry['id'] : call.wireId) && note(call, rules, WHY.id, call.wireId, id),
    !isFirst && note(call, rules, WHY.lateName, undefined, name),
    name !== delta.name && note(call, rules, WHY.earlyName, delta.name, name),
    !isText(called) && note(call, rules, WHY.arguments, called['arguments'], delta.text),
  ]
  Object.assign(call, { id, name, held: {} })
  if (!found.some(Boolean)) return entry
  return { ...held, index: call.index, id, type: 'function', function: { ...called, name, arguments: call.text } }
}

const isText = (called: Fields): boolean => typeof (called['arguments'] ?? '') === 'string'

function proceed(call: Call, entry: Fields, delta: Delta, rules: Rules): Fields {
  const { id, ...rest } = entry
  const { name, ...called } = delta.called
  const keepsId = delta.id === undefined ? typeof id !== 'number' : id === call.id
  const keepsName = typeof name === 'string' && name.trim() === ''
  const found = [
    !isRecord(entry['function']) && note(call, rules, WHY.function, entry['function'], {}),
    entry['index'] !== call.index && note(call, rules, WHY.index, entry['index'], call.index),
    !keepsId && note(call, rules, WHY.laterId, id, call.id),
    name !== undefined && !keepsName && note(call, rules, WHY.name, name, undefined),
    !isText(called) && note(call, rules, WHY.arguments, called['arguments'], delta.text),
  ]
  call.isNamedAgain = call.scan.state === 'whole' && (call.isNamedAgain || delta.name !== undefined)
  call.text += delta.text
  call.scan = advance(call.scan, delta.text)
  if (!found.some(Boolean)) return entry
  return {
    ...rest,
    index: call.index,
    ...(keepsId && 'id' in entry && { id }),
    function: { ...called, ...(keepsName && { name }), ...(delta.text !== '' && { arguments: delta.text }) },
  }
}

function note(call: Call, rules: Rules, why: string, from: unknown, to: unknown): true {
  if (!call.noted.has(why)) tell(rules, wire(from, to, why))
  call.noted.add(why)
  return true
}

export interface Scan {
  readonly depth: number
  readonly inString: boolean
  readonly escaped: boolean
  /**
   * `empty`: only white space. `open`: inside an object, list or string. `whole`: closed. `other`: text followed after it was closed,
   * or it is a bare word, which may or may not be complete.
   */
  readonly state: 'empty' | 'open' | 'whole' | 'other'
}

export const NOTHING: Scan = { depth: 0, inString: false, escaped: false, state: 'empty' }

export function advance(scan: Scan, text: string): Scan {
  let { depth, inString, escaped, state } = scan
  for (let at = 0; at < text.length && state !== 'other'; at++) {
    const char = text[at] as string
    if (inString) {
      if (escaped) escaped = false
      else if (char === '\\') escaped = true
      else if (char === '"') inString = false
      if (!inString && depth === 0) state = 'whole'
      continue
    }
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') continue
    if (state === 'whole') state = 'other'
    else if (char === '"') [inString, state] = [true, 'open']
    else if (char === '{' || char === '[') [depth, state] = [depth + 1, 'open']
    else if (char === '}' || char === ']') [depth, state] = [depth - 1, depth === 1 ? 'whole' : depth < 1 ? 'other' : 'open']
    else if (depth === 0) state = 'other'
  }
  return { depth, inString, escaped, state }
}
