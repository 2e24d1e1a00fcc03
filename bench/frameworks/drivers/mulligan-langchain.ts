import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { mulligan } from '@mulligan/langchain'
import { createAgent } from 'langchain'
import { z } from 'zod'
import { type Driver, objectOf } from '../driver.ts'

export const run: Driver = async ({ url, prompt, tools, requests, toolTimeout }) => {
  const model = new ChatOpenAI({ model: 'scripted-model', apiKey: 'none', maxRetries: 0, configuration: { baseURL: url } })
  const agent = createAgent({
    model,
    tools: tools.map((one) => tool(one.execute, { name: one.name, description: one.description, schema: objectOf(z as never, one) })),
    middleware: [mulligan({ preset: 'full', defaults: { effect: 'read', timeout: toolTimeout / 1000 } })],
  })
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: prompt }] }, { recursionLimit: 2 * requests })
  return messages.at(-1)?.text ?? ''
}
