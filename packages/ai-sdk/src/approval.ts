/** Tells the SDK what the engine decided about a call: whether it needs approval, how to parse it, and what is wrong with it. */
import type { LanguageModelV4ToolCall } from '@ai-sdk/provider'
import { render } from '@mulligan/core'
import type { Prepared } from '@mulligan/core/executor'
import type { ModelMessage, ToolSet } from 'ai'
import type { MulliganOptions } from './options.ts'
import type { About, GivenStatus, Repair, RepairRequest, Settings, Status } from './settings.ts'
import { isForeign } from './tools.ts'
import type { SdkCall, Turn } from './turn.ts'

const STRICTNESS = ['not-applicable', 'approved', 'user-approval', 'denied']
const statusOf = (given: GivenStatus): Status => (typeof given === 'string' ? { type: given } : (given ?? { type: 'not-applicable' }))

/** The stricter of what the user's settings and the engine say about a call before it runs. */
async function approval(
  turn: Turn,
  call: SdkCall,
  messages: readonly ModelMessage[],
  { theirs, isRunHere }: { readonly theirs: () => GivenStatus | PromiseLike<GivenStatus>; readonly isRunHere: boolean },
): Promise<Status> {
  const outcome = await turn.prepared(call, messages)
  // A refused call needs no approval. Its result is reported when it is to run, or here if it runs elsewhere.
  if (outcome?.kind === 'result') return isRunHere ? statusOf(undefined) : { type: 'denied', reason: render(outcome.record.result) }
  // What runs elsewhere is up to the client, unless the app has a policy or only a person may answer.
  const asks = outcome?.kind === 'approval' && (isRunHere || turn.hasPolicy || outcome.request.forced)
  const ours: Status = asks ? { type: 'user-approval', reason: outcome.request.reason } : statusOf(undefined)
  const given = statusOf(await theirs())
  const status = STRICTNESS.indexOf(given.type) >= STRICTNESS.indexOf(ours.type) ? given : ours
  if (outcome && status.type === 'denied') await turn.deny(outcome.call, status.reason)
  return status
}

type ToolApproval = NonNullable<Settings['toolApproval']>

/**
 * In the same form as the user's own setting, which determines how the SDK calls it.
 * @param canAsk whether the engine may ask a person. If not, a tool that runs here and has no approval of its own gets none.
 */
export function approvals(turn: Turn, tools: ToolSet, theirs: ToolApproval | undefined, canAsk: boolean): ToolApproval {
  const isRunHere = (name: string): boolean => !Object.hasOwn(tools, name) || tools[name]?.execute !== undefined
  if (typeof theirs === 'function')
    return (request) => {
      const { toolCall, messages } = request
      if (toolCall.providerExecuted || isForeign(Object.hasOwn(tools, toolCall.toolName) ? tools[toolCall.toolName] : undefined))
        return theirs(request)
      return approval(turn, toolCall, messages, { theirs: () => theirs(request), isRunHere: isRunHere(toolCall.toolName) })
    }
  const entries = Object.entries<ToolSet[string]>(tools).flatMap(([toolName, tool]) => {
    const given = theirs && Object.hasOwn(theirs, toolName) ? theirs[toolName] : undefined
    // The SDK would wait for an answer that is known.
    if (!canAsk && given === undefined && tool.execute && !tool.needsApproval) return []
    const asked = askedOf(tool, given)
    const ours = (input: unknown, about: About) => {
      const call = { toolName, input, toolCallId: about.toolCallId }
      return approval(turn, call, about.messages, { theirs: () => asked(input, about), isRunHere: isRunHere(toolName) })
    }
    return [[toolName, isForeign(tool) ? asked : ours] as const]
  })
  return Object.fromEntries(entries)
}

/** What the SDK itself would do: the setting for the tool's name, otherwise what the tool says. */
const askedOf =
  (tool: ToolSet[string], given: Exclude<ToolApproval, (...args: never) => unknown>[string]) =>
  async (input: unknown, about: About): Promise<GivenStatus> => {
    if (given !== undefined) return typeof given === 'function' ? given(input, about) : given
    const context = { ...about, context: about.toolContext }
    const needs = typeof tool.needsApproval === 'function' ? await tool.needsApproval(input, context) : tool.needsApproval
    return needs ? 'user-approval' : undefined
  }

/** The call for the SDK to parse; unchanged if nothing was repaired, or if it is refused. */
export function resolved(call: LanguageModelV4ToolCall, outcome: Prepared | undefined): LanguageModelV4ToolCall {
  if (!outcome || outcome.kind === 'result') return call
  const { tool, input, unrefined = input, repairs } = outcome.call
  return repairs.length === 0 ? call : { ...call, toolName: tool, input: JSON.stringify(unrefined) }
}

/**
 * Handles a call that the SDK cannot parse. The user's own repair applies if the engine found none. Otherwise the message of the SDK's
 * error, which the model and the user read, is replaced by the engine's.
 */
export async function repaired(turn: Turn, request: RepairRequest, theirs: Repair | undefined, log: MulliganOptions['log']) {
  const { toolCall, error } = request
  const { toolCallId } = toolCall
  let call = toolCall
  if (!(await turn.outcomeOf(toolCallId))) {
    try {
      call = { ...toolCall, ...(await theirs?.(request)), toolCallId }
    } catch (thrown) {
      log?.({ callId: toolCallId, tool: toolCall.toolName, error: thrown })
    }
    await turn.admit(call)
  }
  const outcome = await turn.outcomeOf(toolCallId)
  const read = resolved(call, outcome)
  const isNew = read.toolName !== toolCall.toolName || read.input !== toolCall.input
  if (outcome?.kind !== 'result' && isNew) return read
  const result = !outcome || outcome.kind === 'result' ? outcome?.record.result : (await turn.refuse(outcome.call, error.message)).result
  const message = result ? render(result) : error.message
  Object.assign(error, { message, toString: () => message })
  return null
}
