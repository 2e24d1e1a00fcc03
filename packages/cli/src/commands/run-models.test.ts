/** Tests which model a run uses, and the message when a request fails permanently. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { fakeServer } from '../../../host/src/models/servers.fixture.ts'
import { place } from '../../test/cli.fixture.ts'
import { hasTerminal, inTerminal } from '../../test/terminal.fixture.ts'

const LEFT = 'MULLIGAN_API_KEY'

describe('a run without --model', () => {
  it('takes the one that is found, says so, and sends no key to it', async () => {
    using here = place()
    await using model = await scriptedModel([say('Hi.')], { models: ['glm-4.7-flash', 'bge-m3'] })
    const { code, stdout, stderr } = await here.run(['Hello there', '--json'], {
      env: { MULLIGAN_VLLM_URL: model.url, [LEFT]: 'sk-secret' },
    })
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ answer: 'Hi.' })])
    expect(stderr).toBe('The model is vllm/glm-4.7-flash on this machine, found there; mulligan models --use NAME chooses another.\n')
    expect(model.requests[0]?.body).toMatchObject({ model: 'glm-4.7-flash', temperature: 0.7 })
    expect(JSON.stringify(model.requests[0]?.headers)).not.toContain('sk-secret')
    expect(existsSync(join(here.data, 'model.json'))).toBe(false)
  })

  it.skipIf(!hasTerminal)('asks in a terminal which of several, and keeps the answer', async () => {
    using here = place()
    await using model = await scriptedModel([say('Hi.'), say('Again.')], { models: ['one', 'two'] })
    const more = { MULLIGAN_VLLM_URL: model.url }
    const first = await inTerminal(here, model, [['Number [1]:', '2\r']], [], more)
    expect([first.code, first.stdout]).toEqual([
      0,
      expect.stringMatching(/1 {2}vllm\/one[\s\S]*The model is vllm\/two on this machine, as you chose/),
    ])
    const second = await here.run(['Hello there'], { env: more })
    expect(second).toMatchObject({
      code: 0,
      stdout: 'Again.\n',
      stderr: expect.stringContaining('vllm/two on this machine, chosen before'),
    })
    expect(model.requests.map(({ body }) => (body as { model: string }).model)).toEqual(['two', 'two'])
  })

  it.skipIf(!hasTerminal)('Ctrl-C at that question ends it, and nothing is kept', async () => {
    using here = place()
    await using model = await scriptedModel([], { models: ['one', 'two'] })
    const { code } = await inTerminal(here, model, [['Number [1]:', '\u0003']], [], { MULLIGAN_VLLM_URL: model.url })
    expect([code, model.requests.length, existsSync(join(here.data, 'model.json'))]).toEqual([130, 0, false])
  })

  it('but with a base URL takes the only one of that server, and else says which there are', async () => {
    using here = place()
    await using one = await scriptedModel([say('Hi.')], { models: ['glm-4.7', 'text-embedding-3'] })
    const found = await here.run(['Hello there', '--base-url', one.url])
    expect(found).toMatchObject({ code: 0, stderr: expect.stringContaining('The model is openai-compatible/glm-4.7 on this machine') })
    await using two = await scriptedModel([], { models: ['glm-4.7', 'phi4'] })
    const asked = await here.run(['Hello there', '--base-url', two.url])
    expect(asked).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/has 2\nName one of them:\n {2}--model glm-4.7\n {2}--model phi4\n/),
    })
  })

  it('asks no server that only a project’s file names and that is elsewhere', async () => {
    using here = place({ '.mulligan/config.json': '{ "baseUrl": "http://models.invalid:9/v1" }' })
    const { code, stderr } = await here.run(['Hello there'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('would send this conversation to models.invalid')])
  })

  // If the name already shows it, the server is not asked about the model, only for the other models.
  it.each<[string, object, string]>([
    ['mine', { remote_host: 'https://ollama.com' }, 'POST /api/show'],
    ['gpt-oss:120b-cloud', {}, 'GET /api/tags'],
  ])('lets no project’s file choose %s, which Ollama passes on', async (name, shown, asked) => {
    using here = place({ '.mulligan/config.json': JSON.stringify({ model: `ollama/${name}` }) })
    await using ollama = await fakeServer({ '/api/show': { capabilities: ['completion', 'tools'], ...shown } })
    const { code, stderr } = await here.run(['Hello there'], { env: { OLLAMA_HOST: ollama.url } })
    expect([code, stderr]).toEqual([2, expect.stringContaining('would send this conversation to ollama.com')])
    expect(ollama.seen).toEqual([asked])
  })
})

describe('a request that fails for good', () => {
  it('because of its key says which variable', async () => {
    using here = place()
    await using model = await scriptedModel([{ fault: { status: 401, body: { error: { message: 'bad key' } } } }])
    const { code, stderr } = await here.run(['Hello there', '--model', 'openai/x', '--base-url', model.url], {
      env: { OPENAI_API_KEY: 'sk-secret' },
    })
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/answered 401: bad key\. The key is the one in OPENAI_API_KEY: .*platform\.openai\.com/),
    ])
    expect(stderr).not.toContain('sk-secret')
  })

  it('because there is no such model says which there are', async () => {
    using here = place()
    const fault = { status: 404, body: { error: { message: 'no such model' } } }
    await using model = await scriptedModel([{ fault }], { models: ['glm-4.7-flash', 'phi4'] })
    const { code, stderr } = await here.run(['Hello there', '--model', 'vllm/glm-4.7-flsh'], { env: { MULLIGAN_VLLM_URL: model.url } })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/Did you mean vllm\/glm-4\.7-flash\? Its server has glm-4\.7-flash, phi4\./)])
  })
})

it('an address with a web page instead of a model is named', async () => {
  using here = place()
  let requests = 0
  const server = createServer(({ method }, response) => {
    if (method === 'POST') requests++
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>Welcome</html>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/app`
  const { code, stderr } = await here.run(['hi', '--model', 'x', '--base-url', url])
  expect([code, requests > 1]).toEqual([1, true])
  expect(stderr).toContain(`${url}/chat/completions answered with a web page instead of a model's reply: is the address right?`)
  server.close()
})

it('mulligan models lists the models at the configured address', async () => {
  using here = place()
  await using model = await scriptedModel([], { models: ['one', 'two'] })
  const { stdout } = await here.run(['models'], { env: { MULLIGAN_BASE_URL: model.url } })
  expect(stdout).toMatch(/^openai-compatible\/one +.*configured address$/m)
  expect(JSON.parse((await here.run(['models', '--json'], { env: { MULLIGAN_BASE_URL: model.url } })).stdout)).toMatchObject({
    configured: [{ id: 'openai-compatible/one' }, { id: 'openai-compatible/two' }],
  })
})
