/** Ollama's own API: as strict as the original, and as silent about a prompt that it cuts. */
import { describe, expect, it } from 'vitest'
import { lastToolResults } from './protocols.ts'
import { type ScriptedModel, scriptedModel } from './scripted-model.ts'
import { call, calls, say, think } from './turn.ts'

const user = { role: 'user', content: 'Hi' }
const tool = { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } } }
const asked = (...names: string[]) => ({
  role: 'assistant',
  content: '',
  tool_calls: names.map((name) => ({ function: { name, arguments: {} } })),
})
const result = (name: string) => ({ role: 'tool', tool_name: name, content: 'seen' })
const body = (more: object = {}) => ({ model: 'scripted-model', messages: [user], ...more })

interface Line {
  readonly message: { readonly content: string; readonly thinking?: string; readonly tool_calls?: readonly unknown[] }
  readonly done: boolean
  readonly done_reason?: string
  readonly prompt_eval_count?: number
  readonly error?: string
}

const post = (model: ScriptedModel, sent: object, path = '/api/chat') =>
  fetch(`${model.ollamaUrl}${path}`, { method: 'POST', body: JSON.stringify(sent) })
const linesOf = async (response: Response) =>
  (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
const get = async (model: ScriptedModel, path: string) => (await fetch(`${model.ollamaUrl}${path}`)).json()

describe('a reply', () => {
  it('comes in lines: thinking, text, whole calls with objects as arguments, then the counts', async () => {
    await using model = await scriptedModel([think('Hm.', { ...say('Yes.'), ...calls(['look', { at: 'x' }], ['look']) })])
    const lines = await linesOf(await post(model, body({ tools: [tool] })))
    expect(lines.map(({ message }) => message.thinking ?? '').join('')).toBe('Hm.')
    expect(lines.map(({ message }) => message.content).join('')).toBe('Yes.')
    expect(lines.flatMap(({ message }) => message.tool_calls ?? [])).toMatchObject([
      { function: { index: 0, name: 'look', arguments: { at: 'x' } } },
      { function: { index: 1, name: 'look', arguments: {} } },
    ])
    expect(lines.map(({ done }) => done)).toEqual(lines.map((_, at) => at === lines.length - 1))
    expect(lines.at(-1)).toMatchObject({ done_reason: 'stop', prompt_eval_count: expect.any(Number) })
    model.assertDone()
  })

  it('not streamed is one object', async () => {
    await using model = await scriptedModel([say('Yes.', { finish: 'length', usage: { input: 0, output: 2 } })])
    const lines = await linesOf(await post(model, body({ stream: false })))
    expect(lines).toMatchObject([{ message: { content: 'Yes.' }, done: true, done_reason: 'length' }])
    expect(lines[0]).not.toHaveProperty('prompt_eval_count')
  })

  it('can fail in the middle, or break off within a call', async () => {
    await using model = await scriptedModel([
      say(['Ye', 's.'], { fault: { error: 'it broke' } }),
      call('look', { at: 'a long way off' }, { fault: { cut: 'mid-call' } }),
    ])
    expect((await linesOf(await post(model, body()))).map(({ message, error }) => error ?? message.content)).toEqual(['Ye', 'it broke'])
    const cut = await post(model, body({ tools: [tool] }))
    await expect(cut.text()).rejects.toThrow(/terminated/)
  })
})

describe('a request that the server would refuse', () => {
  const plain = { models: [{ name: 'plain', capabilities: ['completion'] }, { name: 'scripted-model' }] }
  it.each([
    ['no JSON object', 'text', 400, /not a JSON object/],
    ['no model', { messages: [] }, 400, /model is required/],
    ['a model that does not exist', { ...body(), model: 'x' }, 404, /model 'x' not found/],
    ['tools for a model without', { ...body(), model: 'plain', tools: [tool] }, 400, /does not support tools/],
    ['thinking of a model that does not', body({ think: true }), 400, /does not support thinking/],
    ['a field of a wrong type', body({ stream: 'yes' }), 400, /cannot unmarshal string .* ChatRequest\.stream of type bool/],
    ['a field of another protocol', body({ tool_choice: 'none' }), 400, /no field "tool_choice"/],
    ['an option of a wrong type', body({ options: { num_ctx: '8192' } }), 400, /"num_ctx"/],
    [
      'content in parts',
      body({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] }),
      400,
      /messages\.content of type string/,
    ],
    ['an image by its address', body({ messages: [{ ...user, images: ['http://x/y.png'] }] }), 400, /images/],
    ['another role', body({ messages: [{ role: 'developer', content: '' }] }), 400, /invalid role: developer/],
    [
      'arguments as text',
      body({ messages: [user, { role: 'assistant', content: '', tool_calls: [{ function: { name: 'look', arguments: '{}' } }] }] }),
      400,
      /cannot unmarshal string .*arguments of type api\.ToolCallFunctionArguments/,
    ],
    [
      'a call without its result',
      body({ messages: [user, asked('look', 'find'), result('look'), user] }),
      400,
      /1 tool calls have no result/,
    ],
    ['a result without its call', body({ messages: [user, asked('look'), result('look'), result('look')] }), 400, /answers no call/],
    ['a result of another tool', body({ messages: [user, asked('look'), result('find')] }), 400, /\(find\) answers no call/],
  ] as const)('%s', async (_, sent, status, says) => {
    await using model = await scriptedModel([], { ollama: plain })
    const response = await post(model, sent as object)
    expect([response.status, ((await response.json()) as Line).error]).toEqual([status, expect.stringMatching(says)])
    expect(model.violations).toHaveLength(1)
  })

  it('and one that it takes: results in another order, and without ids', async () => {
    await using model = await scriptedModel([say('Yes.')])
    await post(model, body({ tools: [tool], messages: [user, asked('look', 'find'), result('find'), result('look')] }))
    model.assertDone()
    expect(lastToolResults(model.requests[0] as never).map(({ name, text }) => [name, text])).toEqual([
      ['find', 'seen'],
      ['look', 'seen'],
    ])
  })
})

describe('a prompt that is too long', () => {
  const system = { role: 'system', content: 's'.repeat(400) }
  const long = [system, ...Array.from({ length: 8 }, () => ({ role: 'user', content: 'x'.repeat(800) }))]
  const sent = (more: object = {}) => body({ messages: long, options: { num_ctx: 1000 }, ...more })

  it('is cut without a word, the oldest first; the count is of what was read', async () => {
    await using model = await scriptedModel([say('Yes.'), say('Yes.')])
    const [last] = (await linesOf(await post(model, sent()))).slice(-1)
    expect(last?.prompt_eval_count).toBeLessThanOrEqual(1000)
    expect(model.requests[0]?.cut).toMatchObject({ read: last?.prompt_eval_count })
    expect(model.requests[0]?.cut?.sent).toBeGreaterThan(1600)
    // A single message is cut to half of the context.
    const [alone] = (await linesOf(await post(model, sent({ messages: [{ role: 'user', content: 'x'.repeat(8000) }] })))).slice(-1)
    expect(alone?.prompt_eval_count).toBe(502)
    model.assertDone()
  })

  it('is refused where it may not be cut, by versions that know of that', async () => {
    await using model = await scriptedModel([say('Yes.')])
    const response = await post(model, sent({ truncate: false }))
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('exceed_context_size_error')])
    await using old = await scriptedModel([say('Yes.')], { ollama: { version: '0.12.5' } })
    expect((await post(old, sent({ truncate: false }))).status).toBe(200)
    await post(model, sent({ truncate: false, options: { num_ctx: 4000 } }))
    model.assertDone()
  })
})

it('tells of its models, and which of them are loaded', async () => {
  const loading = Promise.withResolvers<void>()
  await using model = await scriptedModel([say('Yes.')], {
    ollama: {
      models: [
        { name: 'glm', contextLength: 8192, capabilities: ['completion', 'tools', 'thinking'], parameters: { num_ctx: 4096 }, size: 7 },
      ],
      version: '0.30.0',
      loading: loading.promise,
    },
  })
  expect(await get(model, '/api/version')).toEqual({ version: '0.30.0' })
  expect(await get(model, '/api/tags')).toMatchObject({ models: [{ name: 'glm:latest', size: 7 }] })
  expect(await (await post(model, { model: 'glm:latest' }, '/api/show')).json()).toMatchObject({
    capabilities: ['completion', 'tools', 'thinking'],
    parameters: expect.stringMatching(/^num_ctx +4096$/),
    model_info: { 'general.architecture': 'scripted', 'scripted.context_length': 8192 },
  })
  expect((await post(model, { model: 'x' }, '/api/show')).status).toBe(404)
  const reply = post(model, { ...body(), model: 'glm', options: { num_ctx: 2048 } })
  await model.arrived(1)
  expect(await get(model, '/api/ps')).toEqual({ models: [] })
  loading.resolve()
  expect((await reply).status).toBe(200)
  expect(await get(model, '/api/ps')).toMatchObject({ models: [{ name: 'glm:latest', context_length: 2048 }] })
})
