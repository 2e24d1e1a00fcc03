/** A whole reply, repaired: the same faults as in a stream, without the pieces. */
import { droppedCalls, MAX_CALLS_PER_REPLY, MAX_CHOICES } from '../limits.ts'
import type { Repair } from '../repair.ts'
import { isRecord } from '../schema/validate.ts'
import { argumentText, WHY } from './calls.ts'
import type { Rules } from './chunk.ts'
import { CUT, repairFinish } from './finish.ts'
import { idFor } from './ids.ts'

type Fields = Readonly<Record<string, unknown>>

/** The reply with its calls repaired; the same object where there was nothing to repair. */
export function repairReply(reply: Fields, rules: Rules): { readonly reply: Fields; readonly repairs: readonly Repair[] } {
  const given = reply['choices']
  if (!Array.isArray(given)) return { reply, repairs: [] }
  const repairs: Repair[] = []
  const choices = given.map((choice, at) => (at < MAX_CHOICES && isRecord(choice) ? repairChoice(choice, rules, repairs) : choice))
  return { reply: choices.some((choice, at) => choice !== given[at]) ? { ...reply, choices } : reply, repairs }
}

function repairChoice(choice: Fields, rules: Rules, repairs: Repair[]): Fields {
  const message = choice['message']
  if (!isRecord(message)) return choice
  const { function_call: legacy, ...rest } = message
  const given: readonly unknown[] = Array.isArray(message['tool_calls']) ? message['tool_calls'] : []
  const isLegacy = given.length === 0 && isRecord(legacy)
  if (isLegacy) repairs.push({ kind: 'wire', from: 'function_call', to: 'tool_calls', why: WHY.legacy })
  const came = isLegacy ? [{ function: legacy }] : given
  const repaired = repairCalls(came.slice(0, MAX_CALLS_PER_REPLY), rules, repairs)
  if (came.length > repaired.length) repairs.push(droppedCalls(came.length - repaired.length))
  const finish = repairFinish(choice['finish_reason'], repaired.length > 0, rules.cutOff)
  if (finish) repairs.push({ kind: 'wire', from: choice['finish_reason'], to: finish.reason, why: finish.why })
  const calls = finish?.isCut ? repaired.with(-1, cutOff(repaired.at(-1))) : repaired
  const isSame = !isLegacy && calls.length === given.length && calls.every((call, at) => call === given[at])
  if (isSame && !finish) return choice
  return {
    ...choice,
    ...(!isSame && { message: { ...(isLegacy ? rest : message), tool_calls: calls } }),
    ...(finish && { finish_reason: finish.reason }),
  }
}

function repairCalls(given: readonly unknown[], rules: Rules, repairs: Repair[]): readonly unknown[] {
  const taken: string[] = []
  return given.map((call) => {
    if (!isRecord(call) || !isRecord(call['function'])) return call
    const called = call['function']
    const came = call['id']
    const id = idFor(typeof came === 'string' && came.trim() !== '' ? came : undefined, taken, rules)
    taken.push(id)
    const text = argumentText(called['arguments']) ?? '{}'
    if (id !== came) repairs.push({ kind: 'wire', from: came, to: id, why: WHY.id })
    if (text !== called['arguments']) repairs.push({ kind: 'wire', from: called['arguments'], to: text, why: WHY.arguments })
    if (id === came && text === called['arguments']) return call
    return { type: 'function', ...call, id, function: { ...called, arguments: text } }
  })
}

/** Whole or not: what could be read, or repaired, would be run. */
function cutOff(call: unknown): unknown {
  if (!isRecord(call) || !isRecord(call['function'])) return call
  return { ...call, function: { ...call['function'], arguments: `${argumentText(call['function']['arguments']) ?? ''}${CUT}` } }
}
