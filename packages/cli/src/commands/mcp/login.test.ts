/** `mulligan mcp login` and `logout`, with the real command and a strict authorization server. */
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LoginFixture, loginFixture } from '../../../../mcp/src/oauth/authorization-server.fixture.ts'
import { BIN, type CliFixture, place, type Running } from '../../../test/cli.fixture.ts'

const OWN = '../.config/mulligan/config.json'

let server: LoginFixture
beforeEach(async () => {
  server = await loginFixture()
})
afterEach(() => server[Symbol.asyncDispose]())

function configured(): CliFixture {
  const here = place()
  here.write(OWN, JSON.stringify({ mcpServers: { notes: { url: server.url }, post: { command: 'post' } } }))
  return here
}

/** The address that the command shows. */
function shown({ child }: Running): Promise<URL> {
  let text = ''
  return new Promise((resolve) =>
    child.stderr.on('data', (chunk) => {
      text += String(chunk)
      const [, address] = /^ {2}(http\S+)\n/m.exec(text) ?? []
      if (address !== undefined) resolve(new URL(address))
    }),
  )
}

async function logIn(here: CliFixture, args: readonly string[] = ['notes']) {
  const running = here.start(['mcp', 'login', ...args, '--no-browser'], { stdin: { open: true } })
  await server.browse(await shown(running))
  return running.ended
}

describe('mcp login', () => {
  it('keeps the tokens in a file of the user, and no output has one', async () => {
    using here = configured()
    const before = await here.run(['mcp', 'test', 'notes'])
    expect(before).toMatchObject({ code: 1, stdout: expect.stringContaining('it needs a login: `mulligan mcp login notes`') })
    const { code, stdout, stderr } = await logIn(here)
    expect([code, stdout]).toEqual([0, `Logged in to notes by ${server.issuer} (notes).\n`])
    const file = join(here.data, 'mcp-credentials.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const after = await here.run(['mcp', 'test', 'notes'])
    expect(after).toMatchObject({ code: 0, stdout: '✓ notes: 1 tool\n' })
    expect(stdout + stderr + after.stdout + after.stderr).not.toMatch(/access-|refresh-/)
    chmodSync(file, 0o644)
    await here.run(['mcp', 'test', 'notes'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await here.run(['mcp', 'logout', 'notes'])).toMatchObject({ code: 0, stdout: 'Logged out of notes.\n' })
    expect(server.requests.at(-1)).toBe('/revoke')
    expect(await here.run(['mcp', 'logout', 'notes'])).toMatchObject({ code: 0, stdout: 'You were not logged in to notes.\n' })
    expect((await here.run(['mcp', 'test', 'notes'])).code).toBe(1)
    await logIn(here)
    expect(server.requests.filter((one) => one === '/register')).toHaveLength(1)
  }, 60_000)

  it('opens the browser with the address as one argument', async () => {
    using here = configured()
    const open = join(here.root, 'xdg-open')
    writeFileSync(open, `#!${process.execPath}\nfetch(process.argv[2]).then((r) => r.text())`, { mode: 0o755 })
    const env = { PATH: `${here.root}:${process.env['PATH']}`, DISPLAY: ':9' }
    const { code, stderr } = await here.start(['mcp', 'login', 'notes'], { env, stdin: { open: true } }).ended
    expect([code, stderr]).toEqual([0, expect.stringContaining('The browser shows the login.')])
  }, 60_000)

  it('takes an address that was pasted, by a person whose browser is elsewhere', async () => {
    using here = configured()
    const running = here.start(['mcp', 'login', 'notes', '--no-browser', '--json'], { stdin: { open: true } })
    const response = await fetch(await shown(running), { redirect: 'manual' })
    running.child.stdin.write(`what?\n${response.headers.get('location')}\n`)
    const { code, stdout, stderr } = await running.ended
    expect([code, JSON.parse(stdout)]).toEqual([0, { url: server.url, issuer: server.issuer, scope: 'notes' }])
    expect(stderr).toContain('That is not the address.')
  }, 60_000)

  it('says why it failed, and can be stopped', async () => {
    using here = configured()
    server.faults.denies = true
    expect(await logIn(here)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('you are not logged in to notes: The person said no.'),
    })
    const running = here.start(['mcp', 'login', 'notes', '--no-browser'], { stdin: { open: true } })
    await shown(running)
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({ code: 130 })
  }, 60_000)

  it.each([
    ['nobody', 'there is no MCP server "nobody"'],
    ['post', 'Logins are for servers with a url.'],
  ])('is refused for %s', async (name, says) => {
    using here = configured()
    expect(await here.run(['mcp', 'login', name])).toMatchObject({ code: 2, stderr: expect.stringContaining(says) })
  })

  it('says that the file is damaged', async () => {
    using here = configured()
    here.write('../data/x', '')
    writeFileSync(join(here.data, 'mcp-credentials.json'), '{"logins":')
    expect(await here.run(['mcp', 'logout', 'notes'])).toMatchObject({ code: 2, stderr: expect.stringContaining('is damaged') })
  })
})

it('the proxy uses the login for an address', async () => {
  using here = configured()
  await logIn(here, [server.url])
  const client = new Client({ name: 'test', version: '1.0.0' })
  const env = { PATH: process.env['PATH'] ?? '', HOME: here.root, MULLIGAN_DATA_DIR: here.data }
  const args = [BIN, 'mcp', 'proxy', '--url', server.url]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }))
  const { content } = await client.callTool({ name: 'list_notes', arguments: {} })
  expect(content).toMatchObject([{ text: 'two notes Bearer [secret]' }])
  await client.close()
}, 60_000)
