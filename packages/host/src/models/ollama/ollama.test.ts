/** Ollama through its own API, opened as the CLI does, with an agent in front of it and a server as strict as the original behind it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AgentEvent, createAgent, memoryStore } from '@mulligan/agent'
import { defineTool, ok } from '@mulligan/core'
import {
  call,
  calls,
  type OllamaModel,
  type Script,
  type ScriptedModel,
  type ScriptedOllama,
  say,
  scriptedModel,
  think,
} from '@mulligan/testing'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openModel } from '../open.ts'
import { patientFetch } from '../patient-fetch.ts'

const servers: ScriptedModel[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  effect: 'read',
  input: z.object({ at: z.string() }),
  execute: ({ at }) => ok(at, { content: `seen ${at}` }),
})

type Options = Partial<OllamaModel> & Omit<ScriptedOllama, 'models'> & { readonly env?: Readonly<Record<string, string>> }

async function start(script: Script, { env = {}, version, loading, maxContext, ...model }: Options = {}) {
  const server = await scriptedModel(script, {
    ollama: {
      models: [{ name: 'glm', ...model }],
      ...(version && { version }),
      ...(loading && { loading }),
      ...(maxContext && { maxContext }),
    },
  })
  servers.push(server)
  const opened = await openModel({ model: 'ollama/glm' }, { OLLAMA_HOST: server.ollamaUrl, ...env })
  const events: AgentEvent[] = []
  const agent = createAgent({
    model: opened.model,
    tools: [look],
    store: memoryStore(),
    cwd: '/',
    secrets: opened.secrets,
    onEvent: (event) => events.push(event),
  })
  const run = (prompt: string, more: { readonly sessionId?: string; readonly signal?: AbortSignal } = {}) => agent.run({ prompt, ...more })
  const warnings = () => events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
  return { server, opened, run, events, warnings }
}

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly options: { readonly num_ctx: number }
}
const bodies = (server: ScriptedModel): Body[] => server.requests.map(({ body }) => body as Body)

describe('a turn', () => {
  it('thinks, calls, reads results and answers; the context is the same in every request', async () => {
    const script = [think('Hm.', { ...say('I look.'), ...calls(['look', { at: 'a' }], ['look', { at: 'b' }]) }), say('Ünd jetzt: 日本.')]
    const { server, opened, run, events, warnings } = await start(script, { capabilities: ['completion', 'tools', 'thinking'] })
    const { answer, usage, requests } = await run('Look.')
    expect([answer, requests]).toEqual(['Ünd jetzt: 日本.', 2])
    expect(usage.inputTokens).toBeGreaterThan(0)
    expect(events.flatMap((event) => (event.type === 'reasoning.delta' ? [event.text] : [])).join('')).toBe('Hm.')
    expect(opened.model).toMatchObject({ id: 'ollama/glm', where: 'this machine', contextTokens: 32_768 })
    const [first, second] = bodies(server)
    expect(first).toMatchObject({ model: 'glm', stream: true, think: true, truncate: false, shift: false, options: { num_ctx: 32_768 } })
    expect(second?.options).toEqual(first?.options)
    const [id, other] = [expect.any(String), expect.any(String)]
    expect(second?.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: 'I look.',
        thinking: 'Hm.',
        tool_calls: [
          { id, function: { name: 'look', arguments: { at: 'a' } } },
          { id: other, function: { name: 'look', arguments: { at: 'b' } } },
        ],
      },
      { role: 'tool', tool_name: 'look', tool_call_id: id, content: expect.stringContaining('seen a') },
      { role: 'tool', tool_name: 'look', tool_call_id: other, content: expect.stringContaining('seen b') },
    ])
    expect(second?.messages.slice(0, 2)).toEqual(first?.messages)
    expect(warnings()).toEqual([])
    server.assertDone()
  })

  it('calls without ids get ids', async () => {
    const { server, run } = await start([{ calls: [{ name: 'look', input: { at: 'a' }, id: '' }] }, say('Done.')])
    expect((await run('Look.')).calls).toMatchObject([{ tool: 'look', result: { ok: true } }])
    server.assertDone()
  })

  it('the key is sent, and kept to itself; a model that does not think is not told to', async () => {
    const { server, opened, run } = await start([say('Yes.')], { env: { MULLIGAN_API_KEY: 'key-of-test' } })
    await run('Hi')
    expect(opened.secrets).toEqual(['key-of-test'])
    expect(server.requests[0]?.headers['authorization']).toBe('Bearer key-of-test')
    expect(server.requests[0]?.body).not.toHaveProperty('think')
  })

  it.each([
    ['https://ollama.com:443', 'ollama.com'],
    ['box.example:8080', 'box.example'],
    ['\u001b[2Jthis machine', 'ollama.com'],
  ])('a cloud model says where it runs: %j', async (remoteHost, where) => {
    const { opened } = await start([], { remoteHost })
    expect([opened.model.where, opened.status]).toEqual([where, undefined])
  })

  it('MULLIGAN_CONTEXT is what is sent, and no more than the model takes', async () => {
    const { server, opened, run, warnings } = await start([say('Yes.')], { contextLength: 8192, env: { MULLIGAN_CONTEXT: '16384' } })
    await run('Hi')
    expect([opened.model.contextTokens, bodies(server)[0]?.options.num_ctx]).toEqual([8192, 8192])
    expect(warnings()).toEqual([expect.stringContaining('16,384')])
  })
})

describe('a prompt that is too long', () => {
  const text = 'Here is the file. '
  const env = { MULLIGAN_CONTEXT: '4096' }
  // The engine keeps its prompts within the context, as far as it can estimate; this one is sent without that check.
  const send = ({ opened }: Awaited<ReturnType<typeof start>>) =>
    opened.model.model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: text.repeat(2000) }] }] })

  it('an older server cuts it, and its count tells', async () => {
    const started = await start([say('Yes.')], { version: '0.12.5', env })
    for await (const part of (await send(started)).stream) expect(part.type).not.toBe('error')
    expect(started.server.requests[0]?.cut).toEqual({ sent: expect.any(Number), read: 2050 })
    const told = expect.stringMatching(/Ollama cut the prompt: of about [\d,]+ tokens it read 2,050.*4,096.*MULLIGAN_CONTEXT/)
    expect([started.opened.model.takeWarnings?.(), started.opened.model.takeWarnings?.()]).toEqual([[told], []])
  })

  it('a newer one refuses it, because it is told to', async () => {
    const started = await start([], { env })
    const says = /exceeds the available context size \(4096 tokens\).* The context is 4,096 tokens; MULLIGAN_CONTEXT/
    await expect(send(started)).rejects.toMatchObject({ name: 'AI_APICallError', statusCode: 400, message: expect.stringMatching(says) })
    expect(started.server.requests[0]?.cut).toBeUndefined()
  })

  it('and where the server gave less context than it was asked for, that is said', async () => {
    const { run } = await start([], { maxContext: 4096 })
    expect(await run(text.repeat(1500))).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/\(4096 tokens\).* less than the 32,768 that were asked for: MULLIGAN_CONTEXT=4096/),
    })
  })

  it('in a turn the person is told, once, and the answer stands', async () => {
    const cut = say('Yes.', { usage: { input: 2050, output: 1 } })
    const { run, events, warnings } = await start([cut, say('Yes.')], { version: '0.12.5', env })
    const { answer, sessionId } = await run(text.repeat(450))
    await run('And now?', { sessionId })
    expect([answer, warnings()]).toEqual(['Yes.', [expect.stringContaining('Ollama cut the prompt')]])
    expect(events.find(({ type }) => type === 'warning')?.id).toBeDefined()
  })

  it('a server that gives less context than it was asked for is told of, once', async () => {
    const { server, run, warnings } = await start([say('Yes.'), say('Yes.')], { maxContext: 4096 })
    await run('Hi')
    await run('Hi')
    expect(bodies(server)[0]?.options.num_ctx).toBe(32_768)
    expect(warnings()).toEqual([expect.stringContaining('a context of 4,096 tokens, not 32,768')])
  })

  it.each([
    ['a short one', 'Hi', {}],
    ['a count without what was cached', text.repeat(400), { usage: { input: 12, output: 1 } }],
    ['no count', 'Hi', { usage: { input: 0, output: 1 } }],
  ])('%s: no alarm, and a usage that can be', async (_, prompt, more) => {
    const { run, warnings } = await start([say('Yes.', more)], { version: '0.12.5', env })
    const { usage } = await run(prompt)
    expect(warnings()).toEqual([])
    expect(usage.inputTokens).toBeGreaterThan(100)
  })

  it('a reply that ended because the context was full is told', async () => {
    const { run, warnings } = await start([say('Yes', { finish: 'length', usage: { input: 4000, output: 96 } })], { env })
    await run('Hi')
    expect(warnings()).toEqual([expect.stringContaining('context of 4,096 tokens was full')])
  })
})

describe('what goes wrong', () => {
  it.each([
    ['an error in mid-stream', [say(['Ye', 's.'], { fault: { error: 'an error was encountered while running the model' } })]],
    ['a stream that is cut', [say(['Ye', 's.'], { fault: { cut: 'mid-text' } })]],
    ['a call that is cut', [call('look', { at: 'far away' }, { fault: { cut: 'mid-call' } })]],
    ['a line that is not valid JSON', [{ raw: '{"message":{"content":"Ye"}}\n<html>\n', contentType: 'application/x-ndjson' }]],
    ['a server that is busy', [{ fault: { status: 503, message: 'server busy, please try again.  maximum pending requests exceeded' } }]],
  ] as const)('%s: asked again', async (_, faults) => {
    const { server, run } = await start([...faults, say('Done.')])
    expect(await run('Hi')).toMatchObject({ status: 'answered', answer: 'Done.' })
    server.assertDone()
  })

  it('a stream without an end: asked again without streaming', async () => {
    const { server, run } = await start([
      { raw: '{"message":{"content":"Ye"},"done":false}\n', contentType: 'application/x-ndjson' },
      say('Done.'),
    ])
    expect((await run('Hi')).answer).toBe('Done.')
    expect(bodies(server).map((body) => (body as { stream?: boolean }).stream)).toEqual([true, false])
  })

  it.each([
    [404, "model 'glm' not found", /model 'glm' not found\. To get it: ollama pull glm/],
    [400, 'registry.ollama.ai/library/glm does not support tools', /does not support tools\. Choose a model that can/],
    [401, 'unauthorized', /401: unauthorized/],
  ])('%i %s: said with what to do', async (status, message, says) => {
    const { run } = await start([{ fault: { status, message } }])
    expect(await run('Hi')).toMatchObject({ status: 'failed', error: expect.stringMatching(says) })
  })

  it('a page of a proxy is not quoted', async () => {
    const { run } = await start([{ fault: { status: 404, body: '<html>secret</html>' } }])
    expect((await run('Hi')).error).toMatch(/answered 404: no reason was given/)
  })

  it('stopped in mid-stream: the connection is closed', async () => {
    const { server, run, events } = await start([say(['One', 'two'], { fault: { hang: 'mid-text' } })])
    const stop = new AbortController()
    const turn = run('Hi', { signal: stop.signal })
    await expect.poll(() => events.some(({ type }) => type === 'message.part.delta')).toBe(true)
    stop.abort()
    expect((await turn).status).toBe('cancelled')
    await server.idle()
    expect(server.requests[0]?.aborted).toBe(true)
  })
})

describe('is not opened', () => {
  it('when there is no such model: the nearest is named', async () => {
    const server = await scriptedModel([], { ollama: { models: [{ name: 'qwen3:8b' }, { name: 'glm-4.7-flash' }] } })
    servers.push(server)
    const opened = openModel({ model: 'ollama/qwen3:8' }, { OLLAMA_HOST: server.ollamaUrl })
    await expect(opened).rejects.toMatchObject({
      message: 'Ollama has no model qwen3:8',
      hint: 'To get it: ollama pull qwen3:8\nOr did you mean --model ollama/qwen3:8b?',
    })
    expect(server.requests).toEqual([])
  })

  it('when nobody listens', async () => {
    const server = await scriptedModel([])
    await server.close()
    const opened = openModel({ model: 'ollama/x' }, { OLLAMA_HOST: server.ollamaUrl })
    await expect(opened).rejects.toMatchObject({
      message: expect.stringContaining(server.ollamaUrl),
      hint: expect.stringContaining('ollama serve'),
    })
  })

  it('when it makes embeddings', async () => {
    await expect(start([], { capabilities: ['embedding'] })).rejects.toThrow('embedding model')
  })
})

describe('a model that has to be loaded', () => {
  it('is waited for, and what its server does can be told', async () => {
    const loading = Promise.withResolvers<void>()
    const { server, opened, run } = await start([say('Yes.'), say('Again.')], { loading: loading.promise })
    const status = () => opened.status?.(new AbortController().signal)
    const turn = run('Hi')
    await server.arrived(1)
    expect(await status()).toBe('loading the model')
    loading.resolve()
    expect((await turn).answer).toBe('Yes.')
    expect(await status()).toBe('reading the prompt')
    await server.close()
    expect(await status()).toBeUndefined()
  })

  it('may take longer than the built-in fetch waits for an answer', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const server = createServer((_, response) => void released.then(() => response.end('late')))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const before = getGlobalDispatcher()
    setGlobalDispatcher(new Agent({ headersTimeout: 1 }))
    try {
      const patient = patientFetch(url)
      await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } })
      release()
      expect(await (await patient).text()).toBe('late')
    } finally {
      setGlobalDispatcher(before)
      server.close()
    }
  })
})
