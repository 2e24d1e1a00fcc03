/** Which call a delta belongs to, whatever the server did to its id and index: on id first, then name, then index, then on whether the arguments are whole. */
import { MAX_CALLS_PER_REPLY } from '../limits.ts'
import type { Repair } from '../repair.ts'
import { isRecord } from '../schema/validate.ts'
import { type Ids, idFor } from './ids.ts'
import { advance, NOTHING, type Scan } from './scan.ts'

type Entry = Readonly<Record<string, unknown>>

/** A call of one choice, as far as it has come. */
export interface Call {
  /** As they go out; the id once it has begun. */
  readonly index: number
  readonly id: string
  /** As they came. */
  readonly wireId: string | undefined
  readonly wireIndex: number | undefined
  /** Undefined: held back, since a call without a name cannot begin. */
  readonly name: string | undefined
  readonly text: string
  readonly scan: Scan
  /** Its name came again after it was whole: either a mere repetition, or the next call begins. The arguments will tell. */
  readonly isNamedAgain: boolean
  /** The fields of a call that is held back. */
  readonly held: Entry
  /** What was repaired in it: noted once, not for every delta. */
  readonly noted: readonly string[]
}

export interface CallStep {
  readonly calls: readonly Call[]
  /** What goes out: the entry itself where nothing was repaired, nothing where it is held back or a mere repetition. */
  readonly entry: Entry | undefined
  readonly repairs: readonly Repair[]
  /** It began a call beyond {@link MAX_CALLS_PER_REPLY}. */
  readonly dropped?: boolean
}

interface Delta {
  readonly id: string | undefined
  readonly index: number | undefined
  readonly name: string | undefined
  readonly text: string
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
  legacy: 'a call of the old kind, function_call',
} as const

/** One entry of `delta.tool_calls`. */
export function step(calls: readonly Call[], entry: Entry, ids: Ids): CallStep {
  const delta = readDelta(entry)
  const call = owner(calls, delta)
  // Each entry is compared with all calls before it: without a limit, the work would grow with the square of their number.
  if (calls.length >= MAX_CALLS_PER_REPLY && (!call || call.scan.state === 'whole'))
    return { calls, entry: undefined, repairs: [], dropped: delta.name !== undefined && (!call || begins(delta)) }
  if (!call) return open(calls, entry, delta, delta.name, ids)
  if (isRepetition(call, delta)) {
    const { noted, repairs } = note(call, [[WHY.again, entry, undefined]])
    return { calls: replace(calls, { ...call, noted }), entry: undefined, repairs }
  }
  if (call.isNamedAgain && call.scan.state === 'whole' && delta.text.trim() !== '') return open(calls, entry, delta, call.name, ids)
  return call.name === undefined ? resume(calls, call, entry, delta, ids) : proceed(calls, call, entry, delta)
}

function readDelta(entry: Entry): Delta {
  const { id, index } = entry
  const called = isRecord(entry['function']) ? entry['function'] : {}
  const place = typeof index === 'string' && /^\d+$/.test(index) ? Number(index) : index
  return {
    id: typeof id === 'number' ? String(id) : filled(id),
    index: typeof place === 'number' && Number.isInteger(place) && place >= 0 ? place : undefined,
    name: filled(called['name']),
    text: argumentText(called['arguments']) ?? '',
  }
}

const filled = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value : undefined)

/** Arguments as the text they should have been; undefined for none. */
export const argumentText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : value === undefined || value === null ? undefined : JSON.stringify(value)

const begins = (delta: Delta): boolean => /^\s*[{["]/.test(delta.text)
/** A piece from the middle of an object: no call begins like this. */
const isMiddle = (delta: Delta): boolean => delta.text.trim() !== '' && !begins(delta)

/** The call that a delta continues; undefined: it begins another. */
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
  const moved = delta.index !== undefined && known.wireIndex !== undefined && delta.index !== known.wireIndex
  if (delta.name === undefined && moved) return there ?? (known.scan.state === 'whole' && begins(delta) ? undefined : known)
  if (delta.name === undefined) return known
  if (known.name === undefined) return known
  if (known.name !== delta.name || moved) return undefined
  return known.scan.state === 'whole' && begins(delta) && !isRepetition(known, delta) ? undefined : known
}

function ofName(near: Call | undefined, delta: Delta): Call | undefined {
  if (!near || near.name === undefined) return near
  if (near.name !== delta.name) return undefined
  // An id of its own makes it a call of its own, unless the call before is in the middle of an object that this continues.
  if (delta.id !== undefined) return near.scan.state === 'open' && isMiddle(delta) ? near : undefined
  return near.scan.state === 'whole' && begins(delta) ? undefined : near
}

/** The call that arguments without any label belong to. */
function openCall(calls: readonly Call[]): Call | undefined {
  const last = calls.at(-1)
  return last?.scan.state === 'whole' ? (calls.findLast((call) => call.scan.state === 'open') ?? last) : last
}

/** Arguments under an index that nothing began under. */
function stray(last: Call | undefined, delta: Delta): Call | undefined {
  if (!last) return undefined
  const isUnplaced = last.wireIndex === undefined && last.scan.state !== 'whole'
  return isUnplaced || (last.scan.state === 'open' && isMiddle(delta)) ? last : undefined
}

/** To run a call twice is worse than to lose one that is the same in everything, its id included. */
const isRepetition = (call: Call, delta: Delta): boolean =>
  call.scan.state === 'whole' && delta.id !== undefined && delta.id === call.wireId && delta.name === call.name && delta.text === call.text

function open(calls: readonly Call[], entry: Entry, delta: Delta, name: string | undefined, ids: Ids): CallStep {
  const places = calls.map((call) => call.index)
  const index =
    delta.index !== undefined && !places.includes(delta.index) ? delta.index : places.reduce((next, place) => Math.max(next, place + 1), 0)
  const call: Call = {
    index,
    id: '',
    wireId: delta.id,
    wireIndex: delta.index,
    name: undefined,
    text: '',
    scan: NOTHING,
    isNamedAgain: false,
    held: {},
    noted: [],
  }
  return resume([...calls, call], call, entry, delta, ids, name)
}

/** A call without a name yet: it begins where the name is there, with all that came before. */
function resume(calls: readonly Call[], call: Call, entry: Entry, delta: Delta, ids: Ids, name: string | undefined = delta.name): CallStep {
  const text = call.text + delta.text
  const isFirst = Object.keys(call.held).length === 0
  const held = { ...entry, ...call.held }
  const wireId = call.wireId ?? delta.id
  const grown: Call = { ...call, wireId, text, name, scan: advance(call.scan, delta.text), held }
  if (name === undefined) return { calls: replace(calls, grown), entry: undefined, repairs: [] }
  const called = isRecord(entry['function']) ? entry['function'] : {}
  const taken = calls.filter((other) => other.name !== undefined).map((other) => other.id)
  const id = idFor(wireId, taken, ids)
  const found: Fault[] = []
  if (held['index'] !== call.index) found.push([WHY.index, held['index'], call.index])
  if (id !== (isFirst ? entry['id'] : wireId)) found.push([WHY.id, wireId, id])
  if (!isFirst) found.push([WHY.lateName, undefined, name])
  if (name !== delta.name) found.push([WHY.earlyName, delta.name, name])
  if (typeof (called['arguments'] ?? '') !== 'string') found.push([WHY.arguments, called['arguments'], delta.text])
  const { noted, repairs } = note(grown, found)
  const next = replace(calls, { ...grown, id, noted, held: {} })
  if (found.length === 0) return { calls: next, entry, repairs }
  const begun = { ...held, index: call.index, id, type: 'function', function: { ...called, name, arguments: text } }
  return { calls: next, entry: begun, repairs }
}

function proceed(calls: readonly Call[], call: Call, entry: Entry, delta: Delta): CallStep {
  const { id, ...rest } = entry
  const { name, ...called } = isRecord(entry['function']) ? entry['function'] : {}
  const found: Fault[] = []
  if (!isRecord(entry['function'])) found.push([WHY.function, entry['function'], {}])
  if (entry['index'] !== call.index) found.push([WHY.index, entry['index'], call.index])
  const keepsId = delta.id === undefined ? typeof id !== 'number' : id === call.id
  if (!keepsId) found.push([WHY.laterId, id, call.id])
  const keepsName = typeof name === 'string' && name.trim() === ''
  if (name !== undefined && !keepsName) found.push([WHY.name, name, undefined])
  if (typeof (called['arguments'] ?? '') !== 'string') found.push([WHY.arguments, called['arguments'], delta.text])
  const { noted, repairs } = note(call, found)
  const isNamedAgain = call.scan.state === 'whole' && (call.isNamedAgain || delta.name !== undefined)
  const grown = { ...call, text: call.text + delta.text, scan: advance(call.scan, delta.text), isNamedAgain, noted }
  const next = replace(calls, grown)
  if (found.length === 0) return { calls: next, entry, repairs }
  const repaired = {
    ...rest,
    index: call.index,
    ...(keepsId && 'id' in entry && { id }),
    function: { ...called, ...(keepsName && { name }), ...(delta.text !== '' && { arguments: delta.text }) },
  }
  return { calls: next, entry: repaired, repairs }
}

const replace = (calls: readonly Call[], call: Call): readonly Call[] => calls.map((one) => (one.index === call.index ? call : one))

type Fault = readonly [why: string, from: unknown, to: unknown]

function note(call: Call, found: readonly Fault[]): { readonly noted: readonly string[]; readonly repairs: readonly Repair[] } {
  const fresh = found.filter(([why]) => !call.noted.includes(why))
  return {
    noted: [...call.noted, ...fresh.map(([why]) => why)],
    repairs: fresh.map(([why, from, to]) => ({ kind: 'wire', from, to, why })),
  }
}
