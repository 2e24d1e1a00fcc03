/** Two turns of one engine at once: one wears its tool out, the other must not notice. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { mulligan } from '@mulligan/ai-sdk'
import { call, type ScriptedTurn, say, scriptedModel } from '@mulligan/testing'
import { generateText, isStepCount, tool } from 'ai'
import { z } from 'zod'

const tools = {
  send: tool({
    description: 'Sends a note.',
    inputSchema: z.object({ to: z.enum(['ann', 'bob']) }),
    execute: async ({ to }) => `sent to ${to}`,
  }),
}
const engine = mulligan(tools, { preset: 'full' })

async function turn(script: readonly ScriptedTurn[]): Promise<string[]> {
  const server = await scriptedModel([...script, say('Done.')])
  const model = createOpenAICompatible({ name: 'scripted', baseURL: server.url })('any')
  const { steps } = await generateText(engine.turn({ model, prompt: 'Go.', stopWhen: isStepCount(5) }))
  await server[Symbol.asyncDispose]() // `await using` needs Node 24
  return steps.flatMap(({ content }) =>
    content.flatMap((part) =>
      part.type === 'tool-result' ? [String(part.output)] : part.type === 'tool-error' ? [String(part.error).split(' ')[0] as string] : [],
    ),
  )
}

const wrong = call('send', { to: 'nobody' })
const right = call('send', { to: 'ann' })
console.log(JSON.stringify(await Promise.all([turn([wrong, wrong, right]), turn([wrong, right]), turn([right])])))
