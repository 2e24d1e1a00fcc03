/** The plain loop with `@mulligan/repair`: names and arguments are repaired, and calls that were written as text are found. */
import { createReply, families, indexNames, issuesText, resolveCall } from '@mulligan/repair'
import { type ArmInput, type ArmOutcome, kindsOf } from './arm.ts'
import { type RawReply, type ResolvedCall, type ResolvedReply, runLoop } from './loop.ts'

export const repair = (input: ArmInput): Promise<ArmOutcome> => {
  const specs = input.tools.map((tool) => ({ ...tool, parameters: tool.inputSchema }))
  const index = indexNames(specs)
  const { model } = input.configured
  const options = { families: model.families ?? families, opensInReasoning: model.opensInReasoning ?? false }
  let number = 0

  function resolveReply({ text, reasoning, calls, finishReason }: RawReply): ResolvedReply {
    const reply = createReply(specs, options)
    reply.reasoning(reasoning)
    const first = reply.text(text)
    const end = reply.end(calls, { cutShort: finishReason === 'length' })
    const resolved = end.calls.map((call): ResolvedCall => {
      const id = call.id || `repaired_${++number}`
      const found = resolveCall(call, index)
      if (found.kind !== 'checked') return { id, name: call.name ?? '', input: undefined, error: found.fault.error }
      const { name } = found.tool
      if (!found.checked.ok) return { id, name, input: found.input, error: issuesText(found.checked.issues) }
      const tool = input.tools.find((one) => one.name === name)
      return { id, name, input: found.input, repaired: kindsOf(found.repairs), ...(tool ? { tool } : { error: `unknown tool ${name}` }) }
    })
    return { text: first.text + end.text, calls: resolved }
  }

  return runLoop(input, resolveReply)
}
