/** The built-in tools in other clients: the protocol's official client, in both versions of the protocol. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it } from 'vitest'
import { BIN, type CliFixture, place } from '../../../test/cli.fixture.ts'

interface Connected extends AsyncDisposable {
  readonly client: Client
  readonly call: (name: string, args: object) => Promise<{ readonly text: string; readonly isError: boolean }>
  readonly questions: string[]
}

type Mode = 'legacy' | { readonly pin: string }
const MODES: readonly (readonly [string, Mode])[] = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
]

/** @param answer what the person answers; without it, the client can't ask */
async function connect(here: CliFixture, mode: Mode, flags: readonly string[] = [], answer?: boolean): Promise<Connected> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode }, capabilities: answer === undefined ? {} : { elicitation: {} } },
  )
  const questions: string[] = []
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params.message)
      return { action: 'accept', content: { allow: answer, reason: 'not now' } }
    })
  const http = flags.includes('--http') ? await served(here, flags) : undefined
  const env = { PATH: process.env['PATH'] ?? '', HOME: here.root, MULLIGAN_DATA_DIR: here.data }
  const args = [BIN, 'mcp', 'serve', '--cwd', here.dir, ...flags]
  await client.connect(
    http
      ? new StreamableHTTPClientTransport(new URL(http.url), { requestInit: { headers: { Authorization: `Bearer ${http.token}` } } })
      : new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }),
  )
  return {
    client,
    questions,
    async call(name, args) {
      const { content, isError = false } = await client.callTool({ name, arguments: args as Record<string, unknown> })
      return { text: content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n'), isError }
    },
    async [Symbol.asyncDispose]() {
      await client.close()
      await http?.stop()
    },
  }
}

/** Starts `mcp serve --http`. */
async function served(here: CliFixture, flags: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { child, ended } = here.start(['mcp', 'serve', ...flags], { env, stdin: { open: true } })
  let text = ''
  const [, url = '', token = ''] = await new Promise<RegExpExecArray>((resolve) =>
    child.stderr.on('data', (chunk) => {
      text += String(chunk)
      const found = /at (http:\S+)\n(?:Authorization: Bearer (\S+)|The token is in)/.exec(text)
      if (found) resolve(found)
    }),
  )
  return {
    ...{ url, token },
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

const REACHED: readonly (readonly [string, readonly string[]])[] = [
  ['stdio', []],
  ['http', ['--http']],
]
const CASES = MODES.flatMap(([version, mode]) => REACHED.map(([by, flags]) => [version, by, mode, flags] as const))

describe.each(CASES)('protocol version %s by %s', (_, __, mode, flags) => {
  it('lists the tools with annotations that say no less than their effect', async () => {
    using here = place()
    await using served = await connect(here, mode, flags)
    const { tools } = await served.client.listTools()
    const of = (name: string) => tools.find((tool) => tool.name === name)?.annotations
    expect(of('read_file')).toMatchObject({ readOnlyHint: true, destructiveHint: false, openWorldHint: false })
    expect(of('write_file')).toMatchObject({ readOnlyHint: false, destructiveHint: true })
    expect(of('web_fetch')).toMatchObject({ openWorldHint: true })
    expect(of('ask_user')).toBeUndefined()
  }, 60_000)

  it('structured content is what the output schema says, which the client checks', async () => {
    using here = place({ 'notes.txt': 'one\ntwo\n' })
    await using one = await connect(here, mode, flags)
    await one.client.listTools()
    const { structuredContent } = await one.client.callTool({ name: 'grep', arguments: { pattern: 'nothing' } })
    expect(structuredContent).toMatchObject({ ok: true, count: 0 })
    const failed = await one.client.callTool({ name: 'read_file', arguments: { path: 'note.txt' } })
    expect(failed.structuredContent).toMatchObject({ ok: false, status: 'retry', errorType: 'not_found' })
  }, 60_000)

  it('a call is repaired, a wrong one says what to correct, and one with effects is not made unasked', async () => {
    using here = place({ 'notes.txt': 'one\ntwo\n' })
    await using served = await connect(here, mode, flags)
    expect((await served.call('read_file', { file_path: 'notes.txt', limit: '1' })).text).toContain('one')
    expect(await served.call('read_file', { path: 'note.txt' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('notes.txt'),
    })
    expect(await served.call('write_file', { path: 'a.txt', content: 'a' })).toMatchObject({ isError: true })
    expect(here.has('a.txt')).toBe(false)
  }, 60_000)

  it.each([
    [true, true],
    [false, false],
  ])(
    'asks the person of a client that can: allowed %s',
    async (answer, isThere) => {
      using here = place()
      await using served = await connect(here, mode, flags, answer)
      const { isError, text } = await served.call('write_file', { path: 'a.txt', content: 'new text\n' })
      expect([isError, here.has('a.txt')]).toEqual([!isThere, isThere])
      expect(served.questions).toEqual([expect.stringMatching(/^Allow write_file \(write\) a\.txt\?\n[\s\S]*new text/)])
      if (!isThere) expect(text).toContain('not now')
    },
    60_000,
  )
})

it('--yes, --mode and --tools', async () => {
  using here = place()
  const [, mode] = MODES[0] as (typeof MODES)[number]
  {
    await using served = await connect(here, mode, ['--yes', '--tools', 'write_*,read_file'])
    expect((await served.client.listTools()).tools.map(({ name }) => name).sort()).toEqual(['read_file', 'write_file'])
    expect(await served.call('write_file', { path: 'a.txt', content: 'a' })).toMatchObject({ isError: false })
  }
  {
    await using served = await connect(here, mode, ['--mode', 'auto-edit'])
    expect(await served.call('write_file', { path: 'b.txt', content: 'b' })).toMatchObject({ isError: false })
  }
  expect([here.has('a.txt'), here.has('b.txt')]).toEqual([true, true])
  expect(await here.run(['mcp', 'serve', '--tools', 'read_fil'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean read_file?'),
  })
}, 60_000)

it('what was read from outside makes effects need a person, --yes notwithstanding', async () => {
  const tool = (name: string, more: string): string => `import { defineTool } from 'mulligan'
export default defineTool({ name: '${name}', description: '${name}', input: { type: 'object', properties: {} }, ${more} execute: () => 'done' })`
  using here = place({
    '.mulligan/tools/post.mjs': tool('post', ''),
    '.mulligan/tools/page.mjs': tool('page', "effect: 'read', untrusted: true, sends: 'query',"),
  })
  expect((await here.run(['trust', '--yes'])).code).toBe(0)
  await using served = await connect(here, 'legacy', ['--yes'])
  const outcomes = []
  for (const name of ['post', 'page', 'post']) outcomes.push((await served.call(name, {})).isError)
  expect(outcomes).toEqual([false, false, true])
}, 60_000)

it('--http takes the token and the port of the person, and shows a token otherwise', async () => {
  using here = place()
  const env = { MULLIGAN_MCP_TOKEN: 'a-token-of-the-person' }
  const { url, token, stop } = await served(here, ['--http'], env)
  const answer = (key: string): Promise<number> =>
    fetch(url, { method: 'POST', headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status)
  expect([token, await answer('another'), await answer('a-token-of-the-person')]).toEqual(['', 401, 400])
  const { port } = new URL(url)
  expect(await here.start(['mcp', 'serve', '--http', port], { env }).ended).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`port ${port} is in use`),
  })
  expect(await stop()).toMatchObject({ code: 0, stdout: '' })
  expect(await here.start(['mcp', 'serve', '--http'], { env: { MULLIGAN_MCP_TOKEN: 'short' } }).ended).toMatchObject({ code: 2 })
  const other = await served(here, ['--http'])
  expect(other.token.length).toBeGreaterThan(40)
  await other.stop()
}, 60_000)
