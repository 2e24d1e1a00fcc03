/**
 * A script with the AI SDK, and the engine in it: the two lines with an arrow are all that changed.
 * BASE_URL=http://localhost:8080/v1 MODEL=qwen3 node examples/ai-sdk-agent.ts
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { mulligan } from '@mulligan/ai-sdk' // ←
import { generateText, isStepCount, tool } from 'ai'
import { z } from 'zod'

const provider = createOpenAICompatible({ name: 'local', baseURL: process.env['BASE_URL'] ?? 'http://localhost:8080/v1' })

const tools = {
  weather: tool({
    description: 'The weather of the next days in a city.',
    inputSchema: z.object({ city: z.string(), days: z.int().min(1).max(7) }),
    execute: async ({ city, days }) => ({ city, forecast: Array.from({ length: days }, () => 'rain, then sun') }),
  }),
}

const settings = {
  model: provider(process.env['MODEL'] ?? 'qwen3'),
  prompt: 'Do I need an umbrella in Lisbon in the next two days?',
  stopWhen: isStepCount(5),
}
const { text, steps } = await generateText(mulligan(tools).turn(settings)) // ← was: generateText({ ...settings, tools })

for (const { toolResults } of steps) for (const { output } of toolResults) console.log(output)
console.log(text)
