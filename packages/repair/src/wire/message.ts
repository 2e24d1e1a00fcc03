/** Repairs a complete reply: the same faults as in a stream, without the deltas. */
import { droppedCalls, MAX_CALLS_PER_REPLY, MAX_CHOICES } from '../limits.ts'
import { isRecord } from '../schema/validate.ts'
import { argumentText, WHY } from './calls.ts'
import { CUT, callsOf, type Fields, idFor, LEGACY, type Rules, repairFinish, tell, wire } from './rules.ts'

/** Returns the reply with its calls repaired, or the same object if nothing was repaired. */
export function repairReply(reply: Fields, rules: Rules): Fields {
  const given = reply['choices']
  if (!Array.isArray(given)) return reply
  const choices = given.map((choice, at) => (at < MAX_CHOICES && isRecord(choice) ? repairChoice(choice, rules) : choice))
  return choices.some((choice, at) => choice !== given[at]) ? { ...reply, choices } : reply
}

function repairChoice(choice: Fields, rules: Rules): Fields {
  const message = choice['message']
  if (!isRecord(message)) return choice
  const { given, isLegacy, rest } = callsOf(message)
  if (isLegacy) tell(rules, LEGACY)
  const repaired = repairCalls(given.slice(0, MAX_CALLS_PER_REPLY), rules)
  if (given.length > repaired.length) tell(rules, droppedCalls(given.length - repaired.length))
  const finish = repairFinish(choice['finish_reason'], repaired.length > 0, rules)
  const calls = finish?.isCut ? repaired.with(-1, cutOff(repaired.at(-1))) : repaired
  const isSame = !isLegacy && calls.length === given.length && calls.every((call, at) => call === given[at])
  if (isSame && !finish) return choice
  return { ...choice, ...(!isSame && { message: { ...rest, tool_calls: calls } }), ...(finish && { finish_reason: finish.reason }) }
}

function repairCalls(given: readonly unknown[], rules: Rules): readonly unknown[] {
  const taken: string[] = []
  return given.map((call) => {
    if (!isRecord(call) || !isRecord(call['function'])) return call
    const called = call['function']
    const came = call['id']
    const id = idFor(typeof came === 'string' && came.trim() !== '' ? came : undefined, taken, rules)
    taken.push(id)
    const text = argumentText(called['arguments']) ?? '{}'
    if (id !== came) tell(rules, wire(came, id, WHY.id))
    if (text !== called['arguments']) tell(rules, wire(called['arguments'], text, WHY.arguments))
    if (id === came && text === called['arguments']) return call
    return { type: 'function', ...call, id, function: { ...called, arguments: text } }
  })
}

/** Makes the arguments unreadable, complete or not: anything readable or repairable would be run. */
function cutOff(call: unknown): unknown {
  if (!isRecord(call) || !isRecord(call['function'])) return call
  return { ...call, function: { ...call['function'], arguments: `${argumentText(call['function']['arguments']) ?? ''}${CUT}` } }
}
