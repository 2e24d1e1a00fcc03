import { describe, expect, it } from 'vitest'
import { normalBaseUrl, whereRuns } from './base-url.ts'
import { ollamaUrl } from './ollama.ts'
import { chooseModel, openModel } from './open.ts'

describe('chooseModel', () => {
  const url = 'http://localhost:8080'
  it.each([
    ['ollama/qwen3:8b', undefined, 'ollama', 'qwen3:8b'],
    ['openai-compatible/zai-org/GLM-4.7', url, 'openai-compatible', 'zai-org/GLM-4.7'],
    ['glm-4.7-flash', url, 'openai-compatible', 'glm-4.7-flash'],
    ['zai-org/GLM-4.7', url, 'openai-compatible', 'zai-org/GLM-4.7'],
    ['openai', url, 'openai-compatible', 'openai'],
    ['anthropic/claude-x', undefined, 'anthropic', 'claude-x'],
  ])('%s with base URL %s', (model, baseUrl, provider, name) => expect(chooseModel(model, baseUrl)).toEqual({ provider, name }))

  it.each([
    [undefined, /no model is named/],
    ['', /no model is named/],
    ['glm', /does not say who runs it/],
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
    ['nonsense', /is no URL/],
    ['ftp://x/v1', /must begin with http/],
    ['http://me:secret@x/v1', /holds a name or password/],
  ])('refuses %s', (given, says) => expect(() => normalBaseUrl(given)).toThrow(says))

  it.each([
    ['http://localhost:1/v1', 'this machine'],
    ['http://127.0.0.1:1/v1', 'this machine'],
    ['http://[::1]:1/v1', 'this machine'],
    ['http://app.localhost/v1', 'this machine'],
    ['https://api.anthropic.com/v1', 'api.anthropic.com'],
    ['http://192.168.1.5:1/v1', '192.168.1.5'],
    ['http://localhost.example.com/v1', 'localhost.example.com'],
  ])('%s runs on %s', (url, where) => expect(whereRuns(url)).toBe(where))

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
    ['ollama/x', {}, { where: 'this machine', contextTokens: 32_768 }, []],
    ['x', { MULLIGAN_BASE_URL: 'http://box/v1', MULLIGAN_API_KEY: 'k' }, { id: 'openai-compatible/x', where: 'box' }, ['k']],
    ['anthropic/x', { ANTHROPIC_API_KEY: 'k', MULLIGAN_BASE_URL: 'http://box/v1' }, { where: 'api.anthropic.com' }, ['k']],
    ['ollama/x', { MULLIGAN_CONTEXT: '8192' }, { contextTokens: 8192 }, []],
  ])('%s', async (model, env, expected, secrets) => {
    expect(await openModel({ model }, env as Record<string, string>)).toMatchObject({ model: expected, secrets })
  })

  it('a model of another server that is named like a provider: says how to write it', async () => {
    const opened = openModel({ model: 'openai/gpt-oss-20b', baseUrl: 'http://localhost:8080' }, {})
    await expect(opened).rejects.toMatchObject({ hint: expect.stringContaining('openai-compatible/openai/gpt-oss-20b') })
  })
})
