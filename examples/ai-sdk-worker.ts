/** A worker at the edge: an agent that is made once, with fresh state for each request. No Node API anywhere. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { mulligan } from '@mulligan/ai-sdk'
import { ToolLoopAgent, tool } from 'ai'
import { z } from 'zod'

interface Env {
  readonly BASE_URL: string
  readonly MODEL: string
}

const tools = {
  convert: tool({
    description: 'Converts degrees Celsius to Fahrenheit.',
    inputSchema: z.object({ celsius: z.number() }),
    execute: async ({ celsius }) => (celsius * 9) / 5 + 32,
  }),
}

const engine = mulligan(tools, { preset: 'full', defaults: { effect: 'read' }, limits: { requests: 5 } })
const agentOf = ({ BASE_URL, MODEL }: Env) =>
  new ToolLoopAgent(
    engine.agent({ model: createOpenAICompatible({ name: 'remote', baseURL: BASE_URL })(MODEL), instructions: 'Be brief.' }),
  )
let agent: ReturnType<typeof agentOf> | undefined

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    agent ??= agentOf(env)
    const { textStream } = await agent.stream({ prompt: await request.text(), abortSignal: request.signal })
    return new Response(textStream.pipeThrough(new TextEncoderStream()))
  },
}
