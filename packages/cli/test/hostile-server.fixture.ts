/** A malicious model server: it answers the first request with the given bytes, and later ones properly. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Call {
  readonly name: string
  readonly arguments: string
}

/** How a protocol encodes the parts of a reply. */
export interface Protocol {
  /** Returns the flags and environment that make the command use it. */
  readonly use: (url: string) => { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  readonly type: string
  readonly calls: (calls: readonly Call[], from: number) => string
  readonly text: (text: string) => string
  readonly end: string
  /** The beginning of a line with text, which could go on forever. */
  readonly open: string
  /** A keep-alive message without content. */
  readonly nothing: string
  /** Reads a later request: the ids of one reply's calls and of their results, and all text for the model. */
  readonly read: (body: string) => { readonly calls: readonly string[]; readonly results: readonly string[]; readonly text: string }
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const chunk = (delta: unknown, finish_reason: string | null = null): string =>
  event({ id: 'r', choices: [{ index: 0, delta, finish_reason }] })

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}
const messagesOf = (body: string): readonly Message[] => (JSON.parse(body) as { messages: readonly Message[] }).messages
const readPlain = (body: string): ReturnType<Protocol['read']> => ({
  calls: messagesOf(body).flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)),
  results: messagesOf(body).flatMap(({ tool_call_id }) => tool_call_id ?? []),
  text: body,
})

export const openai: Protocol = {
  use: (url) => ({ args: ['--model', 'x', '--base-url', `${url}/v1`], env: {} }),
  type: 'text/event-stream',
  calls: (calls, from) =>
    chunk({ tool_calls: calls.map((call, at) => ({ index: from + at, id: `c${from + at}`, type: 'function', function: call })) }),
  text: (content) => chunk({ content }),
  end: `${chunk({}, 'stop')}data: [DONE]\n\n`,
  open: 'data: {"choices":[{"index":0,"delta":{"content":"',
  nothing: ': still here\n\n',
  read: readPlain,
}

const line = (message: unknown, rest: object = { done: false }): string => `${JSON.stringify({ message, ...rest })}\n`

export const ollama: Protocol = {
  use: (url) => ({ args: ['--model', 'ollama/x'], env: { OLLAMA_HOST: url } }),
  type: 'application/x-ndjson',
  calls: (calls, from) =>
    line({
      content: '',
      tool_calls: calls.map(({ name, arguments: text }, at) => ({ id: `c${from + at}`, function: { name, arguments: JSON.parse(text) } })),
    }),
  text: (content) => line({ content }),
  end: line({ content: '' }, { done: true, done_reason: 'stop', prompt_eval_count: 3000 }),
  open: '{"done":false,"message":{"content":"',
  nothing: line({ content: '' }),
  read: readPlain,
}

const typed = (type: string, rest: object = {}): string => `event: ${type}\n${event({ type, ...rest })}`

interface Block {
  readonly type: string
  readonly id?: string
  readonly tool_use_id?: string
}

export const anthropic: Protocol = {
  use: (url) => ({ args: ['--model', 'anthropic/x', '--base-url', `${url}/v1`], env: { ANTHROPIC_API_KEY: 'key-of-test' } }),
  type: 'text/event-stream',
  calls: (calls, from) =>
    (from === 0 ? anthropicStart : '') +
    calls
      .map(({ name, arguments: partial_json }, at) => {
        const index = from + at
        return [
          typed('content_block_start', { index, content_block: { type: 'tool_use', id: `c${index}`, name, input: {} } }),
          typed('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } }),
          typed('content_block_stop', { index }),
        ].join('')
      })
      .join(''),
  text: (text) =>
    anthropicStart +
    typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
    typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }) +
    typed('content_block_stop', { index: 0 }),
  end: typed('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }) + typed('message_stop'),
  open: 'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"',
  nothing: typed('ping'),
  read: (body) => {
    const blocks = messagesOf(body).flatMap(({ content }) => (Array.isArray(content) ? (content as readonly Block[]) : []))
    return {
      calls: blocks.flatMap(({ type, id }) => (type === 'tool_use' && id !== undefined ? [id] : [])),
      results: blocks.flatMap(({ tool_use_id }) => tool_use_id ?? []),
      text: body,
    }
  },
}
const anthropicStart = typed('message_start', {
  message: { id: 'm', model: 'x', role: 'assistant', content: [], usage: { input_tokens: 1 } },
})

export interface Attack {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** What is sent, piece by piece, as fast as the client reads it. */
  readonly body: () => Iterable<string | Uint8Array>
  /** Whether the connection stays open after the last piece. */
  readonly stays?: boolean
}

export interface HostileServer {
  readonly url: string
  /** The bodies of the requests for a reply. */
  readonly requests: readonly string[]
  /** Resolves when all pieces of the attack have been sent. */
  readonly sent: Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export async function hostileServer(protocol: Protocol, attack: Attack): Promise<HostileServer> {
  const requests: string[] = []
  let done: () => void
  const sent = new Promise<void>((resolve) => {
    done = resolve
  })
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', async () => {
      if (!/\/(chat\/completions|api\/chat|messages)$/.test(request.url ?? '')) {
        response.writeHead(404).end()
        return
      }
      requests.push(body)
      response.setHeader('content-type', protocol.type)
      if (requests.length > 1) {
        response.end(protocol.text('All is well.') + protocol.end)
        return
      }
      response.writeHead(attack.status ?? 200, attack.headers)
      for (const piece of attack.body()) if (!response.destroyed) await written(response, piece)
      done()
      if (!attack.stays) response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    sent,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function written(response: ServerResponse, piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    // A client that disconnected reads nothing more.
    const over = (): void => {
      response.off('close', over)
      resolve()
    }
    response.on('close', over)
    if (response.write(piece)) setImmediate(over)
    else response.once('drain', over)
  })
}
