import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { probeServer } from '../probe.ts'
import { type Answer, fakeServer, HANG, ollamaRoutes } from '../servers.fixture.ts'
import { createGet } from './get.ts'
import { server as ollama } from './ollama.ts'
import { llamacpp, lmstudio, vllm } from './openai.ts'
import { isChat, type LocalServer } from './server.ts'

type Routes = Readonly<Record<string, Answer>>

const LISTED: readonly (readonly [string, LocalServer, Routes, readonly object[]])[] = [
  [
    'Ollama: what each can do, what is loaded, and what its cloud has',
    ollama,
    ollamaRoutes({
      'glm-4.7-flash:latest': { loaded: 32_768, size: 19_000_000_000, modified: '2026-02-01T00:00:00Z' },
      'phi4:14b': { capabilities: ['completion'], context: 16_384 },
      'nomic-embed-text:latest': { capabilities: ['embedding'] },
      'gpt-oss:120b-cloud': { remote: 'https://ollama.com:443' },
    }),
    [
      {
        name: 'glm-4.7-flash:latest',
        contextTokens: 32_768,
        bytes: 19_000_000_000,
        tools: true,
        loaded: true,
        modifiedAt: Date.UTC(2026, 1, 1),
      },
      { name: 'phi4:14b', contextTokens: 16_384, tools: false, loaded: false },
      { name: 'gpt-oss:120b-cloud', passedTo: 'ollama.com' },
    ],
  ],
  [
    'Ollama, an old one that says less',
    ollama,
    { '/api/tags': { models: [{ name: 'llama3.1:8b' }, { name: 'bge-m3' }, { name: 7 }, null] } },
    [{ provider: 'ollama', name: 'llama3.1:8b' }],
  ],
  [
    'LM Studio: kind, context and state',
    lmstudio,
    {
      '/api/v0/models': {
        data: [
          {
            id: 'qwen3-coder-30b',
            type: 'llm',
            state: 'loaded',
            max_context_length: 262_144,
            loaded_context_length: 8192,
            capabilities: ['tool_use'],
          },
          { id: 'gemma-3-12b', type: 'vlm', state: 'not-loaded', max_context_length: 131_072 },
          { id: 'nomic-embed', type: 'embeddings', state: 'not-loaded' },
        ],
      },
    },
    [
      { name: 'qwen3-coder-30b', contextTokens: 8192, loaded: true, tools: true },
      { name: 'gemma-3-12b', contextTokens: 131_072, loaded: false },
    ],
  ],
  [
    'LM Studio without its own API',
    lmstudio,
    { '/v1/models': { data: [{ id: 'qwen3-8b' }, { id: 'text-embedding-nomic-embed-text-v1.5' }] } },
    [{ provider: 'lmstudio', name: 'qwen3-8b' }],
  ],
  [
    'llama.cpp: the context that is in force, and whether its template takes tools',
    llamacpp,
    {
      '/v1/models': { data: [{ id: 'glm-4.7-flash', meta: { n_ctx_train: 202_752, size: 18_000_000_000 } }] },
      '/props': { default_generation_settings: { n_ctx: 65_536 }, chat_template_caps: { supports_tools: true } },
    },
    [{ name: 'glm-4.7-flash', contextTokens: 65_536, bytes: 18_000_000_000, tools: true, loaded: true }],
  ],
  [
    'llama.cpp that serves several',
    llamacpp,
    {
      '/v1/models': {
        data: [
          { id: 'a', status: { value: 'loaded' } },
          { id: 'b', status: { value: 'unloaded' } },
        ],
      },
    },
    [
      { name: 'a', loaded: true },
      { name: 'b', loaded: false },
    ],
  ],
  [
    'llama.cpp that keeps its props to itself',
    llamacpp,
    { '/v1/models': { data: [{ id: 'a' }] }, '/props': 403 },
    [{ name: 'a', loaded: true }],
  ],
  [
    'vLLM',
    vllm,
    { '/v1/models': { data: [{ id: 'zai-org/GLM-4.7', owned_by: 'vllm', max_model_len: 131_072 }] } },
    [{ name: 'zai-org/GLM-4.7', contextTokens: 131_072, loaded: true }],
  ],
]

describe('the models of a server', () => {
  it.each(LISTED)('%s', async (_, server, routes, models) => {
    await using fake = await fakeServer(routes)
    const report = await probeServer(server, fake.url)
    expect(report).toMatchObject({ state: 'running' })
    expect(report.models).toMatchObject(models as never)
    expect(report.models).toHaveLength(models.length)
  })

  it.each<[string, Routes, string]>([
    ['a page', { '/v1/models': '<html>hello</html>' }, 'is not valid JSON'],
    ['another service', {}, 'answers /v1/models with 404'],
    ['JSON of another kind', { '/v1/models': { data: 'x' } }, 'not a list of models'],
    ['a list and not an object', { '/v1/models': [1, 2] }, 'not a list of models'],
    ['one that asks for a key', { '/v1/models': 401 }, 'requires a key'],
    ['an answer that does not end', { '/v1/models': () => 'x'.repeat(9_000_000) }, 'too large'],
  ])('%s is told as what it is', async (_, routes, why) => {
    await using fake = await fakeServer(routes)
    expect(await probeServer(vllm, fake.url)).toMatchObject({ state: 'wrong', why: expect.stringContaining(why), models: [] })
  })

  it('no server, one that says nothing, and one that speaks no HTTP', async () => {
    expect(await probeServer(vllm, 'http://127.0.0.1:1')).toMatchObject({ state: 'absent', why: 'not running' })
    await using fake = await fakeServer({ '/v1/models': () => HANG })
    expect(await probeServer(vllm, fake.url, { patience: 50 })).toMatchObject({ state: 'wrong', why: 'it does not answer' })
  })

  it('nothing that a server may answer is taken for a defect of ours', async () => {
    const answers: unknown[] = []
    await using fake = await fakeServer({
      '/api/tags': () => answers[0],
      '/api/ps': () => answers[1],
      '/api/show': () => answers[2],
      '/api/v0/models': () => answers[0],
      '/v1/models': () => answers[0],
      '/props': () => answers[1],
    })
    const entry = fc.oneof(
      fc.jsonValue(),
      fc.record({ name: fc.jsonValue(), id: fc.jsonValue(), meta: fc.jsonValue(), status: fc.jsonValue() }),
    )
    const list = fc.oneof(fc.jsonValue(), fc.record({ models: fc.array(entry), data: fc.array(entry) }))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(ollama, lmstudio, llamacpp, vllm), fc.tuple(list, list, list), async (server, said) => {
        answers.splice(0, 3, ...said.map((one) => JSON.stringify(one)))
        const { state, models } = await probeServer(server, fake.url)
        expect(['running', 'wrong']).toContain(state)
        for (const { name } of models) expect(name).not.toBe('')
      }),
      { numRuns: 60 },
    )
  })

  it('an interrupted question ends at once', async () => {
    await using fake = await fakeServer({ '/v1/models': () => HANG })
    const stop = new AbortController()
    const asked = createGet(fake.url, { signal: stop.signal })('/v1/models')
    stop.abort()
    await expect(asked).rejects.toThrow()
  })
})

describe('models that are not to talk with', () => {
  it.each([
    ['glm-4.7-flash:q4_K_M', true],
    ['qwen3-coder:30b', true],
    ['smollm2:1.7b', true],
    ['nomic-embed-text', false],
    ['Qwen3-Embedding-8B', false],
    ['bge-m3:latest', false],
    ['Qwen3-Reranker-4B', false],
    ['whisper-large-v3', false],
    ['kokoro-tts', false],
    ['all-minilm:33m', false],
  ])('%s: %s', (name, chat) => expect(isChat({ provider: 'ollama', name })).toBe(chat))

  it('what the server says overrides the name', () => {
    expect(isChat({ provider: 'ollama', name: 'embed-chat', chat: true })).toBe(true)
  })
})

describe('the address of a server', () => {
  it.each([
    [undefined, 'http://127.0.0.1:1234'],
    ['http://box:1234/v1', 'http://box:1234'],
    ['http://box:1234', 'http://box:1234'],
    ['https://box.example.com/lm/v1/', 'https://box.example.com/lm'],
  ])('%s is %s', (given, address) => expect(lmstudio.address(given === undefined ? {} : { MULLIGAN_LMSTUDIO_URL: given })).toBe(address))

  it('that is none is told with its variable', () => {
    expect(() => vllm.address({ MULLIGAN_VLLM_URL: 'box:8000' })).toThrow(/^MULLIGAN_VLLM_URL: the base URL/)
  })
})
