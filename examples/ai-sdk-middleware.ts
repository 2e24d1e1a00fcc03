/**
 * A local model behind an OpenAI-compatible server, in the AI SDK. Its tool calls run however it wrote them.
 * BASE_URL=http://localhost:8080/v1 MODEL=glm-4.7-flash node examples/ai-sdk-middleware.ts
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { repairFetch, repairToolCalls } from '@mulligan/ai-sdk'
import { isStepCount, streamText, tool, wrapLanguageModel } from 'ai'
import { z } from 'zod'

const provider = createOpenAICompatible({
  name: 'local',
  baseURL: process.env['BASE_URL'] ?? 'http://localhost:8080/v1',
  fetch: repairFetch(),
})

const model = wrapLanguageModel({
  model: provider(process.env['MODEL'] ?? 'glm-4.7-flash'),
  middleware: repairToolCalls({
    effects: { weather: 'read' },
    onRepair: ({ kind, why }, { toolName }) => console.error(`repaired ${toolName} (${kind}): ${why}`),
  }),
})

const weather = tool({
  description: 'The weather of the next days in a city.',
  inputSchema: z.object({ city: z.string(), days: z.int() }),
  execute: ({ city, days }) => `${city}, ${days} days: rain, then sun.`,
})

const { textStream } = streamText({
  model,
  tools: { weather },
  stopWhen: isStepCount(5),
  prompt: 'Do I need an umbrella in Lisbon in the next two days?',
})
for await (const text of textStream) process.stdout.write(text)
