import { createAgent, memoryStore } from '@mulligan/agent'
import { families } from '@mulligan/repair'
import { say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { NO_SERVERS } from '../common/place.fixture.ts'
import { isLoopbackUrl, isNear, normalBaseUrl, whereRuns } from './base-url.ts'
import type { ModelFields } from './model-fields.ts'
import { chooseModel, openModel } from './open.ts'
import { type ModelSettings, pricesOf, settingsOf } from './own-settings.ts'
import { loopbackLookup } from './patient-fetch.ts'
import { ollamaUrl } from './servers/ollama.ts'
import { fakeServer } from './servers.fixture.ts'

describe('chooseModel', () => {
  const url = 'http://localhost:8080'
  it.each([
    ['ollama/qwen3:8b', undefined, 'ollama', 'qwen3:8b'],
    ['openai-compatible/zai-org/GLM-4.7', url, 'openai-compatible', 'zai-org/GLM-4.7'],
    ['glm-4.7-flash', url, 'openai-compatible', 'glm-4.7-flash'],
    ['zai-org/GLM-4.7', url, 'openai-compatible', 'zai-org/GLM-4.7'],
    ['openai', url, 'openai-compatible', 'openai'],
    ['anthropic/claude-x', undefined, 'anthropic', 'claude-x'],
    ['llamacpp//models/glm.gguf', undefined, 'llamacpp', '/models/glm.gguf'],
  ])('%s with base URL %s', (model, baseUrl, provider, name) => expect(chooseModel(model, baseUrl)).toEqual({ provider, name }))

  it.each([
    [undefined, /no model was named/],
    ['', /no model was named/],
    ['glm', /does not name a provider/],
    ['anthropic', /names a provider but no model/],
    ['anthropic/', /names a provider but no model/],
    ['olama/x', /no provider "olama"/],
    ['constructor/x', /no provider "constructor"/],
  ])('refuses %s', (model, says) => expect(() => chooseModel(model, undefined)).toThrow(says))
})

describe('base URLs', () => {
  it.each([
    ['http://localhost:8080', 'http://localhost:8080/v1'],
    ['http://localhost:8080/', 'http://localhost:8080/v1'],
    ['https://api.example.com/v1/', 'https://api.example.com/v1'],
    ['https://example.com/api/openai', 'https://example.com/api/openai'],
    ['http://localhost:8080/v1/chat/completions', 'http://localhost:8080/v1'],
  ])('%s → %s', (given, normal) => expect(normalBaseUrl(given)).toBe(normal))

  it.each([
    ['localhost:8080', /must begin with http/],
    ['nonsense', /is not a valid URL/],
    ['ftp://x/v1', /must begin with http/],
    ['http://me:secret@x/v1', /contains a user name or password/],
  ])('refuses %s', (given, says) => expect(() => normalBaseUrl(given)).toThrow(says))

  it.each([
    ['http://localhost:1/v1', 'this machine'],
    ['http://127.0.0.1:1/v1', 'this machine'],
    ['http://[::1]:1/v1', 'this machine'],
    ['http://app.localhost/v1', 'this machine'],
    ['https://api.anthropic.com/v1', 'api.anthropic.com'],
    ['http://192.168.1.5:1/v1', '192.168.1.5'],
    ['http://localhost.example.com/v1', 'localhost.example.com'],
    ['http://127.evil.example/v1', '127.evil.example'],
    ['http://127.0.0.1.evil.example/v1', '127.0.0.1.evil.example'],
    ['http://10.evil.example/v1', '10.evil.example'],
  ])('%s runs on %s', (url, where) => expect(whereRuns(url)).toBe(where))

  it.each([
    ['http://localhost:1', true],
    ['http://gpu:1', true],
    ['http://192.168.1.5:1', true],
    ['http://172.20.0.2', true],
    ['http://box.local', true],
    ['https://api.example.com', false],
    ['http://172.40.0.2', false],
    ['http://10.evil.example', false],
    ['http://127.evil.example', false],
  ])('%s is near: %s', (url, near) => expect(isNear(url)).toBe(near))

  // However the address is written, the URL parser decides, and the connection uses the same parser.
  it.each([
    ['http://localhost:8080', true],
    ['http://LOCALHOST', true],
    ['http://127.0.0.1:1', true],
    ['http://127.9.9.9', true],
    ['http://127.1', true],
    ['http://2130706433', true],
    ['http://0x7f000001', true],
    ['http://0177.0.0.1', true],
    ['http://127.0.0.1.', true],
    ['http://１２７.0.0.1', true],
    ['http://[::1]:8080/v1', true],
    ['http://[0:0:0:0:0:0:0:1]', true],
    ['http://[::ffff:127.0.0.1]', true],
    ['http://127.evil.example', false],
    ['http://127.0.0.1.evil.example', false],
    ['http://127.0.0.1@evil.example', false],
    ['http://user@127.0.0.1@evil.example', false],
    ['http://evil.example/#@127.0.0.1', false],
    ['http://evil.example\\@127.0.0.1', false],
    ['http://localhost.evil.example', false],
    ['http://app.localhost', false],
    ['http://localhost.', false],
    ['http://1ocalhost', false],
    ['http://lосalhost', false],
    ['http://0.0.0.0', false],
    ['http://[::]', false],
    ['http://[::ffff:10.0.0.1]', false],
    ['http://128.0.0.1', false],
    ['http://2130706432.example', false],
    ['not a url', false],
  ])('%s leads only to this machine: %s', (url, local) => expect(isLoopbackUrl(url)).toBe(local))

  it('localhost is connected to on this machine only, whatever a name server says', () => {
    const asked = (found: readonly { readonly address: string; readonly family: number }[], all: boolean) => {
      let got: unknown
      const resolve = ((_: string, __: object, done: (error: null, found: unknown) => void) => done(null, found)) as never
      loopbackLookup(resolve)('localhost', { all }, (error, address) => {
        got = error?.code ?? address
      })
      return got
    }
    const [evil, here] = [
      { address: '192.0.2.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    expect([asked([evil, here], true), asked([evil, here], false), asked([evil], true)]).toEqual([[here], '127.0.0.1', 'ENOTFOUND'])
  })

  it.each([
    [undefined, 'http://localhost:11434'],
    ['box', 'http://box:11434'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['box:8000', 'http://box:8000'],
    [':8000', 'http://localhost:8000'],
    ['https://box.example.com/', 'https://box.example.com'],
    ['http://box:1234/ollama', 'http://box:1234/ollama'],
  ])('OLLAMA_HOST=%s is %s', (host, url) => expect(ollamaUrl(host === undefined ? {} : { OLLAMA_HOST: host })).toBe(url))
})

describe('openModel', () => {
  it.each([
    ['anthropic/x', { ANTHROPIC_API_KEY: 'k' }, { where: 'api.anthropic.com', contextTokens: 200_000 }, ['k']],
    ['openai/x', { OPENAI_API_KEY: 'k' }, { where: 'api.openai.com', contextTokens: 128_000 }, ['k']],
    ['google/x', { GEMINI_API_KEY: 'k' }, { where: 'generativelanguage.googleapis.com', contextTokens: 1_048_576 }, ['k']],
    ['google/x', { GOOGLE_GENERATIVE_AI_API_KEY: 'k', GEMINI_API_KEY: 'other' }, { id: 'google/x' }, ['k']],
    [
      'x',
      { MULLIGAN_BASE_URL: 'http://127.0.0.1:1/v1', MULLIGAN_API_KEY: 'k' },
      { id: 'openai-compatible/x', contextTokens: 32_768 },
      ['k'],
    ],
    ['anthropic/x', { ANTHROPIC_API_KEY: 'k', MULLIGAN_BASE_URL: 'http://127.0.0.1:1/v1' }, { where: 'api.anthropic.com' }, ['k']],
    ['lmstudio/x', {}, { where: 'this machine', contextTokens: 32_768 }, []],
    ['vllm/x', { MULLIGAN_CONTEXT: '8192' }, { contextTokens: 8192 }, []],
    ['vllm/x', { MULLIGAN_VLLM_URL: 'http://gpu.example.com:8000' }, { where: 'gpu.example.com' }, []],
  ])('%s %j', async (model, env, expected, secrets) => {
    expect(
      await openModel({ model }, { ...NO_SERVERS, ...env, MULLIGAN_CONTEXT: (env as Record<string, string>)['MULLIGAN_CONTEXT'] }),
    ).toMatchObject({
      model: expected,
      secrets,
    })
  })

  it.each([
    ['openai/x', 'OPENAI_API_KEY', 'platform.openai.com'],
    ['anthropic/x', 'ANTHROPIC_API_KEY', 'console.anthropic.com'],
    ['google/x', 'GOOGLE_GENERATIVE_AI_API_KEY', 'aistudio.google.com'],
  ])('%s without a key says which, and where to get one', async (model, variable, at) => {
    const opened = openModel({ model }, {})
    await expect(opened).rejects.toMatchObject({ message: expect.stringContaining(variable), hint: expect.stringContaining(at) })
  })

  it('a model of another server that is named like a provider: says how to write it', async () => {
    const opened = openModel({ model: 'openai/gpt-oss-20b', baseUrl: 'http://localhost:8080' }, {})
    await expect(opened).rejects.toMatchObject({ hint: expect.stringContaining('openai-compatible/openai/gpt-oss-20b') })
  })
})

describe('the context is the one that the server tells', () => {
  const props = { '/props': { default_generation_settings: { n_ctx: 65_536 } } }
  it.each<[string, string, Parameters<typeof fakeServer>[0], number]>([
    ['lmstudio/x', 'MULLIGAN_LMSTUDIO_URL', { '/api/v0/models': { data: [{ id: 'x', loaded_context_length: 16_384 }] } }, 16_384],
    ['llamacpp/x', 'MULLIGAN_LLAMACPP_URL', { '/v1/models': { data: [{ id: 'x' }] }, ...props }, 65_536],
    [
      'vllm/x',
      'MULLIGAN_VLLM_URL',
      {
        '/v1/models': {
          data: [
            { id: 'other', max_model_len: 1 },
            { id: 'x', max_model_len: 40_960 },
          ],
        },
      },
      40_960,
    ],
    ['x', 'MULLIGAN_BASE_URL', { '/v1/models': { data: [{ id: 'x', max_model_len: 40_960 }] } }, 40_960],
    ['any name', 'MULLIGAN_BASE_URL', { '/v1/models': { data: [{ id: 'x' }] }, ...props }, 65_536],
    ['x', 'MULLIGAN_BASE_URL', { '/v1/models': 500, '/props': '<html>' }, 32_768],
    ['vllm/x', 'MULLIGAN_VLLM_URL', { '/v1/models': 'nonsense' }, 32_768],
  ])('%s by %s', async (model, variable, routes, contextTokens) => {
    await using server = await fakeServer(routes)
    const env = { ...NO_SERVERS, [variable]: server.url }
    expect((await openModel({ model }, env)).model).toMatchObject({ contextTokens })
    // The user's value overrides it and makes the request unnecessary.
    const asked = server.seen.length
    expect((await openModel({ model }, { ...env, MULLIGAN_CONTEXT: '4096' })).model).toMatchObject({ contextTokens: 4096 })
    expect(server.seen.length).toBe(asked)
  })
})

describe('the profile of a model', () => {
  const sent = async (model: string, own: ModelSettings = [], env: Record<string, string> = {}) => {
    await using server = await scriptedModel([say('Hi.')])
    const opened = await openModel({ model, baseUrl: server.url }, { ...NO_SERVERS, ...env, MULLIGAN_CONTEXT: '32768' }, own)
    const agent = createAgent({ model: opened.model, tools: [], store: memoryStore(), cwd: '/' })
    await agent.run({ prompt: 'Hi' })
    return { body: server.requests[0]?.body as Record<string, unknown>, model: opened.model }
  }
  const setting = (value: Record<string, ModelFields>) => ({ value, origin: 'user' as const, from: 'config.json' })

  it('is sent with each request, and what the person says overrides it', async () => {
    const { body, model } = await sent('qwen3-8b')
    expect(body).toMatchObject({ temperature: 0.6, top_p: 0.95, top_k: 20, min_p: 0 })
    expect(model).toMatchObject({ maxThinking: 8192 })
    expect(model.families?.filter(({ begins }) => begins).map(({ id }) => id)).toEqual(['bare'])
    expect(model.families?.filter(({ begins }) => !begins)).toEqual(families.filter(({ begins }) => !begins))
    const own = await sent('qwen3-8b', [setting({ '*': { temperature: 0, maxThinking: 0, context: 2048 }, '*/qwen*': { topK: 5 } })])
    expect(own.body).toMatchObject({ temperature: 0, top_p: 0.95, top_k: 5 })
    expect(own.model).not.toHaveProperty('maxThinking')
    // MULLIGAN_CONTEXT overrides the file.
    expect(own.model.contextTokens).toBe(32_768)
  })

  it('an unknown model is sampled as its server does it, and every family is looked for', async () => {
    const { body, model } = await sent('somebody-7b')
    expect(Object.keys(body).filter((key) => /^(?:temperature|top_|min_|presence_|frequency_)/.test(key))).toEqual([])
    expect(model).not.toHaveProperty('families')
  })

  it('is not that of a cloud’s model, whatever it is called; what the person says is', async () => {
    const { body, model } = await sent('openai/gpt-oss-20b', [setting({ 'openai/*': { topP: 0.5 } })], { OPENAI_API_KEY: 'k' })
    expect(body).toMatchObject({ top_p: 0.5 })
    expect(body).not.toHaveProperty('temperature')
    expect(model).not.toHaveProperty('maxThinking')
  })

  it('is below what Ollama has for just this model, and that below what the person says', async () => {
    await using ollama = await fakeServer({
      '/api/show': { parameters: 'temperature  0.1\ntop_k   7', capabilities: ['completion', 'tools'] },
    })
    const own = [setting({ '*': { topK: 3 } })]
    const { model } = await openModel({ model: 'ollama/qwen3:8b' }, { ...NO_SERVERS, OLLAMA_HOST: ollama.url }, own)
    expect(model.sampling).toEqual({ topP: 0.95, topK: 3 })
  })

  it('of hosted services nothing is asked that they may refuse', async () => {
    const opened = await openModel({ model: 'qwen3-8b', baseUrl: 'https://gateway.example.com/v1' }, {})
    expect(opened.model).toMatchObject({ sampling: { temperature: 0.6, topP: 0.95 }, contextTokens: 32_768 })
    expect(opened.model.sampling).not.toHaveProperty('topK')
  })

  it.each<[Record<string, ModelFields>, object]>([
    [{ 'ollama/*': { topK: 1 }, 'ollama/glm*': { topK: 2 }, 'ollama/glm-4.7': { topK: 3 }, 'vllm/*': { topK: 4 } }, { topK: 3 }],
    [
      { '*glm*': { topK: 1 }, '*': { topK: 2, topP: 0.1 } },
      { topK: 1, topP: 0.1 },
    ],
    [{ 'OLLAMA/GLM-4.7': { topK: 1 } }, { topK: 1 }],
    [{ 'ollama/glm-4.7:*': { topK: 1 }, glm: { topK: 2 }, 'ollama/*x*': { topK: 3 }, 'ollama/glm*glm-4.7': { topK: 4 } }, {}],
  ])('of the entries of a file %j are those that fit, the exact ones above', (value, fields) => {
    expect(settingsOf('ollama/glm-4.7', [setting(value)])).toEqual(fields)
  })

  it('the project’s file overrides the person’s', () => {
    expect(settingsOf('ollama/x', [setting({ '*': { topK: 1 } }), setting({ 'ollama/x': { topK: 2, topP: 1 } })])).toEqual({
      topK: 1,
      topP: 1,
    })
  })
})

describe('prices', () => {
  const of = (origin: 'user' | 'project', input: number): ModelSettings[number] => ({
    ...{ origin, from: origin, value: { 'openai-compatible/*': { prices: { input, output: input } } } },
  })

  it('are those of the user; a project can not make a model cheaper than it is', async () => {
    expect(pricesOf('openai-compatible/x', [of('project', 0), of('user', 3)])).toEqual({ input: 3, output: 3 })
    expect(pricesOf('openai-compatible/x', [of('project', 0)])).toBeUndefined()
    const flags = { model: 'openai-compatible/x', baseUrl: 'http://127.0.0.1:9/v1' }
    const open = async (own: ModelSettings) => (await openModel(flags, { MULLIGAN_CONTEXT: '4096' }, own)).model
    expect((await open([of('project', 0), of('user', 3)])).prices).toEqual({ input: 3, output: 3 })
    const { prices, sampling } = await open([of('project', 0)])
    expect([prices, sampling]).toEqual([undefined, undefined])
  })
})
