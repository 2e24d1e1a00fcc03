import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { mulligan } from '@mulligan/mastra'
import { z } from 'zod'
import { type Driver, objectOf } from '../driver.ts'

export const run: Driver = async ({ url, prompt, tools, requests, toolTimeout }) => {
  const provider = createOpenAICompatible({ name: 'scripted', baseURL: url })
  const agent = new Agent({
    id: 'agent',
    name: 'agent',
    instructions: '',
    model: provider('scripted-model') as never,
    maxRetries: 0,
    tools: Object.fromEntries(
      tools.map((one) => [
        one.name,
        createTool({
          id: one.name,
          description: one.description,
          inputSchema: objectOf(z as never, one),
          execute: (input: unknown) => one.execute(input as Record<string, unknown>),
        }),
      ]),
    ),
    inputProcessors: [mulligan({ preset: 'full', defaults: { effect: 'read', timeout: toolTimeout / 1000 } })],
  })
  const { text } = await agent.generate(prompt, { maxSteps: requests })
  return text
}
