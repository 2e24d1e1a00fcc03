import { notOk, ok } from '@mulligan/core'
import { call, calls, lastToolResults, say, think } from '@mulligan/testing'
import { beforeEach, describe, expect, test } from 'vitest'
import { agentModel, PROTOCOLS, STORES, save, search, start, stores } from './agent.fixture.ts'
import { createAgent, memoryStore } from './index.ts'
import { indeterminateCalls } from './turn/indeterminate-calls.ts'

/** Side by side, because most of them wait. */
const it = test.concurrent

const EACH = PROTOCOLS.flatMap((protocol) => STORES.map(([store, open]) => [protocol, store, open] as const))

describe.each(EACH)('the turn over %s, in %s', (protocol, _, open) => {
  beforeEach(() => {
    stores.open = open
  })

  it('two searches that find nothing, at one allowed retry, do not end the turn', async () => {
    const { server, agent } = await start(
      [calls(['search', { query: 'no a' }], ['search', { query: 'no b' }]), say('Nothing there.')],
      protocol,
      {
        tools: [{ ...search, retries: 1 }],
      },
    )
    const outcome = await agent.run({ prompt: 'find' })
    expect(outcome).toMatchObject({ status: 'answered', answer: 'Nothing there.', requests: 2 })
    expect(outcome.calls.map(({ result }) => result)).toMatchObject([
      { ok: true, count: 0 },
      { ok: true, count: 0 },
    ])
    server.assertDone()
    await server.close()
  })

  it('a wrong call comes back with what to fix, and the suggested call works', async () => {
    const { server, agent } = await start(
      [
        call('save', { path: 'wrong.md', text: 'x' }),
        {
          calls: (request) => [
            { name: 'save', input: JSON.parse(/Call instead: save\((.*)\)/.exec(lastToolResults(request)[0]?.text ?? '')?.[1] ?? '') },
          ],
        },
        say('Saved.'),
      ],
      protocol,
    )
    const outcome = await agent.run({ prompt: 'save it' })
    expect(outcome.status).toBe('answered')
    expect(outcome.ledger).toMatchObject({ changed: [{ tool: 'save', target: 'right.md' }], failed: [], unknown: [] })
    expect(lastToolResults(server.requests[1] as never)[0]).toMatchObject({
      text: expect.stringMatching(/^retry \(not_found\)/),
      ...(protocol === 'anthropic' && { isError: true }),
    })
    server.assertDone()
    await server.close()
  })

  it('bad calls of every kind leave a history the strict server accepts', async () => {
    const { server, agent } = await start(
      [
        calls(['search', '{"query": "unclosed'], ['nope', {}], ['search', { query: 5 }], ['search', { query: 'a', limit: '3' }]),
        calls(['search', '[1,2]'], ['functions.search', { query: 'b' }]),
        say('Done.'),
      ],
      protocol,
    )
    const outcome = await agent.run({ prompt: 'go' })
    expect(outcome.calls.map(({ result, repairs }) => [result.ok ? 'ok' : result.errorType, repairs.length])).toEqual([
      ['malformed_call', 0],
      ['unknown_tool', 0],
      ['ok', 1],
      ['ok', 1],
      ['malformed_call', 0],
      ['ok', 1],
    ])
    server.assertDone()
    await server.close()
  })

  it('a signed turn goes back untouched, and the repair is told in the result', async () => {
    const { server, agent } = await start([think('Let me look.', call('search', { query: 'a', limit: '3' })), say('Found.')], protocol)
    expect((await agent.run({ prompt: 'go' })).status).toBe('answered')
    const [result] = lastToolResults(server.requests[1] as never)
    expect(result?.text.includes('your call was read as search({"query":"a","limit":3})')).toBe(protocol === 'anthropic')
    server.assertDone()
    await server.close()
  })

  it('request N of N concludes in words; calls that are sent all the same are discarded', async () => {
    const { server, agent } = await start(
      [call('search', { query: 'a' }), { text: 'So far: a.', calls: [{ name: 'search', input: { query: 'b' } }] }, say('Second turn.')],
      protocol,
      {
        limits: { requests: 2 },
      },
    )
    const outcome = await agent.run({ prompt: 'go' })
    expect(outcome).toMatchObject({
      status: 'stopped',
      stoppedBy: 'requests',
      answer: 'So far: a.',
      requests: 2,
      calls: [{ tool: 'search' }],
    })
    expect(server.requests[1]?.body).toMatchObject({
      tool_choice: protocol === 'openai' ? 'none' : { type: 'none' },
      tools: expect.any(Array),
    })
    expect(await agent.run({ sessionId: outcome.sessionId, prompt: 'more' })).toMatchObject({ status: 'answered' })
    server.assertDone()
    await server.close()
  })

  it('a broken stream is discarded and asked for again', async () => {
    const { server, agent, events } = await start(
      [{ ...say(['Hel', 'lo', ' wor', 'ld']), fault: { cut: 'mid-text' } }, say('Hello.')],
      protocol,
    )
    expect(await agent.run({ prompt: 'go' })).toMatchObject({ status: 'answered', answer: 'Hello.', requests: 1 })
    expect(events.map(({ type }) => type)).toContain('message.discarded')
    server.assertDone()
    await server.close()
  })

  it('a server that answers a streaming request without streaming is asked without it', async () => {
    const whole = {
      openai: { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello.' } }] },
      anthropic: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello.' }], stop_reason: 'end_turn', usage: {} },
    }[protocol]
    const { server, agent } = await start([{ raw: JSON.stringify(whole), contentType: 'application/json' }, say('Hello.')], protocol)
    expect(await agent.run({ prompt: 'go' })).toMatchObject({ status: 'answered', answer: 'Hello.', requests: 1 })
    expect(server.requests.map(({ body }) => (body as { stream?: boolean }).stream === true)).toEqual([true, false])
    await server.close()
  })

  it('429 and 5xx are waited out, 400 is not', async () => {
    const { server, agent } = await start(
      [{ fault: { status: 429, retryAfter: 0 } }, { fault: { status: 503 } }, say('Here.'), { fault: { status: 400 } }],
      protocol,
    )
    const first = await agent.run({ prompt: 'go' })
    expect(first).toMatchObject({ status: 'answered', requests: 1 })
    expect(await agent.run({ sessionId: first.sessionId, prompt: 'again' })).toMatchObject({
      status: 'failed',
      stoppedBy: 'provider',
      error: expect.stringContaining('400'),
    })
    server.assertDone()
    await server.close()
  })

  it('an abort in mid-tool gives every call a result, and the conversation continues', async () => {
    const stop = new AbortController()
    const store = await stores.open()
    const slow = {
      ...search,
      name: 'slow',
      execute: () => {
        stop.abort()
        return new Promise(() => undefined)
      },
    }
    const { server, agent } = await start(
      [calls(['slow', { query: 'a' }], ['save', { path: 'a.md', text: '' }]), say('Welcome back.')],
      protocol,
      { tools: [search, save, slow], store },
    )
    const outcome = await agent.run({ prompt: 'go', signal: stop.signal })
    expect(outcome).toMatchObject({
      status: 'cancelled',
      calls: [{ result: { status: 'cancelled' } }, { result: { status: 'cancelled' } }],
    })
    expect(await agent.run({ sessionId: outcome.sessionId, prompt: 'again' })).toMatchObject({
      status: 'answered',
      answer: 'Welcome back.',
    })
    server.assertDone()
    await server.close()
  })

  it('an empty turn is asked again, and ends in words all the same', async () => {
    const { server, agent } = await start([say(''), say('There.'), say(''), say(''), say('')], protocol)
    const first = await agent.run({ prompt: 'go' })
    expect(first).toMatchObject({ status: 'answered', answer: 'There.', requests: 2 })
    expect(await agent.run({ sessionId: first.sessionId, prompt: 'more' })).toMatchObject({
      status: 'failed',
      stoppedBy: 'empty',
      answer: expect.stringContaining('gave no answer'),
    })
    server.assertDone()
    await server.close()
  })

  it('a call cut off by the length limit is not run, and says so', async () => {
    const { server, agent } = await start(
      [{ ...call('save', { path: 'a.md', text: 'half' }), finish: 'length' }, say('In parts then.')],
      protocol,
    )
    const outcome = await agent.run({ prompt: 'go' })
    expect(outcome.calls).toMatchObject([{ attempts: 0, result: { status: 'retry', errorType: 'malformed_call' } }])
    expect(outcome.ledger.changed).toEqual([])
    server.assertDone()
    await server.close()
  })
})

describe.each(STORES)('the turn, in %s', (_, open) => {
  beforeEach(() => {
    stores.open = open
  })

  it('ends after two refusals of the loop guard, in words', async () => {
    const same = call('search', { query: 'a' })
    const { server, agent } = await start([same, same, same, same, same, say('I kept searching for a.')])
    expect(await agent.run({ prompt: 'go' })).toMatchObject({
      status: 'stopped',
      stoppedBy: 'loop',
      answer: 'I kept searching for a.',
      requests: 6,
    })
    server.assertDone()
    await server.close()
  })

  it('the first request waits for tools that are still coming; the message is stored before', async () => {
    const tools = Promise.withResolvers<readonly (typeof search)[]>()
    const isAsked = Promise.withResolvers<void>()
    const { server, agent, store, events } = await start([say('Done.')], 'openai', {
      tools: () => {
        isAsked.resolve()
        return tools.promise
      },
    })
    const running = agent.run({ prompt: 'go' })
    await isAsked.promise
    expect([server.requests.length, events.map(({ type }) => type)]).toEqual([0, ['session.created', 'turn.started']])
    expect(await store.history(events[0]?.sessionId ?? '')).toMatchObject([{ text: 'go' }])
    tools.resolve([search])
    await running
    expect(JSON.stringify((server.requests[0]?.body as { tools: unknown }).tools)).toContain('"search"')
    await server.close()
  })

  it('a model that repeats itself is cut off', async () => {
    const { server, agent } = await start([say([...Array(40)].map(() => 'The file is not here, so I look again. '.repeat(4)))])
    const outcome = await agent.run({ prompt: 'go' })
    expect(outcome).toMatchObject({ status: 'stopped', stoppedBy: 'loop' })
    expect(outcome.answer.length).toBeLessThan(200)
    await server.close()
  })

  it('stops in words when its time is up, though a tool never returns', async () => {
    const { server, agent } = await start([call('slow', { query: 'a' })], 'openai', {
      tools: [{ ...search, name: 'slow', execute: () => new Promise(() => undefined) }],
      limits: { seconds: 0.3 },
    })
    expect(await agent.run({ prompt: 'go' })).toMatchObject({
      status: 'stopped',
      stoppedBy: 'seconds',
      calls: [{ result: { status: 'cancelled' } }],
    })
    await server.close()
  })

  it('nobody is asked about a call once the turn was stopped', async () => {
    const stop = new AbortController()
    const asked: string[] = []
    const slow = (): Promise<never> => {
      stop.abort()
      return new Promise(() => undefined)
    }
    const { server, agent } = await start([calls(['slow', { query: 'a' }], ['save', { path: 'a.md', text: '' }])], 'openai', {
      tools: [save, { ...search, name: 'slow', execute: slow }],
      approve: async ({ tool }) => {
        asked.push(tool)
        return { answer: 'nobody' }
      },
    })
    const outcome = await agent.run({ prompt: 'go', signal: stop.signal })
    expect(outcome).toMatchObject({
      status: 'cancelled',
      calls: [{ result: { status: 'cancelled' } }, { result: { status: 'cancelled' } }],
    })
    expect(asked).toEqual([])
    await server.close()
  })

  it('an approval that nobody gives is denied, said to the model, and told in the status', async () => {
    const { server, agent } = await start([call('save', { path: 'a.md', text: '' }), say('I may not save.')], 'openai', {
      approve: async () => ({ answer: 'nobody' }),
    })
    expect(await agent.run({ prompt: 'go' })).toMatchObject({
      status: 'needs_approval',
      stoppedBy: 'approval',
      calls: [{ attempts: 0, result: { status: 'denied' } }],
    })
    await server.close()
  })

  it('an effect that was cut off in an earlier turn is not repeated without a person', async () => {
    let ran = 0
    const hang = () => {
      ran++
      return new Promise(() => undefined)
    }
    const { server, agent } = await start(
      [call('slow', { query: 'a' }), say('Unknown.'), call('slow', { query: 'a' }), call('slow', { query: 'b' }), say('Asked.')],
      'openai',
      {
        tools: [
          {
            ...search,
            name: 'slow',
            effect: 'write',
            timeout: 0.01,
            target: ({ query }: { query: string }) => query,
            indeterminateScope: 'target',
            execute: hang,
          },
        ],
        approve: async ({ forced }) => ({ answer: forced ? 'nobody' : 'once' }),
      },
    )
    const first = await agent.run({ prompt: 'go' })
    expect(first.calls).toMatchObject([{ result: { status: 'indeterminate' } }])
    expect(await agent.run({ sessionId: first.sessionId, prompt: 'again' })).toMatchObject({
      status: 'needs_approval',
      calls: [{ result: { status: 'denied' } }, { result: { status: 'indeterminate' } }],
    })
    expect(ran).toBe(2)
    await server.close()
  })

  it('a late outcome settles an indeterminate call', async () => {
    const store = await stores.open()
    const { server, agent } = await start([call('save', { path: 'a.md', text: '' }), say('Saved.')], 'openai', { store })
    await store.createSession({ id: 's', cwd: '/', title: '' })
    await store.startTurn({ id: 's/1', sessionId: 's', prompt: '', model: '' }, { role: 'user', id: 's/1/0', turnId: 's/1', text: '' })
    const cut = {
      step: 1,
      tool: 'save',
      effect: 'write',
      input: { path: 'a.md', text: '' },
      result: notOk('timeout', '', { status: 'indeterminate' }),
    }
    const part = { type: 'call', callId: 's/1/1/0', wireId: 'w', name: 'save', input: '{}' } as const
    const usage = { inputTokens: 0, outputTokens: 0 }
    const message = {
      role: 'assistant',
      id: 's/1/1',
      turnId: 's/1',
      step: 1,
      parts: [part],
      model: '',
      finishReason: 'stop',
      usage,
    } as const
    await store.saveMessage('s', message)
    await store.saveCall('s', 's/1', { id: 's/1/1/0', ordinal: 0, target: '', attempts: 1, repairs: [], durationMs: 1, ...cut } as never)
    const late = {
      type: 'tool.result',
      callId: 's/1/1/0',
      effect: 'write',
      result: ok(null),
      late: true,
      id: 1,
      sessionId: 's',
      turnId: 's/1',
      at: 0,
    }
    const unsettled = async () => indeterminateCalls(store, 's', await store.history('s'))
    expect(await unsettled()).toMatchObject([{ tool: 'save', input: { path: 'a.md', text: '' } }])
    await store.append([late as never], false)
    expect(await unsettled()).toEqual([])
    expect((await agent.run({ sessionId: 's', prompt: 'again' })).ledger.changed).toHaveLength(1)
    await server.close()
  })

  it('ids that stand twice are distinguished in what is sent', async () => {
    const { server, agent } = await start(
      [call('search', { query: 'a' }, { id: 'same' }), call('search', { query: 'b' }, { id: 'same' }), say('ok')],
      'anthropic',
    )
    expect(await agent.run({ prompt: 'go' })).toMatchObject({ status: 'answered', calls: [{ wireId: 'same' }, { wireId: 'same' }] })
    server.assertDone()
    await server.close()
  })

  it('a provider of another contract version is refused at once', async () => {
    const { server } = await start([])
    const model = agentModel(server, 'openai')
    const old = { ...model, model: { ...model.model, specificationVersion: 'v3' } as never }
    expect(() => createAgent({ model: old, tools: [], store: memoryStore(), cwd: '/' })).toThrow(/v4/)
    await server.close()
  })

  it('the rules of the contract are in the text that is really sent', async () => {
    const { server, agent } = await start([say('Hi.')])
    await agent.run({ prompt: 'go' })
    const [system] = (server.requests[0]?.body as { messages: { role: string; content: string }[] }).messages
    expect(system?.role).toBe('system')
    for (const word of ['displays', 'has_more', 'denied', 'indeterminate', 'count 0', 'retry', 'Call instead'])
      expect(system?.content).toContain(word)
    expect((system?.content.length ?? 0) / 3.5).toBeLessThan(600)
    await server.close()
  })

  it('a store that can’t be written any more ends the turn with what was done', async () => {
    const store = await stores.open()
    let saved = 0
    const full = {
      ...store,
      saveMessage: async (...args: Parameters<typeof store.saveMessage>) =>
        ++saved > 1 ? Promise.reject(new Error('database or disk is full')) : store.saveMessage(...args),
    }
    const { server, agent } = await start([call('save', { path: 'a.md', text: '' }), say('Saved.')], 'openai', { store: full })
    expect(await agent.run({ prompt: 'go' })).toMatchObject({
      status: 'failed',
      stoppedBy: 'store',
      error: expect.stringContaining('disk is full'),
      ledger: { changed: [{ target: 'a.md' }] },
    })
    await server.close()
  })

  it('a question that fails is answered by nobody, and a listener that fails is left alone', async () => {
    const boom = () => {
      throw new Error('boom')
    }
    const { server, agent } = await start([call('save', { path: 'a.md', text: '' }), say('No.')], 'openai', { approve: async () => boom() })
    expect(await agent.run({ prompt: 'go' })).toMatchObject({ status: 'needs_approval' })
    await server.close()
  })

  it('where the server counts no tokens the limit holds by the estimate', async () => {
    const turns = Array.from({ length: 9 }, (_, n) => ({ ...call('search', { query: `${n}` }), usage: { input: 0, output: 0 } }))
    const { server, agent } = await start(turns, 'openai', { limits: { tokens: 3000 } })
    const outcome = await agent.run({ prompt: 'go' })
    expect(outcome).toMatchObject({ status: 'stopped', stoppedBy: 'tokens' })
    expect(outcome.requests).toBeLessThan(9)
    await server.close()
  })
})
