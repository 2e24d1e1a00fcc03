/** The unchanged examples, over real HTTP. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { type ServerType, serve } from '@hono/node-server'
import { call, lastToolResults, say, scriptedModel } from '@mulligan/testing'
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai'
import { build, type Rolldown } from 'vite'
import { describe, expect, it } from 'vitest'

const file = (name: string): string => fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url))

it('a script with two lines changed: repairs a call, and says what to fix in another', async () => {
  await using server = await scriptedModel([
    call('weather', { city: 'Lisbon' }),
    call('Weather', { city: 'Lisbon', days: '2' }),
    say('Yes.'),
  ])
  const { stdout } = await promisify(execFile)(process.execPath, [file('ai-sdk-agent.ts')], { env: { BASE_URL: server.url } })
  server.assertDone()
  expect(stdout).toMatch(/forecast: \[ 'rain, then sun', 'rain, then sun' \][\s\S]*Yes\.\n$/)
  const [, second] = server.requests
  expect(second && lastToolResults(second)[0]?.text).toMatch(/^retry \(validation\): "days" is missing/)
})

/** The example's own server, on a free port. */
async function listening(fetch: (request: Request) => Response | Promise<Response>) {
  const { url, server } = await new Promise<{ readonly url: string; readonly server: ServerType }>((resolve) => {
    const server = serve({ fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve({ url: `http://127.0.0.1:${port}`, server }))
  })
  return { url, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())) }
}

describe('the endpoint of useChat', () => {
  const user = (text: string): UIMessage => ({ id: '1', role: 'user', parts: [{ type: 'text', text }] })

  /** What the page finally shows, sent and read as by `useChat`. */
  async function shown(url: string, messages: readonly UIMessage[]): Promise<UIMessage> {
    const chunks = await new DefaultChatTransport<UIMessage>({ api: `${url}/api/chat` }).sendMessages({
      chatId: 'c',
      trigger: 'submit-message',
      messageId: undefined,
      messages: [...messages],
      abortSignal: undefined,
    })
    let last: UIMessage | undefined
    const before = messages.at(-1)
    for await (const message of readUIMessageStream<UIMessage>({
      stream: chunks,
      ...(before?.role === 'assistant' && { message: before }),
    }))
      last = message
    if (!last) throw new Error('nothing was shown')
    return last
  }

  it('shows a retry and its result, asks before a mail, and sends it once', async () => {
    const script = [
      call('findPeople', { name: 'a' }),
      call('findPeople', { name: 'ann' }),
      call('sendMail', { to: 'Ann Ash', text: 'Hi' }),
      say('Sent.'),
    ]
    await using model = await scriptedModel(script)
    process.env['BASE_URL'] = model.url
    const { app } = (await import(file('ai-sdk-chat.ts'))) as { readonly app: { readonly fetch: (request: Request) => Promise<Response> } }
    await using server = await listening(app.fetch)
    const asked = await shown(server.url, [user('Write hi to Ann.')])
    const tools = asked.parts.filter((part) => 'toolCallId' in part)
    expect(tools.map((part) => [part.type, part.state])).toEqual([
      ['tool-findPeople', 'output-error'],
      ['tool-findPeople', 'output-available'],
      ['tool-sendMail', 'approval-requested'],
    ])
    expect(tools[0]).toMatchObject({ errorText: expect.stringMatching(/^retry \(validation\): "name" must be at least 2 characters/) })
    expect(tools[1]).toMatchObject({ output: ['Ann Ash'] })
    const answered = {
      ...asked,
      parts: asked.parts.map((part) =>
        'approval' in part && part.approval
          ? { ...part, state: 'approval-responded' as const, approval: { id: part.approval.id, approved: true } }
          : part,
      ),
    } as UIMessage
    const sent = await shown(server.url, [user('Write hi to Ann.'), answered])
    model.assertDone()
    expect(sent.parts.findLast((part) => part.type === 'tool-sendMail')).toMatchObject({
      state: 'output-available',
      output: { sent: true, to: 'Ann Ash' },
    })
    expect(sent.parts.at(-1)).toMatchObject({ type: 'text', text: 'Sent.' })
  })
})

describe('the worker', () => {
  it('answers where there is no Node API, and each request has fresh state', async () => {
    const output = await build({
      configFile: false,
      logLevel: 'error',
      build: { write: false, minify: true, target: 'es2024', lib: { entry: file('ai-sdk-worker.ts'), formats: ['iife'], name: 'worker' } },
    })
    const [bundle] = output as Rolldown.RolldownOutput[]
    const web = {
      AbortController,
      AbortSignal,
      DOMException,
      Headers,
      ReadableStream,
      Request,
      Response,
      TextDecoder,
      TextDecoderStream,
      TextEncoder,
      TextEncoderStream,
      TransformStream,
      URL,
      crypto,
      fetch,
      performance,
      setTimeout,
      clearTimeout,
    }
    const context = createContext({ ...web }, { codeGeneration: { strings: false, wasm: false } })
    runInContext(bundle?.output[0].code ?? '', context)
    const worker = runInContext('worker', context)
    await using model = await scriptedModel(({ body }) => {
      const results = (body as { messages: { role: string }[] }).messages.filter(({ role }) => role === 'tool').length
      return results < 2 ? call('convert', { celsius: results === 0 ? 'warm' : '20' }) : say('68 °F.')
    })
    await using server = await listening((request) => worker.fetch(request, { BASE_URL: model.url, MODEL: 'any' }))
    const ask = async () => (await fetch(server.url, { method: 'POST', body: 'How warm is 20 °C?' })).text()
    expect(await Promise.all([ask(), ask()])).toEqual(['68 °F.', '68 °F.'])
    const told = model.requests.flatMap((request) => lastToolResults(request).map(({ text }) => text))
    expect(
      told
        .filter((text) => text.startsWith('retry (validation): "celsius" must be a number'))
        .every((text) => text.endsWith('3 tries left.')),
    ).toBe(true)
    expect(told).toContain('68')
  })
})
