import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { UsageError } from '../common/errors.ts'
import { NO_SERVERS } from '../common/place.fixture.ts'
import { discoverModel } from './discover.ts'
import { readRemembered, remember } from './remembered.ts'
import { fakeServer, ollamaRoutes, withServers } from './servers.fixture.ts'

let data = ''
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'mulligan-models-'))
})
afterEach(() => rmSync(data, { recursive: true, force: true }))

const env = (servers: Parameters<typeof withServers>[0], more: object = {}) => ({
  ...withServers(servers),
  MULLIGAN_DATA_DIR: data,
  ...more,
})

const vllmRoutes = (...names: string[]) => ({ '/v1/models': { data: names.map((id) => ({ id })) } })

describe('the model that is taken when none is named', () => {
  it('is the only one there is, and nothing is kept', async () => {
    await using ollama = await fakeServer(ollamaRoutes({ 'glm-4.7-flash:latest': {}, 'bge-m3': { capabilities: ['embedding'] } }))
    const found = await discoverModel(env({ OLLAMA_HOST: ollama }))
    expect(found).toEqual({ id: 'ollama/glm-4.7-flash:latest', where: 'this machine', how: 'found there', chosen: false })
    expect(readdirSync(data)).toEqual([])
  })

  const several: readonly (readonly [string, Parameters<typeof ollamaRoutes>[0], string])[] = [
    ['one that is loaded', { 'qwen3:8b': { modified: '2026-05-01T00:00:00Z' }, 'phi4:14b': { loaded: true } }, 'phi4:14b'],
    ['one that is made for tools', { 'gemma3:12b': { modified: '2026-05-01T00:00:00Z' }, 'qwen3:8b': {} }, 'qwen3:8b'],
    ['the newest', { 'qwen3:8b': {}, 'glm-4.7-flash': { modified: '2026-05-01T00:00:00Z' } }, 'glm-4.7-flash'],
    ['one that takes tools', { 'phi4:14b': { loaded: true, capabilities: ['completion'] }, 'gemma3:4b': {} }, 'gemma3:4b'],
    ['one on this machine', { 'gpt-oss:120b-cloud': { loaded: true }, 'phi4:14b': {} }, 'phi4:14b'],
    ['also where an alias hides a cloud', { mine: { loaded: true, remote: 'https://ollama.com' }, 'phi4:14b': {} }, 'phi4:14b'],
  ]
  it.each(several)('is, of several, %s', async (_, models, name) => {
    await using ollama = await fakeServer(ollamaRoutes(models))
    expect(await discoverModel(env({ OLLAMA_HOST: ollama }))).toMatchObject({ id: `ollama/${name}`, where: 'this machine' })
  })

  it('is asked for where a person is there, once', async () => {
    await using ollama = await fakeServer(ollamaRoutes({ 'qwen3:8b': {}, 'gpt-oss:120b-cloud': {} }))
    await using vllm = await fakeServer(vllmRoutes('glm\u001b[31m-4.7', 'phi4'))
    const asked: string[] = []
    const answers = ['nonsense', '2']
    const ask = async (question: string) => {
      asked.push(question)
      return answers.shift()
    }
    const here = env({ OLLAMA_HOST: ollama, MULLIGAN_VLLM_URL: vllm })
    expect(await discoverModel(here, { ask })).toEqual({ id: 'vllm/phi4', where: 'this machine', how: 'as you chose', chosen: true })
    expect(asked[0]).toMatch(/^Which model\?.*\n +1 +vllm\/glm-4\.7 .*loaded.*\n +2 +vllm\/phi4.*\n +3 +ollama\/qwen3:8b\nNumber \[1\]: $/)
    // The next time, nobody is asked and only that server is probed.
    const before = ollama.seen.length
    const again = await discoverModel(here, { ask: () => Promise.reject(new Error('asked again')) })
    expect(again).toMatchObject({ id: 'vllm/phi4', how: 'chosen before', chosen: true })
    expect(ollama.seen.length).toBe(before)
  })

  it('Enter takes the first one, and no answer none', async () => {
    await using vllm = await fakeServer(vllmRoutes('qwen3-8b', 'phi4'))
    const here = env({ MULLIGAN_VLLM_URL: vllm })
    await expect(discoverModel(here, { ask: async () => undefined })).rejects.toThrow('no model was chosen')
    expect(readRemembered(here)).toBeUndefined()
    expect(await discoverModel(here, { ask: async () => '' })).toMatchObject({ id: 'vllm/qwen3-8b' })
    expect(readRemembered(here)).toEqual({ provider: 'vllm', name: 'qwen3-8b', address: vllm.url })
  })

  it('a choice whose model or server is gone gives way, and that is said', async () => {
    await using ollama = await fakeServer(ollamaRoutes({ 'qwen3:8b': {} }))
    const here = env({ OLLAMA_HOST: ollama })
    remember({ provider: 'ollama', name: 'gone:1b', address: ollama.url }, here)
    expect(await discoverModel(here)).toMatchObject({
      id: 'ollama/qwen3:8b',
      how: expect.stringContaining('ollama/gone:1b, which you chose before'),
    })
    remember({ provider: 'vllm', name: 'x', address: NO_SERVERS.MULLIGAN_VLLM_URL }, here)
    expect(await discoverModel(here)).toMatchObject({ id: 'ollama/qwen3:8b' })
    // The same provider at another address is another server.
    remember({ provider: 'ollama', name: 'qwen3:8b', address: 'http://127.0.0.1:2' }, here)
    expect(await discoverModel(here)).toMatchObject({ chosen: false })
  })

  it.each([
    '',
    '{',
    '[]',
    '{"version":9,"provider":"ollama"}',
    '{"version":1,"provider":"constructor","name":"x","address":"y"}',
  ])('a damaged choice (%s) is none', async (text) => {
    await using ollama = await fakeServer(ollamaRoutes({ 'qwen3:8b': {} }))
    writeFileSync(join(data, 'model.json'), text)
    expect(await discoverModel(env({ OLLAMA_HOST: ollama }))).toMatchObject({ id: 'ollama/qwen3:8b' })
  })

  it('a choice is kept whole, for the person alone', () => {
    const here = env({})
    for (let n = 0; n < 3; n++) remember({ provider: 'ollama', name: `m${n}`, address: 'a' }, here)
    expect(readdirSync(data)).toEqual(['model.json'])
    expect(JSON.parse(readFileSync(join(data, 'model.json'), 'utf8'))).toMatchObject({ version: 1, name: 'm2' })
  })
})

describe('when none is found', () => {
  const failure = async (given: Record<string, string | undefined>) =>
    (await discoverModel(given).catch((error: unknown) => error)) as UsageError

  it('each server and address is told, and the ways on; a key is named but not used', async () => {
    await using ollama = await fakeServer(ollamaRoutes({ 'bge-m3': { capabilities: ['embedding'] } }))
    await using other = await fakeServer({})
    const keys = { ANTHROPIC_API_KEY: 'sk-secret', GEMINI_API_KEY: 'g-secret', MULLIGAN_API_KEY: 'm-secret' }
    const { message, hint } = await failure(env({ OLLAMA_HOST: ollama, MULLIGAN_LLAMACPP_URL: other }, keys))
    expect(message).toBe('no model was named, and none was found on this machine')
    expect(hint).toContain(`Ollama     ${ollama.url}: no chat model`)
    expect(hint).toContain(`LM Studio  http://127.0.0.1:1: not running`)
    expect(hint).toContain(`llama.cpp  ${other.url}: it answers /v1/models with 404`)
    expect(hint).toMatch(/--model ollama\/NAME.*--model NAME --base-url.*--model anthropic\/NAME/s)
    expect(hint).toMatch(/ANTHROPIC_API_KEY is set but was not used.*--model anthropic\/NAME/)
    expect(hint).toMatch(/GEMINI_API_KEY is set.*--model google\/NAME/)
    expect(hint).not.toContain('OPENAI_API_KEY is set')
    expect(hint).not.toContain('secret')
    expect(JSON.stringify([...ollama.headers, ...other.headers])).not.toContain('secret')
  })

  it('what only passes the conversation on is told, and not taken', async () => {
    await using ollama = await fakeServer(ollamaRoutes({ 'gpt-oss:120b-cloud': {} }))
    expect((await failure(env({ OLLAMA_HOST: ollama }))).hint).toContain('ollama/gpt-oss:120b-cloud is available, but runs on ollama.com')
  })
})
