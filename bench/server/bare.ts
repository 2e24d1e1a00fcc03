/** The rival: the AI SDK's own loop behind Hono, which stores nothing. Started as a program; says its address over IPC. */
import { readdirSync } from 'node:fs'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { serve } from '@hono/node-server'
import { generateText, isStepCount, tool } from 'ai'
import { Hono } from 'hono'
import { z } from 'zod'

const app = new Hono()
app.get('/cpu', (c) => c.json({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() }))
app.post('/turn', async (c) => {
  const { prompt, baseUrl, cwd } = await c.req.json()
  const { text } = await generateText({
    model: createOpenAICompatible({ name: 'scripted', baseURL: baseUrl })('any'),
    prompt,
    stopWhen: isStepCount(25),
    tools: {
      list_dir: tool({ description: 'Lists a folder.', inputSchema: z.object({ path: z.string() }), execute: () => readdirSync(cwd) }),
    },
  })
  return c.json({ text })
})
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => process.send?.({ url: `http://127.0.0.1:${port}` }))
process.on('disconnect', () => process.exit())
