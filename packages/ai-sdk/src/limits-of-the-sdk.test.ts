/** What the SDK itself enforces or reads, and the engine must not lose. */
import { APICallError, generateText, isStepCount, streamText, ToolLoopAgent, tool, toolSearch, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { mulligan } from './mulligan.ts'
import type { TurnEvent } from './options.ts'
import { repairToolCalls } from './repair-tool-calls.ts'

type Content = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>['content'][number]

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const say = (text: string): Content => ({ type: 'text', text })
const call = (toolName: string, input: object = {}, toolCallId = 'c1', more: object = {}): Content => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input: JSON.stringify(input),
  ...more,
})

function scripted(...replies: (Content[] | Error)[]) {
  const told: string[] = []
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      told.push(JSON.stringify(prompt.filter(({ role }) => role === 'tool')))
      const content = replies.shift() ?? []
      if (content instanceof Error) throw content
      const hasCall = content.some((one) => one.type === 'tool-call' && !one.providerExecuted)
      return { content, finishReason: { unified: hasCall ? 'tool-calls' : 'stop', raw: undefined }, usage, warnings: [] }
    },
  })
  return { model, told }
}

/** A tool that the provider runs, and its call in a reply. */
const web = {
  type: 'provider',
  isProviderExecuted: true,
  id: 'openai.web_search',
  name: 'web',
  args: {},
  inputSchema: z.object({}),
  outputSchema: z.any(),
} as never
const searched: readonly Content[] = [
  call('web', {}, 'w', { providerExecuted: true }),
  { type: 'tool-result', toolCallId: 'w', toolName: 'web', result: {} },
]

describe('time limits', () => {
  const slow = (more: object = {}) => ({
    slow: tool({
      inputSchema: z.object({}),
      execute: (_, { abortSignal }) =>
        new Promise<string>((_resolve, reject) => abortSignal?.addEventListener('abort', () => reject(new Error('stopped')))),
      ...more,
    }),
  })

  it('a limit of one call of an agent reaches the tool', async () => {
    const { model, told } = scripted([call('slow')], [say('Done.')])
    const { text } = await new ToolLoopAgent(mulligan(slow()).agent({ model })).generate({ prompt: 'x', timeout: { toolMs: 20 } })
    expect(text).toBe('Done.')
    expect(told[1]).toContain('stopped')
  })

  it('an approved call, which runs before the first request, is aborted', async () => {
    const controller = new AbortController()
    let wasAborted = false
    const approved = tool({
      inputSchema: z.object({}),
      needsApproval: true,
      execute: (_, { abortSignal }) => {
        controller.abort()
        wasAborted = abortSignal?.aborted === true
        return 'done'
      },
    })
    const settings = mulligan({ approved }).agent({ model: scripted([say('Done.')]).model })
    const running = new ToolLoopAgent(settings).generate({
      abortSignal: controller.signal,
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', toolCallId: 'a', toolName: 'approved', input: {} },
            { type: 'tool-approval-request', approvalId: 'p', toolCallId: 'a' },
          ],
        },
        { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'p', approved: true }] },
      ],
    })
    await Promise.allSettled([running])
    expect(wasAborted).toBe(true)
  })
})

it('a function `toolApproval` decides about a tool that the provider runs, and nobody else', async () => {
  const tools = { web, weather: tool({ inputSchema: z.object({}), execute: () => 'sun' }) }
  const { model, told } = scripted([...searched, call('weather', {}, 'a')], [say('Sun.')])
  const settings = { model, prompt: 'x', stopWhen: isStepCount(5), toolApproval: () => undefined }
  const { text } = await generateText(mulligan(tools).turn(settings as never) as never)
  expect(text).toBe('Sun.')
  expect(told).toHaveLength(2)
})

it('members of a tool under symbols stay, as those of `toolSearch()`', async () => {
  const weather = tool({ description: 'the weather', inputSchema: z.object({}), execute: () => 'sun', deferLoading: true } as never)
  const tools = { find: toolSearch(), weather } as never
  const { model, told } = scripted([call('find', { query: 'weather' }, 'a')], [call('weather', {}, 'b')], [say('Sun.')])
  await generateText(mulligan(tools).turn({ model, prompt: 'x', stopWhen: isStepCount(5) } as never) as never)
  expect(told[2]).toContain('sun')
})

it('with `full`, a tool that the client runs needs no approval', async () => {
  const tools = {
    askUser: tool({ inputSchema: z.object({ q: z.string() }) }),
    save: tool({ inputSchema: z.object({}), needsApproval: true, execute: () => '' }),
  }
  const { model } = scripted([call('askUser', { q: 'When?' })])
  const { content } = await generateText(mulligan(tools as never, { preset: 'full' }).turn({ model, prompt: 'x' } as never) as never)
  expect(content.map(({ type }) => type)).toEqual(['tool-call'])
})

it('with `full`, the first reply stays if the second request fails', async () => {
  const tools = { search: tool({ inputSchema: z.object({}), execute: () => 'v' }) }
  const failure = new APICallError({ message: 'rate limited', url: 'x', requestBodyValues: {}, statusCode: 429, isRetryable: false })
  const { model } = scripted([say('I will now search the notes.')], failure)
  const { text } = await generateText(mulligan(tools, { preset: 'full' }).turn({ model, prompt: 'x' }))
  expect(text).toBe('I will now search the notes.')
})

it('an exception of `experimental_refineToolInput` without a secret stays as it is', async () => {
  class CityError extends Error {}
  const error = new CityError('There is no city "Xyz". Known: Rome, Oslo.')
  const tools = { get: tool({ inputSchema: z.object({}), execute: () => 'v' }) }
  const fails = () => {
    throw error
  }
  const { steps } = await generateText(
    mulligan(tools, { log: () => undefined }).turn({
      model: scripted([call('get')]).model,
      prompt: 'x',
      experimental_refineToolInput: { get: fails },
    }),
  )
  expect(steps[0]?.toolCalls[0]).toMatchObject({ error })
})

it('a tool that the client runs: a person is asked if the policy asks, and a denial by the app is recorded', async () => {
  const send = tool({ inputSchema: z.object({ to: z.string() }) })
  const policy = () => ({ decision: 'ask' as const, reason: 'Is it right?' })
  const { content } = await generateText(
    mulligan({ send } as never, { policy }).turn({ model: scripted([call('send', { to: 'ann' })]).model, prompt: 'x' } as never) as never,
  )
  expect(content.map(({ type }) => type)).toEqual(['tool-call', 'tool-approval-request'])

  const events: TurnEvent[] = []
  const engine = mulligan({ send } as never, { preset: 'full', onEvent: (event) => void events.push(event) })
  const denied = { send: { type: 'denied', reason: 'not today' } } as const
  await generateText(
    engine.turn({
      model: scripted([call('send', { to: 'ann' })], [say('ok')]).model,
      prompt: 'x',
      stopWhen: isStepCount(3),
      toolApproval: denied,
    } as never) as never,
  )
  expect(events.find(({ type }) => type === 'tool.result')).toMatchObject({ result: { status: 'denied', error: 'not today' } })
})

it('an exception of `experimental_refineToolInput` reaches nobody with its secret', async () => {
  const { model, told } = scripted([call('get')], [say('ok')])
  await generateText(
    mulligan({ get: tool({ inputSchema: z.object({}), execute: () => 'v' }) }, { log: () => undefined }).turn({
      model,
      prompt: 'x',
      stopWhen: isStepCount(3),
      experimental_refineToolInput: {
        get: () => {
          throw new Error('cannot reach postgres://ann:hunter2@db/x')
        },
      },
    }),
  )
  expect(told).toHaveLength(2)
  expect(told[1]).not.toContain('hunter2')
})

it('a rule of a schema that rejects is an error of the tool, and each check runs a rule once', async () => {
  let lookups = 0
  const user = z.string().refine(async (name) => {
    lookups++
    if (name === 'eve') throw new Error('database down')
    return true
  })
  const tools = { get: tool({ inputSchema: z.object({ user }), execute: () => 'found' }) }
  const { model, told } = scripted([call('get', { user: 'ann' }, 'a')], [call('get', { user: 'eve' }, 'b')], [say('ok')])
  await generateText(mulligan(tools, { log: () => undefined }).turn({ model, prompt: 'x', stopWhen: isStepCount(5) }))
  expect(told[1]).toContain('found')
  expect(told[2]).toContain('failed (internal): get failed with an Error.')
  // The engine checks both calls, and the SDK the one that the engine passed on.
  expect(lookups).toBe(3)
})

it('with a policy, the tool gets the input that was decided about, even if the schema has a random default', async () => {
  let uploads = 0
  const decided: string[] = []
  const ran: string[] = []
  const file = z.string().default(() => `upload-${++uploads}.txt`)
  const save = tool({ inputSchema: z.object({ file }), execute: (input) => ran.push(input.file) })
  const { model } = scripted([call('save')], [say('ok')])
  const engine = mulligan(
    { save },
    {
      policy: ({ target }) => {
        decided.push(target)
        return { decision: 'allow', reason: '' }
      },
      tools: { save: { target: (input) => input.file } },
    },
  )
  await generateText(engine.turn({ model, prompt: 'x', stopWhen: isStepCount(3) }))
  expect(ran).toEqual([decided.at(-1)])
})

it('with a limit of requests, the last reply may contain what its provider ran', async () => {
  const tools = { web, get: tool({ inputSchema: z.object({}), execute: () => 'v' }) }
  const { model } = scripted([...searched, say('Sun.')])
  const { text } = await generateText(mulligan(tools, { limits: { requests: 1 } }).turn({ model, prompt: 'x' } as never) as never)
  expect(text).toBe('Sun.')
  expect(model.doGenerateCalls[0]?.toolChoice).toEqual({ type: 'none' })
})

it('notes in a value, and a value that is not JSON, are sent as the SDK writes them', async () => {
  const tools = {
    list: tool({ inputSchema: z.object({}), execute: () => ({ ok: true, data: [1, 2], notes: ['call Ann back'] }) }),
    big: tool({
      inputSchema: z.object({}),
      execute: () => ({ id: 10n }),
      toModelOutput: ({ output }) => ({ type: 'text', value: `id ${output.id}` }),
    }),
  }
  const run = async (isAdopted: boolean) => {
    const { model, told } = scripted([call('list', {}, 'a'), call('big', {}, 'b')], [say('ok')])
    const settings = { model, prompt: 'x', stopWhen: isStepCount(3) }
    await generateText(isAdopted ? mulligan(tools).turn(settings) : { ...settings, tools })
    return told
  }
  expect(await run(true)).toEqual(await run(false))
})

it('a call whose id a later call takes stays in the events as it ended', async () => {
  const events: TurnEvent[] = []
  const tools = { send: tool({ inputSchema: z.object({ to: z.string() }), execute: ({ to }) => `sent to ${to}` }) }
  const { model } = scripted([call('send', { to: 'ann' }, 'same')], [call('send', { to: 'bob' }, 'same')], [say('ok')])
  const summary = { messages: [{ role: 'user' as const, content: 'A summary.' }] }
  await generateText(
    mulligan(tools, { onEvent: (event) => void events.push(event) }).turn({
      model,
      prompt: 'x',
      stopWhen: isStepCount(5),
      prepareStep: ({ stepNumber }) => (stepNumber > 0 ? summary : {}),
    }),
  )
  const results = events.flatMap((event) => (event.type === 'tool.result' ? [event.result] : []))
  expect(results).toMatchObject([
    { ok: true, data: 'sent to ann' },
    { ok: true, data: 'sent to bob' },
  ])
})

type Part = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never
const finish = (unified: 'stop' | 'tool-calls'): Part => ({ type: 'finish', finishReason: { unified, raw: undefined }, usage })

it('with `full`, calls of a reply that failed and was requested again are no repetitions', async () => {
  const overloaded = new APICallError({ message: 'overloaded', url: 'x', requestBodyValues: {}, statusCode: 529, isRetryable: true })
  const failed = [1, 2, 3].map((n): Part[] => [call('get', {}, `x${n}`) as Part, { type: 'error', error: overloaded }])
  const replies = [...failed, [call('get', {}, 'x4') as Part, finish('tool-calls')], [finish('stop')]]
  const model = new MockLanguageModelV4({ doStream: async () => ({ stream: ReadableStream.from(replies.shift() ?? []) }) })
  let runs = 0
  const tools = { get: tool({ inputSchema: z.object({}), execute: () => ++runs }) }
  const settings = { model, prompt: 'x', stopWhen: isStepCount(5), streamRetries: 5, onError: () => undefined }
  await streamText(mulligan(tools, { preset: 'full' }).turn(settings)).consumeStream()
  expect(runs).toBe(1)
})

/** A reply that announces a call and makes none, so that the model is asked again. */
const announcement = (): ReadableStream<Part> =>
  ReadableStream.from<Part>([
    { type: 'text-start', id: '0' },
    { type: 'text-delta', id: '0', delta: 'I will now search the notes.' },
    { type: 'text-end', id: '0' },
    finish('stop'),
  ])

/** The stream of a model that may be asked again. @param reply is called for each request */
async function askedAgain(reply: () => ReadableStream<Part>): Promise<ReadableStream<Part>> {
  const given = new MockLanguageModelV4({ doStream: async () => ({ stream: reply() }) })
  const model = wrapLanguageModel({ model: given, middleware: repairToolCalls({ asks: true }) })
  const tools = [{ type: 'function' as const, name: 'search', inputSchema: { type: 'object' as const } }]
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }], tools })
  return stream
}

it.each<[string, () => ReadableStream<Part>]>([
  ['rejects', () => new ReadableStream<Part>({ pull: () => Promise.reject(new Error('rate limited')) })],
  ['begins with an error', () => ReadableStream.from<Part>([{ type: 'error', error: new Error('rate limited') }])],
  [
    'fails after its metadata',
    () =>
      ReadableStream.from<Part>([
        { type: 'response-metadata', id: 'r2' },
        { type: 'error', error: new Error('overloaded') },
      ]),
  ],
  ['ends after its metadata', () => ReadableStream.from<Part>([{ type: 'response-metadata', id: 'r2' }])],
  ['is empty', () => ReadableStream.from<Part>([])],
  [
    'throws at once',
    () => {
      throw new Error('rate limited')
    },
  ],
])('the first reply stays if the second stream %s', async (_, second) => {
  let requests = 0
  const stream = await askedAgain(() => (requests++ === 0 ? announcement() : second()))
  const parts: Part[] = []
  for await (const part of stream) parts.push(part)
  expect([requests, parts.at(-1), parts.filter(({ type }) => type === 'error')]).toEqual([2, finish('stop'), []])
})

it('a second reply is read only as fast as the reader asks, and cancelled with it', async () => {
  let requests = 0
  let pieces = 0
  let isCancelled = false
  const endless = () =>
    new ReadableStream<Part>({
      pull: (controller) =>
        controller.enqueue(pieces++ === 0 ? { type: 'text-start', id: '0' } : { type: 'text-delta', id: '0', delta: 'word ' }),
      cancel: () => {
        isCancelled = true
      },
    })
  const stream = await askedAgain(() => (requests++ === 0 ? announcement() : endless()))
  const reader = stream.getReader()
  for (let read = 0; read < 10; read++) await reader.read()
  await reader.cancel()
  expect([requests, isCancelled]).toEqual([2, true])
  expect(pieces).toBeLessThan(12)
})
