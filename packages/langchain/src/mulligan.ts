/** The engine as one middleware of a LangChain agent. */
import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { ModelRetry, type ToolError } from '@mulligan/core'
import { type AdapterOptions, checkOptions, type FrameworkTurn, requireVersion } from '@mulligan/core/adapter'
import type { ModelRequest, ToolCallHandler, ToolCallRequest, WrapModelCallHandler } from 'langchain'
import * as langchain from 'langchain'
import manifest from 'langchain/package.json' with { type: 'json' }
import { ask } from './approval.ts'
import { idsIn, instructed, isCutShort, mapText, reportedCalls, textOf, tokensOf, withCalls, withResultText, withText } from './messages.ts'
import { reasoningOf, type StreamedReply, streamRepaired } from './stream.ts'
import { frameworkTool, withSignal } from './tools.ts'
import { createTurns } from './turns.ts'

type Command = Exclude<Awaited<ReturnType<ToolCallHandler>>, ToolMessage>
type Shown = { readonly text: string; readonly reasoning: string }

/**
 * A middleware for `createAgent`. Wrong calls are repaired, or returned to the model with what to fix, and every call gets a result; with
 * `preset: 'full'` also within budgets and limits, and calls with effects need approval. Put it last, so that other middleware sees
 * repaired calls.
 *
 * @throws TypeError if the major version of LangChain is not supported, or the options are invalid
 * @example
 * const agent = createAgent({ model, tools, middleware: [mulligan({ tools: { search: { effect: 'read' } } })] })
 */
export function mulligan(options: AdapterOptions = {}): langchain.AgentMiddleware<undefined, undefined, unknown, readonly []> {
  requireVersion({ adapter: '@mulligan/langchain', framework: 'langchain', installed: manifest.version, major: 1, minor: 5 })
  checkOptions(options)
  const turnOf = createTurns(options)
  return langchain.createMiddleware({
    name: 'mulligan',
    wrapModelCall: (request, handler) => reply(turnOf(request.state.messages), request, handler),
    wrapToolCall: async (request, handler) => {
      const turn = turnOf(request.state.messages)
      if (request.tool) turn.offer(frameworkTool(request.tool))
      const { id = '', name, args: input } = request.toolCall
      const call = { id, name, input }
      const question = await turn.question(call)
      if (question) await turn.answer(call, ask(question, request.runtime))
      return result(turn, request, handler)
    },
  })
}

/** Makes a request, and a second one if the reply may have been meant as a call. */
async function reply(turn: FrameworkTurn, request: ModelRequest, handler: WrapModelCallHandler): Promise<AIMessage> {
  const first = await oneReply(turn, request, handler, false)
  if (first.again === undefined) return first.message
  const next = { ...request, messages: instructed(request.messages, first.again) }
  const { message } = await oneReply(turn, next, handler, true)
  const said = first.message.text
  return said === '' || message.text === '' ? message : withCalls(message, withText(said, message.text), message.tool_calls as never)
}

async function oneReply(turn: FrameworkTurn, request: ModelRequest, handler: WrapModelCallHandler, isSecond: boolean) {
  const { conclude, reply } = turn.request({
    tools: request.tools.flatMap(frameworkTool),
    ids: idsIn(request.messages),
    signal: request.runtime.signal,
    isSecond,
  })
  const streamed: StreamedReply = { reply, isStreamed: false }
  const message = await handler({
    ...request,
    model: streamRepaired(request.model as object, streamed) as never,
    ...(conclude !== undefined && {
      messages: instructed(request.messages, conclude),
      ...(!request.responseFormat && { toolChoice: 'none' as const }),
    }),
  })
  // A structured response is an answer already.
  if (!AIMessage.isInstance(message)) return { message }
  turn.spend(tokensOf(message))
  let reasoning = ''
  const take = (shown: Shown): string => {
    reasoning += shown.reasoning
    return shown.text
  }
  // The text of a streamed message is repaired already.
  const shown = streamed.isStreamed ? message.content : mapText(message.content, (text) => take(reply.text(text)))
  const held = streamed.isStreamed ? '' : take(reply.endText())
  const { again, calls, ...rest } = await reply.end(reportedCalls(message), { cutShort: isCutShort(message) })
  const own = withCalls(message, withText(shown, held + take(rest)), calls)
  Object.assign(own.additional_kwargs, reasoningOf(reasoning))
  return { message: own, again }
}

/** Runs a call through the engine. */
async function result(turn: FrameworkTurn, request: ToolCallRequest, handler: ToolCallHandler): Promise<ToolMessage | Command> {
  const { id = '', name, args } = request.toolCall
  let bubbled: unknown
  const outcome = await turn.run<ToolMessage | Command | undefined>({ id, name, input: args }, async (input, { signal }) => {
    try {
      const toolCall = { ...request.toolCall, args: input as typeof args }
      const value = await handler({ ...request, toolCall, tool: withSignal(request.tool, signal) })
      return { value, content: ToolMessage.isInstance(value) ? textOf(value) : '' }
    } catch (error) {
      if (!isBubbleUp(error)) throw wrongInput(error) ?? error
      bubbled = error
      return { value: undefined, content: '' }
    }
  })
  // An interruption or a command of the tool's own graph is not an error.
  if (bubbled !== undefined) throw bubbled
  if (!outcome.ok) return failure(outcome.result, { content: outcome.content, name, tool_call_id: id })
  const { value, content } = outcome
  return content !== undefined && ToolMessage.isInstance(value) ? withResultText(value, content) : (value as ToolMessage | Command)
}

/** The result as the artifact is for programs. */
const failure = (
  artifact: ToolError,
  message: { readonly content: string; readonly name: string; readonly tool_call_id: string },
): ToolMessage => new ToolMessage({ ...message, status: 'error', artifact })

const isBubbleUp = (error: unknown): boolean => (error as { readonly is_bubble_up?: unknown } | null)?.is_bubble_up === true

/** LangChain's own check of the input failed. Its message also contains the input and a stack. */
function wrongInput(error: unknown): ModelRetry | undefined {
  if (!langchain.ToolInvocationError.isInstance(error)) return undefined
  const { message } = error.toolError
  return new ModelRetry(message.split('\n')[0] ?? message, { cause: error })
}
