import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent } from 'langchain'
import { z } from 'zod'
import { type Driver, objectOf } from '../driver.ts'

export const run: Driver = async ({ url, prompt, tools, requests }) => {
  const model = new ChatOpenAI({ model: 'scripted-model', apiKey: 'none', maxRetries: 0, configuration: { baseURL: url } })
  const agent = createAgent({
    model,
    tools: tools.map((one) => tool(one.execute, { name: one.name, description: one.description, schema: objectOf(z as never, one) })),
  })
  // A step of its graph is a model request or a round of tools.
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: prompt }] }, { recursionLimit: 2 * requests })
  const last = messages.at(-1)
  return typeof last?.content === 'string' ? last.content : JSON.stringify(last?.content)
}
