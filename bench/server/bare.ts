/** The rival: the AI SDK's own loop behind Hono, which stores nothing. */
import { readdirSync } from 'node:fs'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { serve } from '@hono/node-server'
import { generateText, isStepCount, type ModelMessage, tool } from 'ai'
import { Hono } from 'hono'
import { z } from 'zod'
import { tellUsage } from './usage.ts'

/** The conversation of each session that is kept. */
const histories = new Map<string, ModelMessage[]>()

/** Drops the oldest turns until the rest is no longer than this, as JSON. */
function shorten(messages: ModelMessage[], characters: number): void {
  while (messages.length > 0 && JSON.stringify(messages).length > characters) {
    const next = messages.findIndex(({ role }, at) => at > 0 && role === 'user')
    messages.splice(0, next === -1 ? messages.length : next)
  }
}

const app = new Hono()
app.post('/turn', async (c) => {
  const { prompt, baseUrl, cwd, session, keep } = await c.req.json()
  const messages: ModelMessage[] = histories.get(session) ?? []
  if (session !== undefined) histories.set(session, messages)
  shorten(messages, keep ?? 0)
  messages.push({ role: 'user', content: prompt })
  const { text, responseMessages } = await generateText({
    model: createOpenAICompatible({ name: 'scripted', baseURL: baseUrl })('any'),
    messages,
    stopWhen: isStepCount(25),
    tools: {
      list_dir: tool({ description: 'Lists a folder.', inputSchema: z.object({ path: z.string() }), execute: () => readdirSync(cwd) }),
    },
  })
  messages.push(...responseMessages)
  return c.json({ text })
})
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => tellUsage(`http://127.0.0.1:${port}`))
