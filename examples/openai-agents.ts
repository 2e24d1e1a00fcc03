/**
 * An agent of the OpenAI Agents SDK with the engine in it: the two lines with an arrow are all that changed.
 * BASE_URL=http://localhost:8080/v1 MODEL=qwen3 node examples/openai-agents.ts
 */
import { mulligan } from '@mulligan/openai-agents' // ←
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import { z } from 'zod'

const weather = tool({
  name: 'weather',
  description: 'The weather of the next days in a city.',
  parameters: z.object({ city: z.string(), days: z.int().min(1).max(7) }),
  execute: async ({ city, days }) => `${city}: ${Array.from({ length: days }, () => 'rain, then sun').join('; ')}`,
})

const agent = new Agent({
  name: 'weather',
  model: process.env['MODEL'] ?? 'qwen3',
  tools: [weather],
})

const baseURL = process.env['BASE_URL'] ?? 'http://localhost:8080/v1'
const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL, useResponses: false })
const runner = mulligan(new Runner({ modelProvider, tracingDisabled: true })) // ← was: new Runner({ … })

const { newItems, finalOutput } = await runner.run(agent, 'Do I need an umbrella in Lisbon in the next two days?')
for (const item of newItems) if (item.type === 'tool_call_output_item') console.log(item.output)
console.log(finalOutput)
