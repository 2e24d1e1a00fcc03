/** Whether the model answers at all: asked once before the runs, which also has the server load it. */
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { requestFault } from '@mulligan/agent'
import { oneLine, UsageError } from '@mulligan/host/light'
import type { ConfiguredModel } from '@mulligan/host/parts'
import { readReply } from './arms/reply.ts'

/** With a tool, so that a server that takes none says so now. */
const TOOL: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'read_file',
  description: 'Reads a text file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}

/** Seconds: a model may have to be loaded first. */
const PATIENCE = 600

/** @throws UsageError that says what to do */
export async function mustAnswer({ model, secrets }: ConfiguredModel, signal: AbortSignal): Promise<void> {
  const expiry = AbortSignal.timeout(PATIENCE * 1000)
  try {
    await readReply(model.model, {
      ...model.sampling,
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Say that you are ready, in one word. Call no tool.' }] }],
      tools: [TOOL],
      toolChoice: { type: 'auto' },
      abortSignal: AbortSignal.any([signal, expiry]),
    })
  } catch (error) {
    if (signal.aborted) return
    const says = expiry.aborted ? `it gave no answer within ${PATIENCE} s` : requestFault(error, secrets).message
    throw new UsageError(
      `${model.id} on ${model.where} can't be evaluated: ${oneLine(says, 400)}`,
      'Start its server, and see that --model and --base-url are right: mulligan "say hi" with the same flags must give an answer.',
    )
  }
}
