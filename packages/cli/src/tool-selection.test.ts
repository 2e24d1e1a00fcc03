/** Tests what the command really sends: how large the request prefix is, and that it does not change. */

import { estimateTokens } from '@mulligan/core/executor'
import { call, lastToolResults, type RecordedRequest, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place, trusted, using } from '../test/cli.fixture.ts'

interface Body {
  readonly messages: readonly { readonly content: string }[]
  readonly tools: readonly { readonly function: { readonly name: string } }[]
}
const bodyOf = (request: RecordedRequest | undefined) => request?.body as Body
const toolsOf = (request: RecordedRequest | undefined) => bodyOf(request).tools.map((tool) => tool.function.name)

/** Thirty own tools, each about as large as a built-in one. */
const THIRTY = `export default Array.from({ length: 30 }, (_, at) => ({
  name: 'own_' + at, description: 'Looks up entry ' + at + ' of the register, with all that belongs to it and since when.', effect: 'read',
  input: { type: 'object', properties: Object.fromEntries(['id', 'since', 'kind', 'limit', 'page'].map((one) => [one, { type: 'string', description: 'the ' + one + ' of the entry' }])) },
  execute: () => 'entry ' + at,
}))`
const FILES = { '.mulligan/tools/thirty.mjs': THIRTY, 'AGENTS.md': 'Use tabs, and keep lines short.\n'.repeat(500) }

describe('the system prompt and the tools of a request', () => {
  it.each([
    [8192, 1500, {}],
    [8192, 1500, FILES],
    [32_768, 4915, FILES],
    [128_000, 19_200, FILES],
  ])('at %i tokens of context have at most %i', async (context, most, files) => {
    using here = trusted(place(files))
    await using model = await scriptedModel([say('Hi.')])
    const { code } = await here.run(['Hi', ...using(model)], { env: { MULLIGAN_CONTEXT: String(context) } })
    expect(code).toBe(0)
    const { messages, tools } = bodyOf(model.requests[0])
    expect(estimateTokens(JSON.stringify(messages[0]) + JSON.stringify(tools))).toBeLessThanOrEqual(most)
    expect(toolsOf(model.requests[0])).toEqual(expect.arrayContaining(['read_file', 'edit_file', 'write_file']))
    expect(toolsOf(model.requests[0]).includes('find_tools')).toBe(context < 128_000)
  })
})

it('a tool that was found is in the requests of the next process too, after those that were there', async () => {
  using here = trusted(place(FILES))
  await using model = await scriptedModel([
    call('find_tools', { query: 'entry 7 of the register', limit: 1 }),
    call('own_7', {}),
    call('own_9', {}),
    say('Found.'),
    say('Again.'),
  ])
  const env = { MULLIGAN_CONTEXT: '8192' }
  await here.run(['Look it up.', ...using(model)], { env })
  await here.run(['run', '--last', 'And again.', ...using(model)], { env })
  expect(lastToolResults(model.requests[1] as never)[0]?.text).toMatch(/^own_7: Looks up entry 7/)
  const [always = [], ...later] = model.requests.map(toolsOf)
  expect(later).toEqual([
    [...always, 'own_7'],
    [...always, 'own_7'],
    [...always, 'own_7', 'own_9'],
    [...always, 'own_7', 'own_9'],
  ])
  for (const [at, request] of model.requests.entries()) {
    const { messages, tools } = bodyOf(request)
    const next = bodyOf(model.requests[at + 1] ?? request)
    expect(JSON.stringify(next.messages)).toContain(JSON.stringify(messages).slice(0, -1))
    expect(JSON.stringify(next.tools).startsWith(JSON.stringify(tools).slice(0, -1))).toBe(true)
  }
  model.assertDone()
})

/** An MCP server with 300 tools, which says which one was called. */
const SERVER_OF_300 = `
import { createInterface } from 'node:readline'
const text = { type: 'string', description: 'What the table has in this column.' }
const inputSchema = { type: 'object', properties: { id: text, since: text, limit: { type: 'integer' } } }
const tools = Array.from({ length: 300 }, (_, at) => ({ name: 'table_' + at, description: 'Reads table ' + at + ' of the archive.', inputSchema }))
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result =
    method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'archive', version: '1' } }
    : method === 'tools/list' ? { tools }
    : method === 'tools/call' ? { content: [{ type: 'text', text: 'rows of ' + params.name }] }
    : undefined
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'unknown' } }) }))
})`

it('of 300 tools of an MCP server none is sent at 8,192 tokens of context; they are found, and then called', async () => {
  using here = place({ 'server.mjs': SERVER_OF_300 })
  const server = { command: process.execPath, args: [`${here.dir}/server.mjs`], tools: { '*': { effect: 'read' } } }
  here.write('../.config/mulligan/config.json', JSON.stringify({ mcpServers: { archive: server } }))
  const find = call('find_tools', { query: 'table 217 of the archive', limit: 1 })
  await using model = await scriptedModel([find, call('table_217', { limit: '5' }), say('Read.')])
  const { code } = await here.run(['Read it.', ...using(model)], { env: { MULLIGAN_CONTEXT: '8192' } })
  expect(code).toBe(0)
  const { messages, tools } = bodyOf(model.requests[0])
  expect(toolsOf(model.requests[0]).filter((name) => name.startsWith('table_'))).toEqual([])
  expect(estimateTokens(JSON.stringify(messages[0]) + JSON.stringify(tools))).toBeLessThanOrEqual(1500)
  expect(lastToolResults(model.requests[1] as never)[0]?.text).toMatch(/^table_217: Reads table 217/)
  expect(toolsOf(model.requests[1]).filter((name) => name.startsWith('table_'))).toEqual(['table_217'])
  expect(lastToolResults(model.requests[2] as never)[0]?.text).toContain('rows of table_217')
  model.assertDone()
}, 60_000)

it('the names of the tools that are to be found are told, and tools.lean says which are there', async () => {
  using here = place({ 'mulligan.json': '{ "tools": { "lean": ["grep", "read_file"] } }' })
  await using model = await scriptedModel([say('Hi.')])
  await here.run(['Hi', ...using(model)])
  expect(toolsOf(model.requests[0])).toEqual(['grep', 'read_file', 'find_tools'])
  expect(JSON.stringify(bodyOf(model.requests[0]).tools[2])).toMatch(/There are: write_file, edit_file, /)
})

it('find_tools is not a name for an own tool', async () => {
  using here = trusted(place({ '.mulligan/tools/find.mjs': THIRTY.replace("'own_' + at", "at === 0 ? 'find_tools' : 'own_' + at") }))
  expect((await here.run(['tools', 'list'])).stderr).toContain('find_tools')
})
