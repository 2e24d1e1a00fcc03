/** Loops of one's own around the SDKs of the providers, each with whole replies and with streams. The server's address is the argument. */
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { aiSdkMessages, anthropicMessages, defineTool, openaiChat, openaiResponses, type Step, startTurn } from '@mulligan/core'
import { generateText, type ModelMessage, streamText } from 'ai'
import OpenAI from 'openai'
import { z } from 'zod'

const baseURL = process.argv[2] as string
const openai = new OpenAI({ baseURL, apiKey: 'key', maxRetries: 0 })
const anthropic = new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ''), apiKey: 'key', maxRetries: 0 })
const aiSdk = createOpenAI({ baseURL, apiKey: 'key' }).chat('gpt-5')

const tools = [
  defineTool({
    name: 'weather',
    description: 'The weather of the next days in a city.',
    effect: 'read',
    input: z.object({ city: z.string(), days: z.int() }),
    execute: ({ city, days }) => ({ city, rain: days > 1 }),
  }),
]
const model = 'gpt-5'
const user = { role: 'user' as const, content: 'Do I need an umbrella?' }
const outcome = ({ results, done, text }: Step<unknown>): string =>
  done ? text : results.map(({ result }) => (result.ok ? 'ok' : result.status)).join()

const loops: Record<string, (stream: boolean) => AsyncGenerator<string>> = {
  async *chat(stream) {
    const messages: OpenAI.ChatCompletionMessageParam[] = [user]
    const turn = startTurn({ api: openaiChat, tools })
    for (;;) {
      const step = await turn.reply(await openai.chat.completions.create({ model, messages, stream, ...turn.request() }))
      messages.push(...step.messages)
      yield outcome(step)
      if (step.done) return
    }
  },

  async *responses(stream) {
    const input: OpenAI.Responses.ResponseInput = [user]
    const turn = startTurn({ api: openaiResponses, tools })
    for (;;) {
      const step = await turn.reply(await openai.responses.create({ model, input, stream, ...turn.request() }))
      input.push(...step.messages)
      yield outcome(step)
      if (step.done) return
    }
  },

  async *anthropic(stream) {
    const messages: Anthropic.MessageParam[] = [user]
    const turn = startTurn({ api: anthropicMessages, tools })
    for (;;) {
      const step = await turn.reply(await anthropic.messages.create({ model, max_tokens: 1000, messages, stream, ...turn.request() }))
      messages.push(...step.messages)
      yield outcome(step)
      if (step.done) return
    }
  },

  async *aiSdk(stream) {
    const messages: ModelMessage[] = [user]
    const turn = startTurn({ api: aiSdkMessages, tools })
    for (;;) {
      const settings = { model: aiSdk, messages, ...turn.request() }
      const step = await turn.reply(stream ? streamText(settings).fullStream : await generateText(settings))
      messages.push(...step.messages)
      yield outcome(step)
      if (step.done) return
    }
  },
}

for (const [name, loop] of Object.entries(loops))
  for (const stream of [false, true]) {
    const outcomes: string[] = []
    for await (const one of loop(stream)) outcomes.push(one)
    console.log(`${name}${stream ? ', streamed' : ''}: ${outcomes.join(', ')}`)
  }
