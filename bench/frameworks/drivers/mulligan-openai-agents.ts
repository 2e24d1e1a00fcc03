import { mulligan } from '@mulligan/openai-agents'
import { Agent, OpenAIChatCompletionsModel, Runner, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { type Driver, objectOf } from '../driver.ts'

export const run: Driver = async ({ url, prompt, tools, requests, toolTimeout }) => {
  const client = new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0 })
  const agent = new Agent({
    name: 'agent',
    model: new OpenAIChatCompletionsModel(client as never, 'scripted-model'),
    tools: tools.map((one) =>
      tool({
        name: one.name,
        description: one.description,
        parameters: objectOf(z as never, one),
        execute: (input) => one.execute(input as Record<string, unknown>),
      }),
    ),
  })
  const runner = mulligan(new Runner({ tracingDisabled: true }), {
    preset: 'full',
    defaults: { effect: 'read', timeout: toolTimeout / 1000 },
  })
  const { finalOutput } = await runner.run(agent, prompt, { maxTurns: requests })
  return String(finalOutput ?? '')
}
