/** The servers' tools in the executor, with real processes. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ToolResult } from '@mulligan/core'
import { createExecutor } from '@mulligan/core/executor'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { McpServer } from './config.ts'
import type { AskPerson } from './elicit.ts'
import type { McpPrompt } from './prompts.ts'
import { READ_RESOURCE } from './resources.ts'
import { type Known, type McpServers, openMcpServers } from './servers.ts'

const SERVER = fileURLToPath(new URL('server.fixture.ts', import.meta.url))

let folder = ''
let opened: McpServers[] = []
const known = new Map<string, Known>()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-mcp-'))
  known.clear()
})
afterEach(async () => {
  await Promise.all(opened.map(({ close }) => close()))
  opened = []
  rmSync(folder, { recursive: true, force: true })
})

const log = (): string[] => {
  try {
    return readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')
  } catch {
    return []
  }
}

const fixture = (more: Partial<McpServer> = {}, mode = ''): McpServer => ({
  command: process.execPath,
  args: [SERVER, join(folder, 'log'), mode],
  ...more,
})

const IDLE = { name: 'notes', tools: 10, prompts: 0, hasResources: false }

interface Options {
  readonly taken?: readonly string[]
  readonly ask?: AskPerson
  readonly wait?: number
  readonly env?: Record<string, string>
  /** False: returns before the servers are asked. */
  readonly isReady?: boolean
}

async function open(
  servers: Readonly<Record<string, McpServer>>,
  { taken = [], ask, wait = 30, env = {}, isReady = true }: Options = {},
): Promise<McpServers> {
  const one = openMcpServers(servers, {
    cache: { get: (name) => known.get(name), set: (name, _, what) => known.set(name, what) },
    ...{ cwd: folder, env, taken, wait, version: '1', spawn },
    environment: (own) => ({ PATH: process.env['PATH'] ?? '', ...own }),
    resolve: (command) => (command === 'nothing' ? undefined : command),
    ...(ask && { ask }),
  })
  opened.push(one)
  if (isReady) await one.ready()
  return one
}

async function run({ tools }: McpServers, name: string, input: object, signal?: AbortSignal): Promise<ToolResult> {
  const policy = () => ({ decision: 'allow' as const, reason: '' })
  const executor = createExecutor({ tools, policy, ...(signal && { signal }) })
  const prepared = await executor.prepare({ id: 'session/turn/1/0', step: 1, ordinal: 0, name, input })
  if (prepared.kind === 'approval') throw new Error('nobody was to be asked')
  return (prepared.kind === 'ready' ? await executor.execute(prepared.call) : prepared.record).result
}

describe('the tools of a server', () => {
  it('have names that providers take, and are effects unless the person says otherwise', async () => {
    const { tools, leftOut } = await open({ notes: fixture() }, { taken: ['read_file'] })
    const effects = Object.fromEntries(tools.map(({ name, effect }) => [name, effect]))
    expect(Object.keys(effects)).toEqual([
      ...['add', 'notes_read_file', 'send', 'look', 'ask', 'more', 'bare'],
      expect.stringMatching(/^with_dots_and_a_name_that_is_far_too_long_for_the_provide_\w{6}$/),
    ])
    expect(new Set(Object.values(effects))).toEqual(new Set(['external']))
    expect(tools.find(({ name }) => name === 'notes_read_file')?.aliases.map(({ name }) => name)).toEqual(['mcp__notes__read_file'])
    expect(leftOut).toEqual([
      { server: 'notes', tool: 'bad', why: 'its input schema has the type "array"' },
      { server: 'notes', tool: 'worse', why: expect.stringContaining('pattern') as string },
    ])
  })

  it('take no name by which another tool may be called, in whatever spelling', async () => {
    const { tools } = await open({ notes: fixture() }, { taken: ['Read-File', 'SEND'] })
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['add', 'notes_read_file', 'notes_send']))
    expect(tools.flatMap(({ name, aliases }) => [name, ...aliases.map((alias) => alias.name)])).not.toContain('read_file')
    // Control: otherwise they have it, and a call of the other tool reaches the server.
    const alone = await open({ notes: fixture() })
    expect(alone.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['read_file', 'send']))
  })

  it('two servers with the same tools both have them', async () => {
    const { tools } = await open({ a: fixture(), b: fixture() })
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['send', 'b_send']))
  })

  it('take their effect from the annotations only if those are trusted, and first of all from the person', async () => {
    const { tools } = await open({
      notes: fixture({ trustAnnotations: true, tools: { 'lo*': { effect: 'write' }, send: { retries: 2 } } }),
    })
    const of = (name: string) => tools.find((tool) => tool.name === name)
    expect([of('add')?.effect, of('send')?.effect, of('look')?.effect]).toEqual(['read', 'external', 'write'])
    expect(of('send')?.retries).toBe(2)
  })
})

it('results are untrusted content unless the person trusts them', async () => {
  const { tools } = await open({ a: fixture(), b: fixture({ trustResults: true }) })
  expect(tools.filter(({ name }) => /send/.test(name)).map(({ name, untrusted }) => [name, untrusted])).toEqual([
    ['send', true],
    ['b_send', false],
  ])
})

describe('a call', () => {
  it('is repaired, and its result is what the server says', async () => {
    const servers = await open({ notes: fixture() })
    expect(await run(servers, 'mcp__notes__add', { a: '1', b: 2 })).toMatchObject({ ok: true, content: '3', data: { sum: 1 } })
    expect(await run(servers, 'send', { text: 'image' })).toMatchObject({
      content: [
        { type: 'text', text: 'a dot' },
        { type: 'media', mediaType: 'image/png', data: 'iVBORw0KGgoA' },
      ],
    })
    expect(log()).toEqual(['start', 'send image'])
  })

  it('that the server can not make fails, and a wrong one can be corrected', async () => {
    const servers = await open({ notes: fixture() })
    expect(await run(servers, 'send', { text: 'refused' })).toMatchObject({ status: 'failed', error: 'The disk is full.' })
    expect(await run(servers, 'send', { text: 'wrong' })).toMatchObject({
      status: 'retry',
      error: expect.stringContaining('must not be') as string,
    })
    expect(await run(servers, 'send', {})).toMatchObject({ status: 'retry', errorType: 'validation' })
  })

  it('with effects that was cut off is indeterminate; the next one reaches a new server', async () => {
    const servers = await open({ notes: fixture() })
    expect(await run(servers, 'send', { text: 'die' })).toMatchObject({
      status: 'indeterminate',
      error: 'The MCP server notes did not finish send: exit code 3. It is not known whether it took effect.',
    })
    expect(await run(servers, 'send', { text: 'two' })).toMatchObject({ ok: true, content: 'send: two' })
    expect(log()).toEqual(['start', 'send die', 'start', 'send two'])
  })

  it('that only reads is made again after the server died', async () => {
    const servers = await open({ notes: fixture({ trustAnnotations: true }) })
    expect(await run(servers, 'look', { text: 'die' })).toMatchObject({ ok: false, status: 'unavailable' })
    expect(log().filter((line) => line === 'look die').length).toBeGreaterThan(1)
  }, 30_000)

  it('is given up after its time, and can be cancelled', async () => {
    const servers = await open({ notes: fixture({ tools: { look: { timeout: 0.2 } } }) })
    expect(await run(servers, 'look', { text: 'hang' })).toMatchObject({ status: 'indeterminate', errorType: 'timeout' })
    const stop = new AbortController()
    const running = run(servers, 'send', { text: 'hang' }, stop.signal)
    await vi.waitFor(() => expect(log()).toContain('send hang'), 10_000)
    stop.abort()
    expect(await running).toMatchObject({ status: 'indeterminate', errorType: 'cancelled' })
  })
})

describe('starting', () => {
  it('a server whose tools are known waits for the first call', async () => {
    await (await open({ notes: fixture() })).close()
    expect(log()).toEqual(['start'])
    const servers = await open({ notes: fixture() })
    expect([log(), servers.status()]).toEqual([['start'], [{ ...IDLE, state: 'idle' }]])
    expect(await run(servers, 'send', { text: 'one' })).toMatchObject({ ok: true })
    expect([log(), servers.status()]).toEqual([['start', 'start', 'send one'], [{ ...IDLE, state: 'running' }]])
  })

  it('opening starts no server and waits for none; what is closed before it had its time is not remembered', async () => {
    const servers = await open({ notes: fixture({}, 'silent') }, { wait: 3600, isReady: false })
    expect([log(), servers.status()]).toEqual([[], [{ ...IDLE, tools: 0, state: 'starting' }]])
    expect(servers.leftOut).toEqual([])
    const ready = servers.ready()
    await vi.waitFor(() => expect(log()).toEqual(['start']), 10_000)
    await servers.close()
    await ready
    await servers.ready()
    expect([log(), [...known]]).toEqual([['start'], []])
  })

  it('who needs the tools waits for a server that answers', async () => {
    const servers = await open({ notes: fixture({}, 'gate') }, { isReady: false })
    let isReady = false
    const ready = servers.ready().then(() => (isReady = true))
    await vi.waitFor(() => expect(log()).toEqual(['start']), 10_000)
    expect([isReady, servers.tools]).toEqual([false, []])
    writeFileSync(join(folder, 'log.open'), '')
    await ready
    expect(servers.tools.map(({ name }) => name)).toContain('send')
  })

  it('a silent server is waited for once, and holds up no other', async () => {
    const config = { silent: fixture({}, 'silent'), dead: fixture({ command: 'nothing' }), notes: fixture() }
    const first = await open(config, { wait: 2 })
    expect(first.tools.map(({ name }) => name)).toContain('send')
    expect(first.leftOut.filter(({ tool }) => tool === undefined)).toEqual([
      { server: 'silent', why: expect.stringContaining('has not listed its tools yet') as string },
      { server: 'dead', why: 'there is no program nothing in PATH' },
    ])
    // Would wait for an hour.
    const second = await open(config, { wait: 3600 })
    expect(second.status().map(({ name, state }) => [name, state])).toEqual([
      ['silent', 'starting'],
      ['dead', 'failed'],
      ['notes', 'idle'],
    ])
  })

  it('a program that fails is waited for once, and is there again when it works', async () => {
    const works = join(folder, 'works')
    const program = `require('node:fs').existsSync(${JSON.stringify(works)}) ? import(${JSON.stringify(SERVER)}) : process.exit(3)`
    const config = { notes: { command: process.execPath, args: ['-e', program, 'server', join(folder, 'log')] } }
    const first = await open(config)
    expect(first.leftOut).toEqual([{ server: 'notes', why: expect.stringContaining('3') as string }])
    writeFileSync(works, '')
    // Nobody waits for it.
    const second = await open(config, { wait: 3600 })
    expect(second.leftOut[0]?.why).toMatch(/has not listed its tools yet.*the last time: .*3/)
    await vi.waitFor(() => expect(second.tools.map(({ name }) => name)).toContain('send'), 10_000)
    expect((await open(config, { wait: 3600 })).status()).toEqual([{ ...IDLE, state: 'idle' }])
  })

  it('an older server that ends at a request it does not know is started again for the older handshake', async () => {
    const { tools } = await open({ notes: fixture({}, 'strict') })
    expect(tools.map(({ name }) => name)).toContain('send')
    expect(log()).toEqual(['start', 'start'])
  })

  it('what a server lists later is there at once, under names that stay, and at the next start', async () => {
    const servers = await open({ notes: fixture(), other: fixture() })
    const before = servers.tools.map(({ name }) => name)
    await run(servers, 'more', {})
    await vi.waitFor(() => expect(known.get('notes')?.tools).toHaveLength(11), 10_000)
    const after = servers.tools.map(({ name }) => name)
    expect(after.filter((name) => !before.includes(name))).toEqual(['added'])
    expect(before.filter((name) => !after.includes(name))).toEqual([])
    expect((await open({ notes: fixture() })).tools.map(({ name }) => name)).toContain('added')
  })

  it('replaces variables, and says which one is missing', async () => {
    const config = {
      notes: fixture({ command: '${NODE}', env: { A: '${B:-c}' } }),
      other: fixture({ headers: { A: 'Bearer ${KEY}' }, url: 'http://x' }),
    }
    const { leftOut, status } = await open(config, { env: { NODE: process.execPath } })
    expect(status()[0]?.state).toBe('running')
    expect(leftOut).toContainEqual({ server: 'other', why: 'the variable KEY is not set' })
  })
})

describe('questions of a server', () => {
  it('reach the person, field by field', async () => {
    const questions: unknown[] = []
    const answers = ['Green', '3', 'Yes', '2', '3', ' yes', '7']
    const ask: AskPerson = async (question, options) => {
      questions.push([question, options])
      return answers.shift()
    }
    const servers = await open({ notes: fixture() }, { ask })
    expect(await run(servers, 'ask', {})).toMatchObject({
      content: JSON.stringify({ action: 'accept', content: { color: 'g', count: 3, sure: true } }),
    })
    expect(questions).toEqual([
      ['notes asks: Which?\ncolor', ['Red', 'Green']],
      ['notes asks: Which?\nHow many?', undefined],
      ['notes asks: Which?\nsure', ['Yes', 'No']],
    ])
    // By the number that a choice is shown with, in any case of letters; what is none of them is no answer.
    expect(await run(servers, 'ask', {})).toMatchObject({
      content: JSON.stringify({ action: 'accept', content: { color: 'g', count: 3, sure: true } }),
    })
    expect(await run(servers, 'ask', {})).toMatchObject({ content: '{"action":"decline"}' })
  })

  it('are declined if the person gives no answer', async () => {
    const servers = await open({ notes: fixture() }, { ask: async () => undefined })
    expect(await run(servers, 'ask', {})).toMatchObject({ content: '{"action":"decline"}' })
  })
})

describe('the reference server', () => {
  const EVERYTHING = createRequire(import.meta.url)
    .resolve('@modelcontextprotocol/server-everything/package.json')
    .replace('package.json', 'dist/index.js')
  const everything = (more: Partial<McpServer> = {}): McpServer => ({ command: process.execPath, args: [EVERYTHING], ...more })
  const signal = AbortSignal.timeout(30_000)

  it('has resources, which the model lists and reads as untrusted content', async () => {
    const servers = await open({ everything: everything() })
    expect(servers.tools.find(({ name }) => name === READ_RESOURCE)).toMatchObject({ effect: 'read', untrusted: true })
    const uri = 'demo://resource/static/document/features.md'
    expect(await run(servers, READ_RESOURCE, { server: 'everything' })).toMatchObject({ content: expect.stringContaining(uri) as string })
    expect(await run(servers, 'read_resource', { server: 'everything', uri })).toMatchObject({
      content: expect.stringContaining('# Everything Server') as string,
    })
    expect(await run(servers, READ_RESOURCE, { server: 'everything', uri: uri.replace('features', 'feature') })).toMatchObject({
      ...{ status: 'retry', errorType: 'not_found', error: expect.stringContaining(`Did you mean ${uri}`) as string },
    })
    expect((await servers.resources('everything', signal)).map((one) => one.uri)).toContain(uri)
    const trusted = await open({ everything: everything({ trustResults: true }) })
    expect(trusted.tools.find(({ name }) => name === READ_RESOURCE)?.untrusted).toBe(false)
  }, 60_000)

  it('has prompts, with arguments by place or name', async () => {
    const servers = await open({ everything: everything() })
    const prompt = (name: string) => servers.prompts().find((one) => one.command === `mcp__everything__${name}`) as McpPrompt
    const text = async (name: string, typed: string) => (await servers.prompt(prompt(name), typed, signal)).text
    expect(await servers.prompt(prompt('simple-prompt'), '', signal)).toEqual({
      text: 'The prompt "simple-prompt" of the MCP server everything:\n\nThis is a simple prompt without arguments.',
      untrusted: true,
    })
    expect(await text('args-prompt', '"New York"')).toContain('weather in New York?')
    expect(await text('args-prompt', 'Austin Texas')).toContain('weather in Austin, Texas?')
    expect(await text('args-prompt', 'state=Texas Austin')).toContain('weather in Austin, Texas?')
    expect(await text('resource-prompt', 'Text 1')).toContain('Resource 1')
    await expect(text('args-prompt', '')).rejects.toThrow('/mcp__everything__args-prompt CITY [STATE]: city is missing')
  }, 60_000)
})

it('a server that wants the model or the folders is told that it does not get them', async () => {
  const servers = await open({ notes: fixture() })
  expect(await run(servers, 'send', { text: 'sample' })).toMatchObject({
    content: expect.stringContaining('sampling is not supported') as string,
  })
})
