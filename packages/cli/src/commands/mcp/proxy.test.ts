/** The proxy as people run it: a process between a client and a real server. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type CliFixture, endOf, place, type Running } from '../../../test/cli.fixture.ts'
import { type McpClient, mcpClient, textOf } from '../../../test/mcp-client.fixture.ts'

const SERVER = fileURLToPath(new URL('server.fixture.ts', import.meta.url))
const packageFile = (path: string): string => createRequire(import.meta.url).resolve(`@modelcontextprotocol/${path}`)

const proxied = (here: CliFixture, flags: readonly string[], command: readonly string[], env: Record<string, string> = {}): Running =>
  here.start(['mcp', 'proxy', ...flags, '--', process.execPath, ...command], { stdin: { open: true }, env })

const sentBy = (here: CliFixture): string[] => (here.has('sent.txt') ? here.read('sent.txt').trim().split('\n') : [])

const isAlive = (pid: number): boolean => {
  try {
    // A process that has ended and was not waited for has no command line.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
  } catch {
    return false
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10))
}

describe('in front of the reference server', () => {
  it('healthy calls are answered byte for byte as without it', async () => {
    using here = place()
    const everything = [packageFile('server-everything/dist/index.js'), 'stdio']
    const conversation = async (client: McpClient): Promise<string[]> => {
      const lines = [await client.line('tools/list'), await client.line('resources/list'), await client.line('prompts/list')]
      for (const [name, args] of [
        ['echo', { message: 'Grüße 👋' }],
        ['get-sum', { a: 2, b: 0.5 }],
        ['get-structured-content', { location: 'New York' }],
        ['get-tiny-image', {}],
        ['get-annotated-message', { messageType: 'error', includeImage: true }],
        ['get-resource-links', { count: 2 }],
      ] as const)
        lines.push(await client.line('tools/call', { name, arguments: args }))
      await client.end()
      return lines
    }
    const child = spawn(process.execPath, everything, { cwd: here.dir, stdio: 'pipe' })
    const direct = await conversation(await mcpClient({ child, ended: endOf(child) }))
    const through = await conversation(await mcpClient(proxied(here, [], everything)))
    expect(through).toEqual(direct)
    expect(direct.filter((line) => line.includes('"isError":true'))).toEqual([])
  }, 60_000)

  it('a wrong call is repaired, or told what to correct', async () => {
    using here = place({ 'a.txt': 'one\ntwo\n' })
    const files = [packageFile('server-filesystem/dist/index.js'), here.dir]
    const client = await mcpClient(proxied(here, ['--report'], files))
    expect(textOf(await client.call('read_text_file', { path: 'a.txt', head: '1' }))).toContain('one')
    expect(textOf(await client.call('read_txt_file', { path: 'a.txt' }))).toContain('read_text_file')
    const { stderr, code } = await client.end()
    expect(code).toBe(0)
    expect(stderr).toMatch(/2 calls\n.*1 {2}succeeded/)
    expect(stderr).toMatch(/1 {2}repaired: /)
  }, 60_000)
})

describe('its environment', () => {
  const env = { MY_TOKEN: 'a-secret-of-mine', LANG: 'C.UTF-8' }

  it('has no variable of ours that is not needed', async () => {
    using here = place()
    const client = await mcpClient(proxied(here, [], [SERVER, join(here.dir, 'sent.txt')], env))
    const seen = JSON.parse(textOf(await client.call('environment'))) as Record<string, string>
    await client.end()
    expect(seen).toMatchObject({ LANG: 'C.UTF-8', PATH: expect.anything() })
    expect(Object.keys(seen).filter((name) => /TOKEN|MULLIGAN/.test(name))).toEqual([])
  })

  it('has those that the person names, and their values do not get back to the client or into the record', async () => {
    using here = place()
    const flags = ['--env', 'MY_TOKEN', '--env', 'OTHER_KEY=another-secret', '--record', 'record.jsonl']
    const client = await mcpClient(proxied(here, flags, [SERVER, join(here.dir, 'sent.txt')], env))
    const told = textOf(await client.call('environment'))
    expect(JSON.parse(told)).toMatchObject({ MY_TOKEN: '[secret]', OTHER_KEY: '[secret]' })
    await client.call('send', { text: 'a-secret-of-mine' })
    await client.end()
    expect(sentBy(here)).toEqual(['a-secret-of-mine'])
    expect(here.read('record.jsonl')).toContain('"tool":"send"')
    expect(here.read('record.jsonl')).not.toContain('a-secret-of-mine')
  })
})

describe('a call with effects that was cut off', () => {
  const text = 'and hang'
  const start = (here: CliFixture, flags: readonly string[] = []): Promise<McpClient> =>
    mcpClient(proxied(here, flags, [SERVER, join(here.dir, 'sent.txt')]))

  it('by a kill of the proxy is not made again by the next, until the person allows it', async () => {
    using here = place()
    const first = proxied(here, [], [SERVER, join(here.dir, 'sent.txt')])
    const client = await mcpClient(first)
    const cut = client.call('send', { text }).catch(() => undefined)
    await until(() => sentBy(here).length === 1)
    first.child.kill('SIGKILL')
    await cut

    const second = await start(here)
    const held = await second.call('send', { text })
    expect(textOf(held)).toMatch(/was cut off at .*so it was not made again[\s\S]*mulligan mcp resolve 1/)
    expect(textOf(await second.call('send', { text: 'another' }))).toBe('Sent.')
    await second.end()
    expect(sentBy(here)).toEqual([text, 'another'])

    expect((await here.run(['mcp', 'resolve'])).stdout).toMatch(/ID.*\n1 .*send/)
    expect(await here.run(['mcp', 'resolve', '7'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('mcp resolve lists such calls'),
    })
    expect(await here.run(['mcp', 'resolve', '1'])).toMatchObject({ code: 0, stdout: expect.stringContaining('may be called') })
    expect((await here.run(['mcp', 'resolve', '--json'])).stdout).toContain('"calls":[]')
    const third = await start(here, ['--timeout', '1'])
    expect(textOf(await third.call('send', { text }))).toMatch(/did not finish send: it gave no answer in 1 s/)
    await third.end()
    expect(sentBy(here)).toEqual([text, 'another', text])
  }, 60_000)
})

describe('processes', () => {
  it.skipIf(process.platform !== 'linux')(
    'none is left when the client goes, even if the server and its children do not want to end',
    async () => {
      using here = place()
      const client = await mcpClient(proxied(here, [], [SERVER, join(here.dir, 'sent.txt'), 'stays']))
      const [server = 0, child = 0] = (sentBy(here)[0] ?? '').split(' ').map(Number)
      expect([isAlive(server), isAlive(child)]).toEqual([true, true])
      expect(await client.end()).toMatchObject({ code: 0 })
      expect([isAlive(server), isAlive(child)]).toEqual([false, false])
    },
    60_000,
  )

  it.skipIf(process.platform !== 'linux')(
    'a server that was killed is started again',
    async () => {
      using here = place()
      const client = await mcpClient(proxied(here, ['--report'], [SERVER, join(here.dir, 'sent.txt'), 'stays']))
      const [server = 0] = (sentBy(here)[0] ?? '').split(' ').map(Number)
      process.kill(server, 'SIGKILL')
      expect(textOf(await client.call('add', { a: 1, b: 2 }))).toBe('3')
      expect((await client.end()).stderr).toContain('the server ended (signal SIGKILL)')
    },
    60_000,
  )
})

describe('what can not work is said at once', () => {
  it.each([
    [['mcp', 'proxy'], 'mcp proxy needs a server'],
    [['mcp', 'proxy', '--url', 'http://127.0.0.1:1/mcp', '--', 'node'], 'mcp proxy needs a server'],
    [['mcp', 'proxy', '--', 'no-such-program-here'], 'there is no program "no-such-program-here" in PATH'],
    [['mcp', 'proxy', '--url', 'localhost:3000'], 'is not the address of a server'],
    [['mcp', 'proxy', '--url', 'http://127.0.0.1:1/', '--header', 'nonsense'], 'is not a header'],
    [['mcp', 'proxy', '--env', 'NOT_SET_AT_ALL', '--', 'node'], 'the variable NOT_SET_AT_ALL is not set'],
    [['mcp', 'proxy', '--record', '/no/such/folder/x', '--', 'node'], "/no/such/folder/x can't be written"],
  ])('%j', async (args, message) => {
    using here = place()
    expect(await here.run(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
  })

  it('a server that does not start answers every request', async () => {
    using here = place()
    const running = proxied(here, ['--restarts', '0'], ['-e', 'process.stderr.write("no database\\n"); process.exit(3)'])
    await expect(mcpClient(running).then((client) => client.line('tools/list'))).resolves.toMatch(/exit code 3.*no database/)
    running.child.stdin.end()
    expect(await running.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('no database') })
  })
})

it('observing changes nothing, and reports what would have been done', async () => {
  using here = place()
  const client = await mcpClient(proxied(here, ['--observe'], [SERVER, join(here.dir, 'sent.txt')]))
  expect(textOf(await client.call('add', { a: '1', b: '2' }))).toBe('12')
  const { stderr } = await client.end()
  expect(stderr).toMatch(/1 call; nothing was changed, this is what would have been done\n[\s\S]*repaired: /)
  expect(existsSync(join(here.data, 'mcp-calls.db'))).toBe(false)
})
