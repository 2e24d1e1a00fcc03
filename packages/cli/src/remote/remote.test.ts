/** `mulligan run` against a real server. */
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { AgentEvent } from '@mulligan/agent'
import { type ServeOptions, type Server, serve } from '@mulligan/server'
import { call, type ScriptedModel, type ScriptedTurn, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { type CliFixture, place, type StartOptions } from '../../test/cli.fixture.ts'
import { ASKS, hasTerminal, inTerminal, typeInTerminal } from '../../test/terminal.fixture.ts'
import { version } from '../paths.ts'

const WRITE = call('write_file', { path: 'a.txt', content: 'hello\n' })

interface Far extends AsyncDisposable {
  readonly here: CliFixture
  readonly server: Server
  readonly model: ScriptedModel
  /** Runs the command against the server. */
  readonly run: (args: readonly string[], options?: StartOptions) => ReturnType<CliFixture['run']>
  readonly api: (path: string, body?: object) => Promise<unknown>
}

/** A server with a home of its own, as on another machine, and a folder that both see. */
async function far(turns: readonly ScriptedTurn[], options: Partial<ServeOptions> = {}): Promise<Far> {
  const here = place()
  const model = await scriptedModel(turns)
  const home = join(here.root, 'server')
  mkdirSync(home)
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, MULLIGAN_MODEL: 'any', MULLIGAN_BASE_URL: model.url }
  const server = await serve({ env, port: 0, version: version(), ...options })
  const variables = { MULLIGAN_SERVER: server.url, MULLIGAN_TOKEN: server.token }
  return {
    ...{ here, server, model },
    run: (args, more = {}) => here.run(args, { ...more, env: { ...variables, ...more.env } }),
    api: async (path, body) => {
      const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
      const response = await fetch(`${server.url}/api${path}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
      return response.json()
    },
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await model.close()
      here[Symbol.dispose]()
    },
  }
}

it('runs a turn there and prints it here, as text and as JSON', async () => {
  await using there = await far([call('list_dir', {}), say('Nothing here.'), say('Two.'), say('Three.')])
  const text = await there.run(['What is here?'])
  expect(text).toMatchObject({ code: 0, stdout: 'Nothing here.\n' })
  expect(text.stderr).toMatch(/list_dir/)
  const json = JSON.parse((await there.run(['--last', 'more', '--json'])).stdout)
  expect(json).toMatchObject({ status: 'answered', answer: 'Two.', calls: [], ledger: { changed: [] } })
  const lines = (await there.run(['--session', json.sessionId.slice(0, 15), 'more', '--json-stream'])).stdout.trim().split('\n')
  const events = lines.map((line) => JSON.parse(line) as AgentEvent | { type: 'result' })
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['turn.started', 'message.completed', 'turn.ended']))
  expect(events.at(-1)).toMatchObject({ type: 'result', answer: 'Three.', turnId: `${json.sessionId}/3` })
  expect(there.here.has('../data/store.db')).toBe(false)
})

it('has the records of calls, and --yes allows what the server asks', async () => {
  await using there = await far([WRITE, say('Written.')])
  const { code, stdout } = await there.run(['Write.', '--yes', '--json'])
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { calls: [{ tool: 'write_file', result: { ok: true } }], answer: 'Written.' }])
  expect(there.here.has('a.txt')).toBe(true)
})

it('without a terminal a question waits for whoever can answer it, and the turn goes on after that', async () => {
  await using there = await far([WRITE, say('Not written.')])
  const asked = await there.run(['Write.'])
  expect([asked.code, asked.stderr]).toEqual([4, expect.stringContaining(`It waits for approval: ${there.server.url}/#/s/`)])
  const { approvals } = (await there.api('/approvals')) as { approvals: { id: string; sessionId: string }[] }
  const resumed = await there.run(['--last', '--json'])
  expect([resumed.code, JSON.parse(resumed.stdout).status]).toEqual([4, 'waiting'])
  await there.api(`/approvals/${approvals[0]?.id}`, { answer: 'no' })
  // It has ended by now, or is followed to its end.
  expect([0, 2]).toContain((await there.run(['--last', '--json'])).code)
})

it('Ctrl-C stops the turn on the server', async () => {
  await using there = await far([{ text: ['So far ', 'no further'], fault: { hang: 3 } }])
  const { child, ended } = there.here.start(['Go.', '--json'], {
    env: { MULLIGAN_SERVER: there.server.url, MULLIGAN_TOKEN: there.server.token },
  })
  await there.model.arrived(1)
  child.kill('SIGINT')
  const { code, stdout } = await ended
  expect([code, JSON.parse(stdout).status]).toEqual([130, 'cancelled'])
  const { sessions } = (await there.api('/sessions')) as { sessions: object[] }
  expect(sessions).toMatchObject([{ status: 'idle' }])
})

describe('says what is wrong', () => {
  const failure = async (there: Far, args: readonly string[], env: Record<string, string> = {}) => {
    const { code, stderr } = await there.run(args, { env })
    return [code, stderr.split('\n')[0]]
  }

  it('with the server: unreachable, the token, another version, something else', async () => {
    await using there = await far([])
    expect(await failure(there, ['Go.'], { MULLIGAN_SERVER: 'http://127.0.0.1:1' })).toEqual([
      2,
      expect.stringContaining("can't be reached"),
    ])
    expect(await failure(there, ['Go.', '--server', 'ftp://x'])).toEqual([2, expect.stringContaining('not the address of a server')])
    expect(await failure(there, ['Go.'], { MULLIGAN_TOKEN: 'x'.repeat(20) })).toEqual([2, expect.stringContaining('refuses the token')])
    expect(await failure(there, ['Go.'], { MULLIGAN_TOKEN: '' })).toEqual([2, expect.stringContaining('needs a token')])
    const own = { MULLIGAN_TOKEN: '', MULLIGAN_SERVER: 'http://example.invalid:4711' }
    expect(await failure(there, ['Go.'], own)).toEqual([2, expect.stringContaining('needs a token')])
    expect(await failure(there, ['Go.'], { MULLIGAN_SERVER: there.model.url })).toEqual([
      2,
      expect.stringContaining('not a Mulligan server'),
    ])
    await using old = await far([], { version: '0.0.9' })
    expect(await failure(old, ['Go.'])).toEqual([2, expect.stringContaining('is Mulligan 0.0.9, and this command is')])
  })

  it('with what is asked of it: folder, session, flags', async () => {
    await using there = await far([say('One.')])
    expect(await failure(there, ['Go.', '--cwd', 'nothing'])).toEqual([2, expect.stringContaining('nothing is not a folder on the server')])
    expect(await failure(there, ['Go.', '--session', '1999'])).toEqual([2, expect.stringContaining('no session')])
    expect(await failure(there, ['Go.', '--timeout', '5'])).toEqual([2, expect.stringContaining("--timeout can't")])
    await there.run(['Go.'])
    expect(await failure(there, ['--last'])).toEqual([2, expect.stringContaining('nothing to resume')])
    expect(await failure(there, ['Go.', '--last', '--model', 'other'])).toEqual([2, expect.stringContaining("--model can't be changed")])
  })
})

it('sends its own token to this machine only', async () => {
  const seen: (string | undefined)[] = []
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response.end('{}')
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  await using there = await far([say('With the token of the file.')])
  const own = await serve({ env: { HOME: there.here.root, MULLIGAN_DATA_DIR: there.here.data }, port: 0, version: version() })
  const { port } = other.address() as AddressInfo
  const { stderr } = await there.run(['Go.'], { env: { MULLIGAN_TOKEN: '', MULLIGAN_SERVER: `http://[::ffff:127.0.0.1]:${port}` } })
  expect([stderr, seen]).toEqual([expect.stringContaining('needs a token'), []])
  expect((await there.run(['Go.'], { env: { MULLIGAN_TOKEN: '', MULLIGAN_SERVER: own.url } })).stderr).not.toContain('token')
  await own.close()
  other.close()
})

it('sends a token over a network only with TLS, or if it is told to', async () => {
  await using there = await far([say('One.')])
  // Not a name of this machine: to the command, it is somewhere on the network.
  const seen: string[] = []
  const other = createServer((request, response) => {
    seen.push(String(request.headers.authorization))
    response.statusCode = request.url === '/health' ? 200 : 401
    response.end(JSON.stringify({ status: 'ok', version: version() }))
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const to = (port: number) => ({ MULLIGAN_SERVER: `http://[::ffff:127.0.0.1]:${port}` })
  const { port } = other.address() as AddressInfo
  for (const args of [['Go.'], ['logs']]) {
    const { code, stderr } = await there.run(args, { env: to(port) })
    expect([code, stderr]).toEqual([2, expect.stringMatching(/unencrypted[\s\S]*--insecure, or MULLIGAN_INSECURE=1/)])
  }
  expect(seen).toEqual([])
  // Control: told to, it is sent.
  await there.run(['Go.', '--insecure'], { env: to(port) })
  await there.run(['Go.'], { env: { ...to(port), MULLIGAN_INSECURE: '1' } })
  expect(seen.length).toBeGreaterThan(1)
  expect(seen).toContain(`Bearer ${there.server.token}`)
  other.close()
})

it('prints the events of a session there, and follows them', async () => {
  await using there = await far([say('One.'), say('Two.')])
  await there.run(['Go.'])
  const printed = await there.run(['logs', '--json'])
  const events = printed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AgentEvent)
  expect([printed.code, events.at(-1)?.type, events.map(({ id }) => id)]).toEqual([0, 'turn.ended', events.map((_, at) => at + 1)])
  const { child, ended } = there.here.start(['logs', '--follow', '--after', String(events.at(-1)?.id)], {
    env: { MULLIGAN_SERVER: there.server.url, MULLIGAN_TOKEN: there.server.token },
  })
  const isTold = new Promise<void>((resolve) => child.stdout.on('data', (piece: string) => piece.includes('Two.') && resolve()))
  await there.run(['--last', 'More.'])
  await isTold
  child.kill('SIGINT')
  expect((await ended).code).toBe(130)
  expect(await there.run(['logs', 'unknown'])).toMatchObject({ code: 2 })
})

it.skipIf(!hasTerminal)('chats line by line, answers a question, and leaves what it may not', async () => {
  await using there = await far([say('Hello.'), WRITE, say('Written.')])
  const env = { MULLIGAN_SERVER: there.server.url, MULLIGAN_TOKEN: there.server.token }
  const typed = [
    ['> ', 'Hi\r'],
    ['> ', 'Write.\r'],
    [ASKS, 'n not now\r'],
    ['> ', '/exit\r'],
  ] as const
  const { code, stdout } = await typeInTerminal(there.here, ['chat'], typed, env)
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/Hello\.[\s\S]*openai-compatible\/any[\s\S]*\+ hello[\s\S]*Written\.[\s\S]*To go on: mulligan chat --session/),
  ])
  expect([there.here.has('a.txt'), JSON.stringify(there.model.requests.at(-1)?.body)]).toEqual([false, expect.stringContaining('not now')])
})

it.skipIf(!hasTerminal)('asks in the terminal what would be done, and answers for the person', async () => {
  await using there = await far([WRITE, say('Written.')])
  const env = { MULLIGAN_SERVER: there.server.url, MULLIGAN_TOKEN: there.server.token }
  const { code, stdout } = await inTerminal(there.here, there.model, [[ASKS, 'y\r']], [], env)
  expect([code, stdout]).toEqual([0, expect.stringContaining('+hello')])
  expect(there.here.has('a.txt')).toBe(true)
})
