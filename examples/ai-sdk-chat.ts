/**
 * The endpoint that `useChat` talks to. It takes a Request and returns a Response, as Next.js, Bun, Deno and Hono do:
 * `export { chat as POST }`, `Bun.serve({ fetch: chat })`, `app.post('/api/chat', (c) => chat(c.req.raw))`.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { mulligan } from '@mulligan/ai-sdk'
import { convertToModelMessages, type InferUITools, streamText, tool, type UIMessage } from 'ai'
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
  tools: { findPeople: { effect: 'read' }, sendMail: { effect: 'external', target: ({ to }) => to } },
  log: ({ tool: name, error }) => console.error(name, error),
})

export async function chat(request: Request): Promise<Response> {
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
