/** Passes calls of the SDK's function tools through the engine. */
import { type FrameworkTool, type FrameworkTurn, parsed, REFUSED, refusedCall } from '@mulligan/core/adapter'
import { canonical, isMulliganError } from '@mulligan/core/executor'
import { type FunctionTool, type ModelRequest, type RunContext, type Tool, tool } from '@openai/agents'

type Call = Parameters<FunctionTool['invoke']>

export const isFunction = (one: Tool): one is FunctionTool => one.type === 'function'

/** An agent as a tool keeps state by the identity of its tool, and a result with a schema can't be an explanation: the SDK runs them. */
const isRunBySdk = (one: FunctionTool): boolean => 'on' in one || one.outputSchema !== undefined

/** @param asks whether a policy may ask about calls */
export function withEngine(one: FunctionTool, turn: FrameworkTurn, asks: boolean): FunctionTool {
  if (isRunBySdk(one)) return one
  const callOf = (callId: string | undefined, input: unknown) => ({ id: callId ?? '', name: one.name, input })
  const invoke = async (...[context, text, details]: Call): Promise<unknown> => {
    const input = parsed(text)
    const call = callOf(details?.toolCall?.callId, input)
    if (asks && isApproved(context, one.name, call.id)) await turn.answer(call, { answer: 'once' })
    let thrown: { readonly error: unknown } | undefined
    const outcome = await turn.run(call, async (read, { signal }) => {
      const signals = details?.signal ? AbortSignal.any([details.signal, signal]) : signal
      const own = canonical(read) === canonical(input) ? text : JSON.stringify(read)
      const value: unknown = await one.invoke(context, own, { ...details, signal: signals }).catch((error: unknown) => {
        if (!signal.aborted && !isMulliganError(error)) thrown = { error }
        throw error
      })
      return { value }
    })
    // Without an `errorFunction`, it is meant to end the run.
    if (thrown) throw thrown.error
    return outcome.ok ? (outcome.content ?? outcome.value) : outcome.content
  }
  const needsApproval: FunctionTool['needsApproval'] = async (context, input, callId) =>
    (await turn.question(callOf(callId, input))) !== undefined || one.needsApproval(context, input, callId)
  // Symbols of the SDK and getters are kept.
  return Object.create(Object.getPrototypeOf(one), {
    ...Object.getOwnPropertyDescriptors(one),
    invoke: { value: invoke, enumerable: true },
    ...(asks && { needsApproval: { value: needsApproval, enumerable: true } }),
  }) as FunctionTool
}

const isApproved = (context: RunContext<unknown>, toolName: string, callId: string): boolean =>
  context.isToolApproved({ toolName, callId }) === true

/** The tool that returns the reason why a call was refused. */
export const refusedTool = (turn: FrameworkTurn): FunctionTool =>
  tool({
    name: REFUSED,
    description: 'A call that was refused.',
    parameters: { type: 'object', properties: {}, required: [], additionalProperties: true },
    strict: false,
    errorFunction: null,
    execute: async (input, _, details) => {
      const call = refusedCall(details?.toolCall?.callId ?? '', input)
      const outcome = await turn.run(call, () => Promise.reject(new Error('A refused call is never run.')))
      return outcome.content ?? ''
    },
  }) as FunctionTool

/** The functions that the model may call: tools and handoffs. */
export const frameworkTools = ({ tools, handoffs }: Pick<ModelRequest, 'tools' | 'handoffs'>): readonly FrameworkTool[] => [
  ...tools.flatMap((one) => (one.type === 'function' && !one.namespace ? [{ name: one.name, input: one.parameters }] : [])),
  ...handoffs.map(({ toolName, inputJsonSchema }) => ({ name: toolName, input: inputJsonSchema })),
]
