/**
 * A Mastra agent with the engine in it: the two lines with an arrow are all that changed.
 * BASE_URL=http://localhost:8080/v1 MODEL=qwen3 node examples/mastra-agent.ts
 */
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { mulligan } from '@mulligan/mastra' // ←
import { z } from 'zod'

const weather = createTool({
  id: 'weather',
  description: 'The weather of the next days in a city.',
  inputSchema: z.object({ city: z.string(), days: z.int().min(1).max(7) }),
  execute: async ({ city, days }) => `${city}: ${Array.from({ length: days }, () => 'rain, then sun').join('; ')}`,
})

const agent = new Agent({
  id: 'weather',
  name: 'weather',
  instructions: 'You know the weather.',
  model: {
    providerId: 'local',
    modelId: process.env['MODEL'] ?? 'qwen3',
    url: process.env['BASE_URL'] ?? 'http://localhost:8080/v1',
    apiKey: 'none',
  },
  tools: { weather },
  inputProcessors: [mulligan()], // ←
})

const { text, toolResults } = await agent.generate('Do I need an umbrella in Lisbon in the next two days?')
for (const { payload } of toolResults) console.log(payload.result)
console.log(text)
