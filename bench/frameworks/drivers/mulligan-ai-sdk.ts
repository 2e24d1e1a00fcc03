import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { mulligan } from '@mulligan/ai-sdk'
import { generateText, isStepCount, tool } from 'ai'
import { z } from 'zod'
import { type Driver, objectOf } from '../driver.ts'

export const run: Driver = async ({ url, prompt, tools, requests, toolTimeout }) => {
  const provider = createOpenAICompatible({ name: 'scripted', baseURL: url })
  const theirs = Object.fromEntries(
    tools.map((one) => [one.name, tool({ description: one.description, inputSchema: objectOf(z as never, one), execute: one.execute })]),
  )
  const { text } = await generateText(
    mulligan(theirs, {
      tools: Object.fromEntries(tools.map(({ name }) => [name, { effect: 'read', timeout: toolTimeout / 1000 }])),
    }).turn({ model: provider('scripted-model'), prompt, stopWhen: isStepCount(requests), maxRetries: 0 }),
  )
  return text
}
