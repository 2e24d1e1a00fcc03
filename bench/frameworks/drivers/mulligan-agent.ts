import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createAgent, memoryStore } from '@mulligan/agent'
import { defineTool } from '@mulligan/core'
import { z } from 'zod'
import { type Driver, objectOf } from '../driver.ts'

export const run: Driver = async ({ url, prompt, tools, requests, toolTimeout }) => {
  const provider = createOpenAICompatible({ name: 'scripted', baseURL: url, includeUsage: true })
  const { answer, status, error } = await createAgent({
    model: { id: 'scripted/scripted-model', model: provider('scripted-model'), where: 'this machine', contextTokens: 32_768 },
    tools: tools.map((one) =>
      defineTool({
        name: one.name,
        description: one.description,
        effect: 'read',
        timeout: toolTimeout / 1000,
        input: objectOf<unknown>(z as never, one),
        execute: (input, { signal }) => one.execute(input as Record<string, unknown>, signal),
      }),
    ),
    store: memoryStore(),
    cwd: '/workspace',
    limits: { requests },
  }).run({ prompt })
  if (status === 'failed') throw new Error(error ?? answer)
  return answer
}
