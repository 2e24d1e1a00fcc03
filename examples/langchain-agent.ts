/**
 * A LangChain agent with the engine in it: the two lines with an arrow are all that changed.
 * BASE_URL=http://localhost:8080/v1 MODEL=qwen3 node examples/langchain-agent.ts
 */
import { ChatOpenAI } from '@langchain/openai'
import { mulligan } from '@mulligan/langchain' // ←
import { createAgent, tool } from 'langchain'
import { z } from 'zod'

const weather = tool(async ({ city, days }) => `${city}: ${Array.from({ length: days }, () => 'rain, then sun').join('; ')}`, {
  name: 'weather',
  description: 'The weather of the next days in a city.',
  schema: z.object({ city: z.string(), days: z.int().min(1).max(7) }),
})

const agent = createAgent({
  model: new ChatOpenAI({
    model: process.env['MODEL'] ?? 'qwen3',
    apiKey: 'none',
    configuration: { baseURL: process.env['BASE_URL'] ?? 'http://localhost:8080/v1' },
  }),
  tools: [weather],
  middleware: [mulligan()], // ←
})

const { messages } = await agent.invoke({ messages: 'Do I need an umbrella in Lisbon in the next two days?' })
for (const message of messages.slice(1)) if (message.text !== '') console.log(message.text)
