/** Passes calls of Mastra's tools through the engine. */
import type { ToolError } from '@mulligan/core'
import { type FrameworkTurn, REFUSED, refusedCall } from '@mulligan/core/adapter'
import { canonical } from '@mulligan/core/executor'

/** A tool as Mastra has it in a step. */
export interface StepTool {
  readonly execute?: (input: unknown, options: ToolOptions) => unknown
  readonly requireApproval?: boolean
  readonly needsApprovalFn?: (input: unknown, context: unknown) => unknown
}

interface ToolOptions {
  readonly toolCallId?: string
  readonly abortSignal?: AbortSignal
  readonly suspend?: (...given: unknown[]) => unknown
}

/** Thrown for a call that failed. The message is what the model reads, and contains no secret, stack or host path. */
export class ToolCallError extends Error {
  readonly result: ToolError
  constructor(result: ToolError, message: string) {
    super(message)
    this.name = 'ToolCallError'
    this.result = result
    // Mastra stores and sends errors as a whole.
    this.stack = `${this.name}: ${message}`
  }
}

/** Whether the engine asks about a call of a tool with this input, or about any call of it. */
export type Asks = (tool: string, input?: unknown) => boolean

/** @param asks absent if the engine never asks */
export function withEngine(name: string, tool: StepTool, turn: FrameworkTurn, asks?: Asks): StepTool {
  const { execute, needsApprovalFn } = tool
  if (!execute) return tool
  const run: StepTool['execute'] = async (input, options) => {
    const call = { id: options.toolCallId ?? '', name, input }
    // Mastra runs a call that the engine asks about only after an approval.
    if (asks?.(name, input)) await turn.answer(call, { answer: 'once' })
    const { suspend } = options
    let isSuspended = false
    let thrown: unknown
    const outcome = await turn.run(call, async (read, { signal }) => {
      const abortSignal = options.abortSignal ? AbortSignal.any([options.abortSignal, signal]) : signal
      const own = canonical(read) === canonical(input) ? input : read
      const suspending = (...given: unknown[]): unknown => {
        isSuspended = true
        return suspend?.(...given)
      }
      try {
        return { value: await execute.call(tool, own, { ...options, abortSignal, ...(suspend && { suspend: suspending }) }) }
      } catch (error) {
        thrown = error
        throw error
      }
    })
    // Mastra may suspend a tool with an exception.
    if (isSuspended && thrown !== undefined) throw thrown
    if (!outcome.ok) throw new ToolCallError(outcome.result, outcome.content)
    return outcome.content ?? outcome.value
  }
  const own = { ...tool, execute: run }
  if (!asks) return own
  if (needsApprovalFn) return { ...own, needsApprovalFn: async (input, context) => asks(name, input) || needsApprovalFn(input, context) }
  // With a function, Mastra would ignore the setting of the agent. It reads this property again for each call.
  return Object.defineProperty(own, 'requireApproval', { get: () => asks(name) || tool.requireApproval === true, enumerable: true })
}

/** A schema in the form of the AI SDK. */
const ANY_INPUT = {
  [Symbol.for('vercel.ai.schema')]: true,
  [Symbol.for('vercel.ai.validator')]: true,
  jsonSchema: { type: 'object', properties: {}, additionalProperties: true },
  validate: (value: unknown) => ({ success: true, value }),
}

/** The tool that returns the reason why a call was refused. */
export const refusedTool = (turn: FrameworkTurn): StepTool & Readonly<Record<'type' | 'id' | 'description' | 'parameters', unknown>> => ({
  type: 'function',
  id: REFUSED,
  description: 'A call that was refused.',
  parameters: ANY_INPUT,
  execute: async (input, { toolCallId = '' }) => {
    const outcome = await turn.run(refusedCall(toolCallId, input), () => Promise.reject(new Error('A refused call is never run.')))
    if (!outcome.ok) throw new ToolCallError(outcome.result, outcome.content)
  },
})
