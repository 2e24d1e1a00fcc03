import { Agent, OpenAIChatCompletionsModel, Runner, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { type Driver, objectOf, type Task } from '../driver.ts'

const agentOf = ({ url, tools, toolTimeout }: Task) =>
  new Agent({
    name: 'agent',
    model: new OpenAIChatCompletionsModel(new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0 }) as never, 'scripted-model'),
    tools: tools.map((one) =>
      tool({
        name: one.name,
        description: one.description,
        parameters: objectOf(z as never, one),
        timeoutMs: toolTimeout,
        execute: (input, _, details) => one.execute(input as Record<string, unknown>, details?.signal),
      }),
    ),
  })

export const run: Driver = async (task) => {
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agentOf(task), task.prompt, { maxTurns: task.requests })
  return String(finalOutput ?? '')
}

export const recommended: Driver = async (task) => {
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agentOf(task), task.prompt, {
    maxTurns: task.requests,
    toolNotFoundBehavior: 'return_error_to_model',
    errorHandlers: { maxTurns: () => ({ finalOutput: 'I could not finish within the limit.' }) },
    signal: AbortSignal.timeout(task.runTimeout),
  })
  return String(finalOutput ?? '')
}
