import { afterEach, describe, expect, it } from 'vitest'
import type { Repair } from '../repair.ts'
import { rawOutput } from './failed-parse.ts'
import { repairFetch } from './fetch.ts'
import { type Answering, chunk, generated, json, type Server, serve, streamed } from './server.fixture.ts'

const servers: Server[] = []
const start = async (answering: Answering): Promise<string> => {
  const server = await serve(answering)
  servers.push(server)
  return server.url
}
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

const RAW = '<tool_call>\n{"name": "read", "arguments": {"path": "a.ts}\n</tool_call>'
const llama = { error: { code: 500, message: `Failed to parse input at pos 34: ${RAW}`, type: 'server_error' } }
const ollama = (raw: string) => ({
  error: { message: `error parsing tool call: raw='${raw}', err=invalid character 'p' after object key`, type: 'api_error' },
})

describe('rawOutput', () => {
  it.each<[string, unknown, string | undefined]>([
    ['llama.cpp', llama, RAW],
    ['llama.cpp, the error as a text', { error: llama.error.message }, RAW],
    ['llama.cpp with nothing after', { error: { message: 'Failed to parse input at pos 34: ' } }, undefined],
    ['Ollama with markup', ollama(RAW), RAW],
    [
      'Ollama with a named object',
      ollama('{"name": "read", "arguments": {"path": "it\'s}'),
      '{"name": "read", "arguments": {"path": "it\'s}',
    ],
    ['Ollama with arguments alone', ollama('{"path":"a.ts", '), undefined],
    ['arguments that have a name among them', ollama('{"name":"a.ts", "content": "x'), undefined],
    ['arguments that hold markup', ollama('{"path":"a.html", "content":"<div>'), undefined],
    ['another error', { error: { message: 'model not found' } }, undefined],
    ['no error', { choices: [] }, undefined],
    ['no object', 'x', undefined],
  ])('%s', (_, body, raw) => expect(rawOutput(body)).toBe(raw))
})

describe('an error that is a failed parse', () => {
  it.each([
    ['llama.cpp', llama, 500] as const,
    ['Ollama', ollama(RAW), 500] as const,
    ['a proxy', llama, 400] as const,
  ])('%s: the text of the model, in the form that was asked for', async (_, body, status) => {
    const url = await start(json(body, status))
    const repairs: Repair[] = []
    const own = repairFetch({ onRepair: (repair) => repairs.push(repair) })
    expect((await streamed(url)).errors).toEqual([body.error.message])
    expect((await generated(url)).errors).toEqual([body.error.message])
    expect(await streamed(url, own)).toEqual({ calls: [], text: RAW, finish: 'stop', errors: [] })
    expect(await generated(url, own)).toEqual({ calls: [], text: RAW, finish: 'stop', errors: [] })
    expect(repairs).toMatchObject([{ kind: 'wire', to: RAW }, { to: RAW }])
  })

  it('inside a stream', async () => {
    const url = await start({ body: `${chunk({ content: 'I read. ' })}data: ${JSON.stringify(llama)}\n\n` })
    expect((await streamed(url)).errors).not.toEqual([])
    expect(await streamed(url, repairFetch())).toEqual({ calls: [], text: `I read. ${RAW}`, finish: 'stop', errors: [] })
  })

  it('inside a stream after a call began it stays an error: its text might tell of that call again', async () => {
    const begun = chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'read', arguments: '{"path' } }] })
    const url = await start({ body: `${begun}data: ${JSON.stringify(llama)}\n\n` })
    expect((await streamed(url, repairFetch())).errors.join()).toContain('Failed to parse')
  })
})

describe('other errors pass byte for byte', () => {
  const post = async (url: string, body: string | undefined = '{"stream":true}') => {
    let seen: Response | undefined
    const own = repairFetch({
      fetch: async (...given) => {
        seen = await fetch(...given)
        return seen
      },
    })
    const response = await own(`${url}/chat/completions`, { method: 'POST', ...(body !== undefined && { body }) })
    return { response, isSame: response === seen, text: await response.text() }
  }

  it.each<[string, string, number]>([
    ['another error', '{"error": {"message":"no such model"} }', 404],
    ['no JSON', 'Bad Gateway \u00e9', 502],
    ['arguments alone', JSON.stringify(ollama('{"path":"a.ts", ')), 500],
    ['nothing', '', 500],
    ['more than a megabyte', JSON.stringify({ ...llama, padding: 'x'.repeat(1_100_000) }), 500],
  ])('%s', async (_, body, status) => {
    const result = await post(await start({ status, headers: { 'content-type': 'application/json', 'x-id': '7' }, body }))
    expect(result).toMatchObject({ isSame: true, text: body })
    expect([result.response.status, result.response.headers.get('x-id')]).toEqual([status, '7'])
  })

  it('a failed parse where nobody knows which form was asked for', async () => {
    expect((await post(await start(json(llama, 500)), 'no JSON')).isSame).toBe(true)
  })
})
