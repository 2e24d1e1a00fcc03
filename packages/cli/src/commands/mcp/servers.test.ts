/** MCP servers as tools of the agent, with the real command and a real server. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { call, type ScriptedTurn, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { type CliFixture, place, trusted, using } from '../../../test/cli.fixture.ts'
import { testedText } from './servers.ts'

const SERVER = fileURLToPath(new URL('server.fixture.ts', import.meta.url))
const OWN = '../.config/mulligan/config.json'

/** The command of a server that writes what it was asked to send to `sent.txt`. */
const command = (here: CliFixture): string[] => [process.execPath, SERVER, join(here.dir, 'sent.txt')]
const config = (here: CliFixture, more: object = {}): string => {
  const [program, ...args] = command(here)
  return JSON.stringify({ mcpServers: { post: { command: program, args, ...more } } })
}

async function turn(here: CliFixture, calls: readonly ScriptedTurn[], flags: readonly string[] = []) {
  await using model = await scriptedModel([...calls, say('Done.')])
  const { code, stdout, stderr } = await here.start(['Do it.', '--json', ...flags, ...using(model)]).ended
  const outcome = JSON.parse(stdout) as { calls: { tool: string; result: { ok: boolean; status?: string; content?: unknown } }[] }
  return {
    code,
    stderr,
    results: outcome.calls.map(({ result }) => (result.ok ? 'ok' : result.status)),
    sent: JSON.stringify(model.requests),
  }
}

describe('in a turn', () => {
  it('calls of a server are effects: they ask, are repaired, and are in the record', async () => {
    using here = place()
    here.write(OWN, config(here))
    expect(await turn(here, [call('send', { text: 'one' })])).toMatchObject({ code: 4, results: ['denied'] })
    expect(here.has('sent.txt')).toBe(false)
    const calls = [call('mcp__post__send', { text: 2 }), call('add', { a: '1', b: 2 })]
    expect(await turn(here, calls, ['--yes'])).toMatchObject({ results: ['ok', 'denied'] })
    expect(here.read('sent.txt')).toBe('2\n')
  }, 60_000)

  it('after a result of a server the next effect asks, whatever --yes says, unless its results are trusted', async () => {
    using here = place()
    here.write(OWN, config(here, { trustResults: true }))
    const calls = [call('send', { text: 'one' }), call('add', { a: 1, b: 2 }), call('send', { text: 'two' })]
    expect(await turn(here, calls, ['--yes'])).toMatchObject({ code: 0, results: ['ok', 'ok', 'ok'] })
    here.write(OWN, config(here))
    expect(await turn(here, calls, ['--yes'])).toMatchObject({ results: ['ok', 'denied', 'denied'] })
  }, 60_000)

  it('what only reads by the person’s word runs unasked', async () => {
    using here = place()
    here.write(OWN, config(here, { tools: { add: { effect: 'read' } } }))
    expect(await turn(here, [call('add', { a: 1, b: 2 })])).toMatchObject({ code: 0, results: ['ok'] })
  }, 60_000)

  it('the values of its variables do not reach the model', async () => {
    using here = place()
    here.write(OWN, config(here, { env: { API_KEY: 'a-key-of-the-server' }, tools: { environment: { effect: 'read' } } }))
    const { results, sent } = await turn(here, [call('environment', {})])
    expect([results, sent.includes('API_KEY'), sent.includes('a-key-of-the-server')]).toEqual([['ok'], true, false])
  }, 60_000)

  it('a server that can not be used costs nothing but its tools, and is named', async () => {
    using here = place()
    here.write(OWN, JSON.stringify({ mcpServers: { gone: { command: 'no-such-program' } } }))
    const { code, stderr } = await turn(here, [])
    expect([code, stderr]).toEqual([0, expect.stringContaining('the MCP server gone: there is no program no-such-program in PATH')])
  }, 60_000)
})

describe('a server that a project names', () => {
  it('is started only after the folder was trusted, and again only with the same command', async () => {
    using here = place()
    here.write('mulligan.json', config(here))
    const starts = [call('add', { a: 1, b: 2 })]
    expect(await turn(here, starts, ['--yes'])).toMatchObject({ results: ['retry'], stderr: expect.stringContaining('mulligan trust') })
    expect((await here.run(['trust', '--yes'])).code).toBe(0)
    expect(await turn(here, starts, ['--yes'])).toMatchObject({ results: ['ok'] })
    here.write('mulligan.json', config(here, { cwd: '/' }))
    expect(await turn(here, starts, ['--yes'])).toMatchObject({ results: ['retry'] })
  }, 60_000)
})

describe('commands', () => {
  it('add, list, test and remove', async () => {
    using here = place()
    expect(await here.run(['mcp'])).toMatchObject({ code: 0, stdout: expect.stringContaining('There are no MCP servers.') })
    const added = await here.start(['mcp', 'add', 'post', '--env', 'MODE=strict', '--', ...command(here)]).ended
    expect(added).toMatchObject({ code: 0, stdout: '✓ post: 3 tools\n', stderr: expect.stringContaining('Added post to ') })
    expect(JSON.parse(here.read(OWN))).toMatchObject({ mcpServers: { post: { command: process.execPath, env: { MODE: 'strict' } } } })
    expect((await here.run(['mcp', 'list'])).stdout).toMatch(/^post .*config\.json$/m)
    expect((await here.run(['config', 'show', '--json'])).stdout).not.toContain('strict')
    const listed = JSON.parse((await here.start(['tools', 'list', '--json']).ended).stdout) as { tools: { name: string; source: string }[] }
    expect(listed.tools.filter(({ source }) => source === 'mcp post').map(({ name }) => name)).toEqual(['environment', 'add', 'send'])
    expect((await here.run(['mcp', 'remove', 'post'])).code).toBe(0)
    expect(await here.run(['mcp', 'test', 'post'])).toMatchObject({ code: 2, stderr: expect.stringContaining('no MCP server "post"') })
  }, 60_000)

  it('a variable that is named without a value stays in the environment', async () => {
    using here = place()
    await here.start(['mcp', 'add', 'post', '--env', 'KEY', '--', ...command(here)], { env: { KEY: 'from-outside' } }).ended
    expect(JSON.parse(here.read(OWN))).toMatchObject({ mcpServers: { post: { env: { KEY: '$' + '{KEY}' } } } })
    expect(await here.start(['mcp', 'test']).ended).toMatchObject({ code: 1, stdout: '✗ post: the variable KEY is not set\n' })
  }, 60_000)

  it.each<[readonly string[], string]>([
    [['mcp', 'add', 'post'], 'mcp add needs a server'],
    [['mcp', 'add', 'a b', '--url', 'http://localhost/mcp'], 'A name has letters'],
    [['mcp', 'add', 'post', '--url', 'http://localhost/mcp', '--header', 'nothing'], 'is not a header'],
  ])('%j: %s', async (args, says) => {
    using here = place()
    expect(await here.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(says) })
    expect(here.has(OWN)).toBe(false)
  })

  it('doctor names each server', async () => {
    using here = place()
    const { mcpServers } = JSON.parse(config(here)) as { mcpServers: object }
    here.write(OWN, JSON.stringify({ mcpServers: { ...mcpServers, gone: { command: 'no-such-program' } } }))
    const { stdout } = await here.start(['doctor']).ended
    expect(stdout).toMatch(/✓ mcp +post: 3 tools/)
    expect(stdout).toMatch(/! mcp +gone: there is no program no-such-program in PATH\n.*mulligan mcp test gone/)
  }, 60_000)
})

it('a folder that was trusted before it named a server asks again', async () => {
  using here = trusted(place())
  here.write('mulligan.json', config(here))
  expect(await turn(here, [call('add', { a: 1, b: 2 })], ['--yes'])).toMatchObject({ results: ['retry'] })
}, 60_000)

it('a server that never answers is told as that, with what to check', () => {
  const status = { name: 'post', tools: 0, prompts: 0, hasResources: false }
  expect(testedText({ ...status, state: 'starting' })).toMatch(/^✗ post: it did not answer in 60 s: check that /)
  expect(testedText({ ...status, state: 'running', tools: 2 })).toBe('✓ post: 2 tools')
})
