import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, tool } from 'ai'
import { z } from 'zod'
import { type Driver, objectOf } from '../driver.ts'

export const run: Driver = async ({ url, prompt, tools, requests, toolTimeout }) => {
  const provider = createOpenAICompatible({ name: 'scripted', baseURL: url })
  const { text } = await generateText({
    model: provider('scripted-model'),
    prompt,
    stopWhen: isStepCount(requests),
    maxRetries: 0,
    timeout: { toolMs: toolTimeout },
    tools: Object.fromEntries(
      tools.map((one) => [one.name, tool({ description: one.description, inputSchema: objectOf(z as never, one), execute: one.execute })]),
    ),
  })
  return text
}
