/** Repairs the calls and the finish reason in one chunk of a streamed reply. */
import { MAX_CHOICES } from '../limits.ts'
import { isRecord } from '../schema/validate.ts'
import { type Call, step } from './calls.ts'
import { CUT, callsOf, type Fields, LEGACY, type Rules, repairFinish, tell, wire } from './rules.ts'

interface Choice {
  calls: Call[]
  /** The finish reason as last sent on. */
  reason: unknown
  /** It has calls of another kind, so it is no longer changed. */
  foreign: boolean
}

/** A reply as received so far. */
export interface Reply {
  /** Fields shared by every chunk, for chunks that have to be added. */
  head: Fields
  readonly choices: Map<number, Choice>
  /** Number of calls left out because a choice had too many. */
  dropped: number
}

/** Returns the chunks to send on for a chunk with choices: added chunks, then the chunk (the same object if nothing was repaired). */
export function repairChunk(reply: Reply, chunk: Fields, given: readonly unknown[], rules: Rules): readonly Fields[] {
  const { choices: _, usage: __, ...head } = chunk
  const before: Fields[] = []
  reply.head = head
  const choices = given.map((one) => {
    if (!isRecord(one)) return one
    // Most servers send one choice, and some omit its index.
    const index = typeof one['index'] === 'number' ? one['index'] : 0
    const choice = reply.choices.get(index) ?? { calls: [], reason: undefined, foreign: false }
    if (!reply.choices.has(index) && reply.choices.size >= MAX_CHOICES) return one
    reply.choices.set(index, choice)
    const [fields, delta] = repairChoice(reply, choice, one, rules)
    if (delta) before.push({ ...head, choices: [{ index, delta, finish_reason: null }] })
    return fields
  })
  return [...before, choices.every((one, at) => one === given[at]) ? chunk : { ...chunk, choices }]
}

/** Returns what is missing when the server says that it is done: a finish reason for every choice without one. */
export function missingEnd(reply: Reply, rules: Rules): readonly Fields[] {
  return [...reply.choices].flatMap(([index, { calls, reason, foreign }]) => {
    const hasBegun = calls.some((call) => call.name !== undefined)
    const isLate = reason === 'stop' && hasBegun
    if (foreign || (isReason(reason) && !isLate)) return []
    const to = hasBegun ? 'tool_calls' : 'stop'
    tell(rules, wire(reason, to, 'the server was done without a finish reason that fits'))
    return [{ ...reply.head, choices: [{ index, delta: withoutName(calls) ?? {}, finish_reason: to }] }]
  })
}

const isReason = (reason: unknown): boolean => typeof reason === 'string' && reason !== ''

/** Returns whether the delta has a call that is not a function call. Such calls are unknown, so they are not repaired. */
const isForeign = (delta: Fields): boolean =>
  Array.isArray(delta['tool_calls']) &&
  delta['tool_calls'].some(
    (one) => isRecord(one) && !('function' in one) && (isRecord(one['custom']) || (one['type'] ?? 'function') !== 'function'),
  )

/** Returns the choice, the same object if nothing was repaired, and a delta to send first. */
function repairChoice(reply: Reply, choice: Choice, fields: Fields, rules: Rules): readonly [fields: Fields, before?: Fields | undefined] {
  const given = isRecord(fields['delta']) ? fields['delta'] : {}
  choice.foreign ||= isForeign(given)
  if (choice.foreign) return [fields]
  const delta = repairDelta(reply, choice, given, rules)
  const reason = fields['finish_reason']
  if (!isReason(reason)) return [delta === given ? fields : { ...fields, delta }]
  const begun = choice.calls.filter((call) => call.name !== undefined)
  const finish = repairFinish(reason, begun.length > 0, rules)
  // A call cut off before it had a name is not a call; passing it on would only break the reader.
  const held = withoutName(choice.calls)
  if (held && reason === 'length') tell(rules, wire(held, undefined, 'a call was cut off before it had a name'))
  const last = finish?.isCut ? choice.calls.at(-1) : undefined
  choice.calls = begun
  choice.reason = finish ? finish.reason : reason
  const isReadable = last?.name !== undefined && last.scan.state !== 'open'
  const cut = isReadable ? cutOff(delta, last.index) : delta
  const before = reason === 'length' ? undefined : held
  const unreadable = cut ? undefined : { tool_calls: [{ index: last?.index, function: { arguments: CUT } }] }
  const next = cut ?? delta
  const isSame = next === given && !finish
  return [
    isSame ? fields : { ...fields, ...(next !== given && { delta: next }), ...(finish && { finish_reason: finish.reason }) },
    before ?? unreadable,
  ]
}

/** Makes the arguments of a call unreadable. Returns undefined if they came in an earlier delta. */
function cutOff(delta: Fields, index: number): Fields | undefined {
  const entries: readonly unknown[] = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : []
  const at = entries.findLastIndex((entry) => isRecord(entry) && entry['index'] === index)
  const entry = entries[at]
  if (!isRecord(entry)) return undefined
  const called = isRecord(entry['function']) ? entry['function'] : {}
  const text = typeof called['arguments'] === 'string' ? called['arguments'] : ''
  return { ...delta, tool_calls: entries.with(at, { ...entry, function: { ...called, arguments: text + CUT } }) }
}

/** Returns the calls whose name never arrived, unrepaired, so that the reader refuses them. */
function withoutName(calls: readonly Call[]): Fields | undefined {
  const held = calls.filter((call) => call.name === undefined)
  const called = (call: Call): object => (isRecord(call.held['function']) ? call.held['function'] : {})
  if (held.length === 0) return undefined
  return { tool_calls: held.map((call) => ({ ...call.held, index: call.index, function: { ...called(call), arguments: call.text } })) }
}

/** Repairs a delta. Returns the delta itself if nothing was repaired. */
function repairDelta(reply: Reply, { calls }: Choice, delta: Fields, rules: Rules): Fields {
  const { given, isLegacy, rest } = callsOf(delta)
  if (isLegacy && calls.length === 0) tell(rules, LEGACY)
  const out = given.flatMap((entry) => {
    const next = isRecord(entry) ? step(calls, entry, rules) : entry
    if (next === 'dropped') reply.dropped++
    return next === 'dropped' || (next === undefined && entry !== undefined) ? [] : [next]
  })
  if (!isLegacy && out.length === given.length && out.every((entry, at) => entry === given[at])) return delta
  const { tool_calls: _, ...others } = rest
  return out.length > 0 ? { ...others, tool_calls: out } : others
}
