/**
 * A server with the endpoint that `useChat` talks to. `chat` takes a Request and returns a Response, so it fits anywhere:
 * `export { chat as POST }` in Next.js, `Bun.serve({ fetch: chat })`. Start it with `node examples/ai-sdk-chat.ts`.
 */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { serve } from '@hono/node-server'
import { mulligan } from '@mulligan/ai-sdk'
import { convertToModelMessages, type InferUITools, streamText, tool, type UIMessage } from 'ai'
import { Hono } from 'hono'
import { z } from 'zod'

const tools = {
  findPeople: tool({
    description: 'Finds people by a part of their name.',
    inputSchema: z.object({ name: z.string().min(2) }),
    execute: async ({ name }) => ['Ann Ash', 'Bob Birch'].filter((one) => one.toLowerCase().includes(name.toLowerCase())),
  }),
  sendMail: tool({
    description: 'Sends a mail.',
    inputSchema: z.object({ to: z.string(), text: z.string() }),
    execute: async ({ to }) => ({ sent: true, to }),
  }),
}

/** For `useChat<ChatMessage>()` in the page. */
export type ChatMessage = UIMessage<never, never, InferUITools<typeof tools>>

const engine = mulligan(tools, {
  preset: 'full',
  tools: { findPeople: { effect: 'read' }, sendMail: { effect: 'external', target: ({ to }) => to } },
  log: ({ tool: name, error }) => console.error(name, error),
})

async function chat(request: Request): Promise<Response> {
  const { messages } = (await request.json()) as { messages: ChatMessage[] }
  const provider = createOpenAICompatible({ name: 'local', baseURL: process.env['BASE_URL'] ?? 'http://localhost:8080/v1' })
  const result = streamText(
    engine.turn({
      model: provider(process.env['MODEL'] ?? 'qwen3'),
      messages: await convertToModelMessages(messages, { tools }),
      toolApproval: { sendMail: 'user-approval' },
      abortSignal: request.signal,
    }),
  )
  return result.toUIMessageStreamResponse({ originalMessages: messages })
}

export const app = new Hono()
app.post('/api/chat', (context) => chat(context.req.raw))

if (import.meta.main)
  serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) }, ({ port }) =>
    console.log(`POST http://127.0.0.1:${port}/api/chat`),
  )
