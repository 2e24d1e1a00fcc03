/** A real server on this machine and the real provider that reads its responses. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'

export interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body: string | readonly Uint8Array[]
}

export type Answering = Answer | ((request: IncomingMessage, response: ServerResponse) => void)

export interface Server {
  readonly url: string
  readonly close: () => Promise<void>
}

export async function serve(answering: Answering): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume()
    if (typeof answering === 'function') return answering(request, response)
    response.writeHead(answering.status ?? 200, { 'content-type': 'text/event-stream', ...answering.headers })
    for (const part of typeof answering.body === 'string' ? [answering.body] : answering.body) response.write(part)
    response.end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done()))
    },
  }
}

export const json = (value: unknown, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

/** The result of reading a reply. */
export interface Read {
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[]
  readonly text: string
  readonly finish: string | undefined
  readonly errors: readonly string[]
}

const prompt = (earlier: readonly string[]) => [
  { role: 'user' as const, content: [{ type: 'text' as const, text: 'go' }] },
  ...earlier.flatMap((toolCallId) => [
    { role: 'assistant' as const, content: [{ type: 'tool-call' as const, toolCallId, toolName: 'read', input: {} }] },
    {
      role: 'tool' as const,
      content: [{ type: 'tool-result' as const, toolCallId, toolName: 'read', output: { type: 'text' as const, value: '' } }],
    },
  ]),
]

const ask = (url: string, own: typeof fetch | undefined, earlier: readonly string[]) => {
  const model = createOpenAICompatible({ name: 'local', baseURL: url, ...(own && { fetch: own }) }).chatModel('m')
  const tools = [{ type: 'function' as const, name: 'read', inputSchema: { type: 'object' as const, properties: {} } }]
  return { model, request: { prompt: prompt(earlier), tools } }
}

/** Returns the reply as the provider package reads it from the stream. */
export async function streamed(url: string, own?: typeof fetch, earlier: readonly string[] = []): Promise<Read> {
  const calls: Read['calls'][number][] = []
  const errors: string[] = []
  let text = ''
  let finish: string | undefined
  try {
    const { model, request } = ask(url, own, earlier)
    const { stream } = await model.doStream(request)
    for await (const part of stream) {
      if (part.type === 'tool-call') calls.push({ id: part.toolCallId, name: part.toolName, input: part.input })
      else if (part.type === 'text-delta') text += part.delta
      else if (part.type === 'finish') finish = part.finishReason.unified
      else if (part.type === 'error') errors.push(part.error instanceof Error ? part.error.message : JSON.stringify(part.error))
    }
  } catch (error) {
    errors.push((error as Error).message)
  }
  return { calls, text, finish, errors }
}

/** Returns the reply as the provider package reads it in one piece. */
export async function generated(url: string, own?: typeof fetch, earlier: readonly string[] = []): Promise<Read> {
  try {
    const { model, request } = ask(url, own, earlier)
    const { content, finishReason } = await model.doGenerate(request)
    return {
      calls: content.flatMap((part) =>
        part.type === 'tool-call' ? [{ id: part.toolCallId, name: part.toolName, input: part.input }] : [],
      ),
      text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
      finish: finishReason.unified,
      errors: [],
    }
  } catch (error) {
    return { calls: [], text: '', finish: undefined, errors: [(error as Error).message] }
  }
}

/** Returns the reply as read by a plain reader that uses only the index and appends every piece, as most clients do. */
export function byIndex(sse: string): Read {
  const calls: { id: string; name: string; input: string }[] = []
  let finish: string | undefined
  for (const line of sse.split(/\r?\n/)) {
    if (!line.startsWith('data:') || line.includes('[DONE]')) continue
    const chunk = JSON.parse(line.slice(5))
    const choice = chunk.choices?.[0]
    for (const entry of choice?.delta?.tool_calls ?? []) {
      const at = entry.index ?? 0
      const call = calls[at] ?? { id: '', name: '', input: '' }
      calls[at] = call
      call.id ||= entry.id ?? ''
      call.name += entry.function?.name ?? ''
      call.input += entry.function?.arguments ?? ''
    }
    finish = choice?.finish_reason ?? finish
  }
  return { calls, text: '', finish: finish?.replace('_', '-'), errors: [] }
}

export const chunk = (delta: unknown, reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`

/** Builds a streamed reply with these `tool_calls` entries, one per chunk. */
export const reply = (entries: readonly unknown[], reason: string | null = 'tool_calls'): string =>
  [
    chunk({ role: 'assistant', content: '' }),
    ...entries.map((entry) => chunk({ tool_calls: [entry] })),
    ...(reason === null ? [] : [chunk({}, reason)]),
    'data: [DONE]\n\n',
  ].join('')
