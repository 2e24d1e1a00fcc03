/** One chunk of a streamed reply, repaired: its calls, and why it ended. */
import { MAX_CHOICES } from '../limits.ts'
import type { Repair } from '../repair.ts'
import { isRecord } from '../schema/validate.ts'
import { type Call, step, WHY } from './calls.ts'
import { CUT, type CutOff, repairFinish } from './finish.ts'
import type { Ids } from './ids.ts'

type Fields = Readonly<Record<string, unknown>>

export interface Rules extends Ids {
  readonly cutOff: CutOff
}

interface Choice {
  readonly calls: readonly Call[]
  /** As it went out last. */
  readonly reason: unknown
  /** It has calls of another kind: nothing of it is touched any more. */
  readonly foreign?: true
  /** How many calls it had beyond those that are taken. */
  readonly dropped?: number
}

export interface Reply {
  /** Fields that every chunk of it has: for chunks that have to be added. */
  readonly head: Fields
  readonly choices: ReadonlyMap<number, Choice>
}

export const NO_REPLY: Reply = { head: {}, choices: new Map() }

export interface Repaired {
  readonly reply: Reply
  /** Goes out before the chunk. */
  readonly before: readonly Fields[]
  /** Undefined: it goes out as it came. */
  readonly chunk: Fields | undefined
  readonly repairs: readonly Repair[]
}

const NO_CHOICE: Choice = { calls: [], reason: undefined }

export function repairChunk(reply: Reply, chunk: Fields, rules: Rules): Repaired {
  const given = chunk['choices']
  if (!Array.isArray(given)) return { reply, before: [], chunk: undefined, repairs: [] }
  const { choices: _, usage: __, ...head } = chunk
  const choices = new Map(reply.choices)
  const before: Fields[] = []
  const repairs: Repair[] = []
  let isRepaired = false
  const repaired = given.map((one) => {
    if (!isRecord(one)) return one
    const place = placeOf(one)
    if (!choices.has(place) && choices.size >= MAX_CHOICES) return one
    const next = repairChoice(choices.get(place) ?? NO_CHOICE, one, rules)
    choices.set(place, next.choice)
    repairs.push(...next.repairs)
    if (next.before) before.push({ ...head, choices: [{ index: place, delta: next.before, finish_reason: null }] })
    if (next.fields !== one) isRepaired = true
    return next.fields
  })
  return { reply: { head, choices }, before, chunk: isRepaired ? { ...chunk, choices: repaired } : undefined, repairs }
}

/** What is missing when the server says that it is done: a reason for every choice that has none. */
export function missingEnd(reply: Reply): { readonly chunks: readonly Fields[]; readonly repairs: readonly Repair[] } {
  const chunks: Fields[] = []
  const repairs: Repair[] = []
  for (const [index, { calls, reason, foreign }] of reply.choices) {
    if (foreign) continue
    const begun = calls.filter((call) => call.name !== undefined)
    const isLate = reason === 'stop' && begun.length > 0
    if (isReason(reason) && !isLate) continue
    const to = begun.length > 0 ? 'tool_calls' : 'stop'
    const delta = leftOver(calls)
    chunks.push({ ...reply.head, choices: [{ index, delta: delta ?? {}, finish_reason: to }] })
    repairs.push({ kind: 'wire', from: reason, to, why: 'the server was done without a finish reason that fits' })
  }
  return { chunks, repairs }
}

/** Calls that were left out because the reply had too many. */
export const droppedIn = (reply: Reply): number => [...reply.choices.values()].reduce((sum, { dropped = 0 }) => sum + dropped, 0)

/** The number of a choice; most servers send one choice, and some leave its number out. */
const placeOf = (choice: Fields): number => (typeof choice['index'] === 'number' ? choice['index'] : 0)

const isReason = (reason: unknown): boolean => typeof reason === 'string' && reason !== ''

interface RepairedChoice {
  readonly choice: Choice
  /** A delta that goes out first. */
  readonly before: Fields | undefined
  /** The same object where nothing was repaired. */
  readonly fields: Fields
  readonly repairs: readonly Repair[]
}

/** A call of another kind than a function's: of these nothing is known, so nothing is repaired. */
const isForeign = (delta: Fields): boolean =>
  Array.isArray(delta['tool_calls']) &&
  delta['tool_calls'].some(
    (one) => isRecord(one) && !('function' in one) && (isRecord(one['custom']) || (one['type'] ?? 'function') !== 'function'),
  )

function repairChoice(choice: Choice, fields: Fields, rules: Rules): RepairedChoice {
  const repairs: Repair[] = []
  const given = isRecord(fields['delta']) ? fields['delta'] : {}
  if (choice.foreign || isForeign(given)) return { choice: { ...choice, foreign: true }, before: undefined, fields, repairs }
  const delta = repairDelta(choice.calls, given, rules)
  const dropped = (choice.dropped ?? 0) + delta.dropped
  const more = dropped > 0 ? { dropped } : {}
  repairs.push(...delta.repairs)
  const reason = fields['finish_reason']
  if (!isReason(reason)) {
    const next = delta.fields === given ? fields : { ...fields, delta: delta.fields }
    return { choice: { ...choice, ...more, calls: delta.calls }, before: undefined, fields: next, repairs }
  }
  const begun = delta.calls.filter((call) => call.name !== undefined)
  const finish = repairFinish(reason, begun.length > 0, rules.cutOff)
  if (finish) repairs.push({ kind: 'wire', from: reason, to: finish.reason, why: finish.why })
  // A call that was cut off before it had a name is not a call: handed on, it would only break the reader.
  const held = leftOver(delta.calls)
  const before = reason === 'length' ? undefined : held
  if (held && !before) repairs.push({ kind: 'wire', from: held, to: undefined, why: 'a call was cut off before it had a name' })
  const wasCutInHeader = delta.calls.at(-1)?.name === undefined
  const last = finish?.isCut && !wasCutInHeader ? begun.at(-1) : undefined
  const isReadable = last !== undefined && last.scan.state !== 'open'
  const cut = isReadable ? cutOffDelta(delta.fields, last) : { before: undefined, fields: delta.fields }
  const next = {
    ...fields,
    ...(cut.fields !== given && { delta: cut.fields }),
    ...(finish && { finish_reason: finish.reason }),
  }
  const isRepaired = cut.fields !== given || finish !== undefined
  return {
    choice: { calls: begun, reason: finish ? finish.reason : reason, ...more },
    before: before ?? cut.before,
    fields: isRepaired ? next : fields,
    repairs,
  }
}

/** Makes the arguments of the last call unreadable: in this delta, where they are in it, otherwise in one before. */
function cutOffDelta(delta: Fields, last: Call): { readonly before: Fields | undefined; readonly fields: Fields } {
  const entries: readonly unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : []
  const at = entries.findLastIndex((entry) => isRecord(entry) && entry['index'] === last.index)
  const entry = entries[at]
  if (!isRecord(entry)) return { before: { tool_calls: [{ index: last.index, function: { arguments: CUT } }] }, fields: delta }
  const called = isRecord(entry['function']) ? entry['function'] : {}
  const text = typeof called['arguments'] === 'string' ? called['arguments'] : ''
  const cut = { ...entry, function: { ...called, arguments: text + CUT } }
  return { before: undefined, fields: { ...delta, tool_calls: entries.with(at, cut) } }
}

/** Calls whose name never came: as broken as they are, for the reader to refuse. */
function leftOver(calls: readonly Call[]): Fields | undefined {
  const held = calls.filter((call) => call.name === undefined)
  if (held.length === 0) return undefined
  const called = (call: Call): object => (isRecord(call.held['function']) ? call.held['function'] : {})
  return { tool_calls: held.map((call) => ({ ...call.held, index: call.index, function: { ...called(call), arguments: call.text } })) }
}

interface RepairedDelta {
  readonly calls: readonly Call[]
  readonly fields: Fields
  readonly repairs: readonly Repair[]
  readonly dropped: number
}

function repairDelta(calls: readonly Call[], delta: Fields, rules: Rules): RepairedDelta {
  const { function_call: legacy, ...rest } = delta
  const given: readonly unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : []
  const isLegacy = given.length === 0 && isRecord(legacy)
  if (given.length === 0 && !isLegacy) return { calls, fields: delta, repairs: [], dropped: 0 }
  const repairs: Repair[] = []
  if (isLegacy && calls.length === 0) repairs.push({ kind: 'wire', from: 'function_call', to: 'tool_calls', why: WHY.legacy })
  let known = calls
  let isRepaired = isLegacy
  let dropped = 0
  const out: unknown[] = []
  for (const entry of isLegacy ? [{ function: legacy }] : given) {
    if (!isRecord(entry)) {
      out.push(entry)
      continue
    }
    const next = step(known, entry, rules)
    known = next.calls
    repairs.push(...next.repairs)
    if (next.dropped) dropped++
    if (next.entry) out.push(next.entry)
    if (next.entry !== entry) isRepaired = true
  }
  if (!isRepaired) return { calls: known, fields: delta, repairs, dropped }
  const { tool_calls: _, ...others } = isLegacy ? rest : delta
  return { calls: known, fields: out.length > 0 ? { ...others, tool_calls: out } : others, repairs, dropped }
}
