/** Passes resolved calls to the SDK's parser, and tells the model what is wrong if that fails. */
import type { LanguageModelV4ToolCall } from '@ai-sdk/provider'
import { type Prepared, render } from '@mulligan/core'
import type { MulliganOptions } from './options.ts'
import type { Repair, RepairRequest } from './settings.ts'
import type { Turn } from './turn.ts'

/** For the SDK to parse; as it came when nothing was repaired, or when it is refused. */
export function resolved(call: LanguageModelV4ToolCall, outcome: Prepared | undefined): LanguageModelV4ToolCall {
  if (!outcome || outcome.kind === 'result') return call
  const { tool, input, repairs } = outcome.call
  return repairs.length === 0 ? call : { ...call, toolName: tool, input: JSON.stringify(input) }
}

/**
 * A call that the SDK cannot parse. The user's own repair has its turn where the engine found none; then the SDK's error, whose
 * text the model and the person read, gets the engine's words.
 */
export async function repaired(turn: Turn, request: RepairRequest, theirs: Repair | undefined, log: MulliganOptions['log']) {
  const { toolCall, error } = request
  const { toolCallId } = toolCall
  let call = toolCall
  if (!turn.outcomeOf(toolCallId)) {
    try {
      call = { ...toolCall, ...(await theirs?.(request)), toolCallId }
    } catch (thrown) {
      log?.({ callId: toolCallId, tool: toolCall.toolName, error: thrown })
    }
    await turn.admit(call)
  }
  const outcome = turn.outcomeOf(toolCallId)
  const read = resolved(call, outcome)
  const isNew = read.toolName !== toolCall.toolName || read.input !== toolCall.input
  if (outcome?.kind !== 'result' && isNew) return read
  // What the SDK does not take as it is, such as a call of a tool that is not active in this step, does not run.
  const result = !outcome || outcome.kind === 'result' ? outcome?.record.result : (await turn.deny(outcome.call, error.message)).result
  const message = result ? render(result) : error.message
  Object.assign(error, { message, toString: () => message })
  return null
}
