/** An agent on the AI SDK, as it was before. The address of its model's server is the argument. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'

const model = createOpenAICompatible({ name: 'scripted', baseURL: process.argv[2] as string })('any')
const tools = {
  weather: tool({
    description: 'The weather of the next days in a city.',
    inputSchema: z.object({ city: z.string(), days: z.int() }),
    execute: async ({ city, days }) => ({ city, rain: days > 1 }),
  }),
}

const result = streamText({ model, tools, prompt: 'Do I need an umbrella?', stopWhen: isStepCount(5) })

for await (const part of result.fullStream) {
  if (part.type === 'tool-result' && !part.dynamic) {
    const hasTheSameTypes: Same<typeof part.output, { city: string; rain: boolean }> = true
    const input: Same<typeof part.input, { city: string; days: number }> = hasTheSameTypes
    if (input) console.log('result', JSON.stringify(part.output))
  }
  if (part.type === 'tool-error') console.log('error', String(part.error).split('\n')[0])
}
console.log(await result.text)

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
