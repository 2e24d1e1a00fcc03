/** The arm without anything of ours: a call is taken as it came, or its error goes back to the model. */
import type { Tool } from '@mulligan/core'
import type { ArmInput, ArmOutcome } from './arm.ts'
import { type ResolvedCall, runLoop } from './loop.ts'
import type { ParsedCall } from './reply.ts'

export const bare = (input: ArmInput): Promise<ArmOutcome> =>
  runLoop(input, ({ text, calls }, tools) => ({ text, calls: calls.map((call) => asItCame(call, tools)) }))

function asItCame({ id, name, input: written }: ParsedCall, tools: readonly Tool[]): ResolvedCall {
  const call = { id, name: name ?? '' }
  const tool = tools.find((one) => one.name === name)
  let input: unknown
  try {
    input = JSON.parse(written === '' ? '{}' : written)
  } catch (error) {
    return { ...call, input: undefined, error: `the arguments are not valid JSON: ${(error as Error).message}` }
  }
  return tool ? { ...call, input, tool } : { ...call, input, error: `unknown tool ${call.name}` }
}
