import { describe, expect, it } from 'vitest'
import { advise } from './advise.ts'
import { fakeServer, ollamaRoutes } from './servers.fixture.ts'

const NOBODY = 'http://127.0.0.1:1/v1'

describe('what to do about a request that failed', () => {
  it.each([
    ['openai', 401, { OPENAI_API_KEY: 'sk-secret' }, /OPENAI_API_KEY: .*platform\.openai\.com/],
    ['anthropic', 403, { ANTHROPIC_API_KEY: 'sk-secret' }, /ANTHROPIC_API_KEY: .*console\.anthropic\.com/],
    ['google', 401, { GEMINI_API_KEY: 'sk-secret' }, /GEMINI_API_KEY: .*aistudio\.google\.com/],
    ['lmstudio', 401, { MULLIGAN_API_KEY: 'sk-secret' }, /MULLIGAN_API_KEY: does it belong to this server/],
    ['openai-compatible', 401, {}, /requires a key: export MULLIGAN_API_KEY=…/],
  ])('%s answered %i: which key', async (provider, status, env, says) => {
    const advice = await advise({ status }, { provider, name: 'x', baseUrl: NOBODY, env })
    expect(advice).toMatch(says)
    expect(advice).not.toContain('secret')
  })

  it.each([
    ['ollama', /To start Ollama: ollama serve\. mulligan models shows/],
    ['llamacpp', /To start llama\.cpp: llama-server/],
    ['openai-compatible', /^mulligan models shows/],
  ])('%s does not exist: how to start it', async (provider, says) => {
    expect(await advise({ code: 'ECONNREFUSED' }, { provider, name: 'x', baseUrl: NOBODY, env: {} })).toMatch(says)
  })

  it('nothing where nothing is known', async () => {
    expect(await advise({ status: 500 }, { provider: 'vllm', name: 'x', baseUrl: NOBODY, env: {} })).toBeUndefined()
  })

  const listed = (...names: string[]) => ({ data: names.map((id) => ({ id })) })
  const many = Array.from({ length: 10 }, (_, n) => `m${n}`)
  it.each<[string, string, string, Parameters<typeof fakeServer>[0], RegExp]>([
    [
      'openai-compatible',
      '/v1',
      'glm-4.7-flsh',
      { '/v1/models': listed('glm-4.7-flash', 'phi4') },
      /Did you mean openai-compatible\/glm-4\.7-flash\? .*glm-4\.7-flash, phi4\.$/,
    ],
    ['openai-compatible', '/api', 'x', { '/api/models': listed(...many) }, /^Its server has m0, .* and 2 more\.$/],
    ['openai', '/v1', 'gpt-5', { '/v1/models': listed('gpt-5') }, /The server has gpt-5: is the base URL right\?/],
    ['anthropic', '/v1', 'claud', { '/v1/models': listed('claude-x') }, /claude-x/],
    ['google', '/v1beta', 'gemini', { '/v1beta/models': { models: [{ name: 'models/gemini-3-pro' }] } }, /Its server has gemini-3-pro\./],
    ['ollama', '', 'qwen3:8', ollamaRoutes({ 'qwen3:8b': {} }), /Did you mean ollama\/qwen3:8b\?/],
    ['vllm', '/v1', 'evil', { '/v1/models': listed('e\u001b[2Jvil\n') }, /^Did you mean vllm\/evil|^The server has evil/],
    ['vllm', '/v1', 'x', { '/v1/models': 'nonsense' }, /Is the base URL right, and does its server have x\?/],
  ])('%s%s has no model %s: which it has', async (provider, path, name, routes, says) => {
    await using server = await fakeServer(routes)
    const env = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' }
    const advice = await advise({ status: 404 }, { provider, name, baseUrl: `${server.url}${path}`, env })
    expect(advice).toMatch(says)
    expect(advice).not.toMatch(/[\u001b\n]/)
  })
})
