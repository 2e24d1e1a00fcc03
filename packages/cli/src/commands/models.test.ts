import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeServer, ollamaRoutes, withServers } from '../../../host/src/models/servers.fixture.ts'
import type { Output } from '../ui/output.ts'
import { type ModelsFlags, modelsCommand } from './models.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'mulligan-models-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

async function models(flags: ModelsFlags, servers: Parameters<typeof withServers>[0], more: Record<string, string> = {}) {
  const said = { out: [] as string[], err: [] as string[] }
  const output: Output = {
    out: (text) => said.out.push(text),
    err: (text) => said.err.push(text),
    closed: new AbortController().signal,
    flush: async () => undefined,
  }
  const env = { HOME: home, XDG_CONFIG_HOME: home, MULLIGAN_DATA_DIR: join(home, 'data'), ...withServers(servers), ...more }
  const code = await modelsCommand({ cwd: home, ...flags }, output, env)
  return { code, out: said.out.join(''), err: said.err.join('') }
}

const TWO = ollamaRoutes({
  'glm-4.7-flash:latest': { loaded: 32_768, size: 19_000_000_000 },
  'phi4:14b': { capabilities: ['completion'], context: 16_384, size: 900_000_000 },
  'bge-m3': { capabilities: ['embedding'] },
  'gpt-oss:120b-cloud': { remote: 'https://ollama.com' },
})

describe('mulligan models', () => {
  it('has every model and cloud, and says which is taken', async () => {
    await using ollama = await fakeServer(TWO)
    await using wrong = await fakeServer({ '/v1/models': '<html>\u001b[2J' })
    const { code, out } = await models({}, { OLLAMA_HOST: ollama, MULLIGAN_VLLM_URL: wrong }, { OPENAI_API_KEY: 'sk-secret' })
    expect(code).toBe(0)
    expect(out).toBe(
      [
        'MODEL                          WHERE                              CONTEXT  SIZE     TOOLS  STATE',
        'ollama/glm-4.7-flash:latest *  this machine                       32,768   19.0 GB  yes    loaded',
        'ollama/phi4:14b                this machine                       16,384   900 MB   no',
        'ollama/gpt-oss:120b-cloud      ollama.com                         131,072  1.0 GB   yes',
        'anthropic/NAME                 api.anthropic.com                                    yes    asks for ANTHROPIC_API_KEY',
        'openai/NAME                    api.openai.com                                       yes    OPENAI_API_KEY is set; used only when named',
        'google/NAME                    generativelanguage.googleapis.com                    yes    asks for GOOGLE_GENERATIVE_AI_API_KEY',
        '',
        `Ollama, ${ollama.url}: 3 models, and 1 that cannot chat`,
        'LM Studio, http://127.0.0.1:1: not running',
        'llama.cpp, http://127.0.0.1:1: not running',
        `vLLM, ${wrong.url}: something is there, but its answer to /v1/models is not valid JSON`,
        'A run without --model uses ollama/glm-4.7-flash:latest (the first one; in a terminal you are asked). To choose another: mulligan models --use NAME',
        '',
      ].join('\n'),
    )
  })

  it('as JSON', async () => {
    await using ollama = await fakeServer(TWO)
    const { out } = await models({ json: true }, { OLLAMA_HOST: ollama }, { GEMINI_API_KEY: 'g-secret' })
    expect(out).not.toContain('secret')
    expect(JSON.parse(out)).toMatchObject({
      models: [
        {
          id: 'ollama/glm-4.7-flash:latest',
          where: 'this machine',
          local: true,
          contextTokens: 32_768,
          tools: true,
          loaded: true,
          profile: 'GLM 4.7 and 5',
          thinks: 'can',
          chosen: true,
        },
        { id: 'ollama/phi4:14b', tools: false, chosen: false },
        { id: 'ollama/gpt-oss:120b-cloud', where: 'ollama.com', local: false },
      ],
      servers: [{ provider: 'ollama', state: 'running' }, { provider: 'lmstudio', state: 'absent', why: 'not running' }, {}, {}],
      clouds: [{ provider: 'anthropic', keySet: false }, {}, { provider: 'google', keySet: true }],
      chosen: { id: 'ollama/glm-4.7-flash:latest' },
    })
  })

  it('without any server ends with 1, and says what to do', async () => {
    const { code, out } = await models({}, {})
    expect([code, out]).toEqual([1, expect.stringContaining('There is no model for a run without --model: start one')])
  })

  it('names the model of the configuration, which overrides what is found', async () => {
    await using ollama = await fakeServer(TWO)
    mkdirSync(join(home, 'mulligan'))
    writeFileSync(join(home, 'mulligan', 'config.json'), '{ "model": "vllm/x" }')
    const { out } = await models({}, { OLLAMA_HOST: ollama })
    expect(out).toMatch(/A run without --model uses vllm\/x \(.*config\.json\)/)
    const { code, err } = await models({ use: 'phi4:14b' }, { OLLAMA_HOST: ollama })
    expect([code, err]).toEqual([0, expect.stringMatching(/config\.json names vllm\/x, and overrides it/)])
  })
})

describe('--use', () => {
  it('keeps the choice', async () => {
    await using ollama = await fakeServer(TWO)
    const { code, err, out } = await models({ use: 'ollama/phi4:14b' }, { OLLAMA_HOST: ollama })
    expect([code, out, err]).toEqual([0, '', 'ollama/phi4:14b on this machine is now the default model.\n'])
    expect((await models({}, { OLLAMA_HOST: ollama })).out).toMatch(/^ollama\/phi4:14b \*.*uses ollama\/phi4:14b \(chosen before\)/ms)
  })

  it.each([
    ['ollama/phi4:14', 'no server on this machine has ollama/phi4:14', 'Did you mean --use ollama/phi4:14b?'],
    ['gpt-oss:120b-cloud', 'runs in the cloud', '--model gpt-oss:120b-cloud'],
    ['anthropic/x', 'runs in the cloud', '--model anthropic/x'],
    ['vllm/x', 'vLLM can’t be reached to check vllm/x', 'vllm serve'],
    ['', 'no server on this machine has', 'mulligan models'],
  ])('of %s is refused', async (use, message, hint) => {
    await using ollama = await fakeServer(TWO)
    await expect(models({ use }, { OLLAMA_HOST: ollama })).rejects.toMatchObject({
      message: expect.stringContaining(message.replace('’', "'")),
      hint: expect.stringContaining(hint),
    })
  })

  it('of a name that two servers have asks which', async () => {
    const routes = { '/v1/models': { data: [{ id: 'qwen3-8b' }] } }
    await using vllm = await fakeServer(routes)
    await using llamacpp = await fakeServer(routes)
    await expect(models({ use: 'qwen3-8b' }, { MULLIGAN_VLLM_URL: vllm, MULLIGAN_LLAMACPP_URL: llamacpp })).rejects.toMatchObject({
      hint: 'Choose one: --use llamacpp/qwen3-8b, --use vllm/qwen3-8b',
    })
  })
})
