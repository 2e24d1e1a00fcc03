/** The plain loop with `@mulligan/repair` before it: names and arguments are repaired, and calls that were written as text are found. */
import type { Tool } from '@mulligan/core'
import { createReply, families, readCall, type ToolSpec } from '@mulligan/repair'
import { type ArmInput, type ArmOutcome, kindsOf } from './arm.ts'
import { type ResolvedCall, type ResolvedReply, runLoop } from './loop.ts'
import type { RawReply } from './reply.ts'

export const repair = (input: ArmInput): Promise<ArmOutcome> => {
  const specs = input.tools.map(toSpec)
  const { model } = input.configured
  const options = { families: model.families ?? families, opensInReasoning: model.opensInReasoning ?? false }
  let number = 0

  function resolveReply({ text, reasoning, calls, finishReason }: RawReply, tools: readonly Tool[]): ResolvedReply {
    const reply = createReply(specs, options)
    reply.reasoning(reasoning)
    const first = reply.text(text)
    const end = reply.end(calls)
    const last = end.calls.length - 1
    const understood = end.calls.flatMap((meant, at): ResolvedCall[] => {
      const id = meant.id || `repaired_${++number}`
      const before = kindsOf(meant.repairs)
      const name = meant.name ?? ''
      if (meant.unread !== undefined) return [{ id, name, input: undefined, error: meant.unread }]
      const isCut = meant.cutOff === true || (finishReason === 'length' && at === last)
      const read = readCall({ id, name: meant.name, arguments: meant.input }, specs, isCut ? { finishReason: 'length' } : {})
      return [
        ...read.calls.map(
          (call, part): ResolvedCall => ({
            id: part === 0 ? id : `${id}_${part}`,
            name: call.name,
            input: call.arguments,
            tool: tools.find((tool) => tool.name === call.name) as Tool,
            repaired: [...new Set([...before, ...kindsOf(call.repairs)])],
          }),
        ),
        ...read.refused.map((refused): ResolvedCall => ({ id, name, input: undefined, error: refused.error })),
      ]
    })
    return { text: first.text + end.text, calls: understood }
  }

  return runLoop(input, resolveReply)
}

const toSpec = ({ inputSchema, ...tool }: Tool): ToolSpec => ({ ...tool, parameters: inputSchema })
