import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent } from '@mastra/core/agent'
import { TokenLimiterProcessor } from '@mastra/core/processors'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import { type Driver, objectOf, type Task } from '../driver.ts'

const agentOf = ({ url, tools }: Task) => ({
  id: 'agent',
  name: 'agent',
  instructions: '',
  model: createOpenAICompatible({ name: 'scripted', baseURL: url })('scripted-model') as never,
  maxRetries: 0,
  tools: Object.fromEntries(
    tools.map((one) => [
      one.name,
      createTool({
        id: one.name,
        description: one.description,
        inputSchema: objectOf(z as never, one),
        execute: (input: unknown, { abortSignal }) => one.execute(input as Record<string, unknown>, abortSignal),
      }),
    ]),
  ),
})

export const run: Driver = async (task) => {
  const { text } = await new Agent(agentOf(task)).generate(task.prompt, { maxSteps: task.requests })
  return text
}

export const recommended: Driver = async (task) => {
  const agent = new Agent({ ...agentOf(task), inputProcessors: [new TokenLimiterProcessor(32_000)] })
  const { text } = await agent.generate(task.prompt, {
    maxSteps: task.requests,
    modelSettings: { timeout: { totalMs: task.runTimeout } },
  })
  return text
}
