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
        timeoutMs: toolTimeout,
        execute: (input) => one.execute(input as Record<string, unknown>),
      }),
    ),
  })
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, prompt, { maxTurns: requests })
  return String(finalOutput ?? '')
}
