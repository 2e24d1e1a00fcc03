/** Logins with a strict authorization server, and the tokens in use with the protocol's official client. */
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { createExecutor } from '@mulligan/core/executor'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type McpServers, openMcpServers } from '../use/servers.ts'
import { type LoginFixture, loginFixture } from './authorization-server.fixture.ts'
import { type CredentialStore, type Credentials, NO_CREDENTIALS } from './credentials.ts'
import { type LoginOptions, logIn, logOut } from './login.ts'

let here: LoginFixture
let stored: Credentials = NO_CREDENTIALS
let opened: McpServers[] = []

beforeEach(async () => {
  here = await loginFixture()
  stored = NO_CREDENTIALS
})
afterEach(async () => {
  await Promise.all(opened.map(({ close }) => close()))
  opened = []
  await here[Symbol.asyncDispose]()
})

let waiting: Promise<unknown> = Promise.resolve()
const store: CredentialStore = {
  read: async () => stored,
  change(change) {
    const done = waiting.then(async () => {
      stored = await change(stored)
    })
    waiting = done.catch(() => undefined)
    return done
  },
}

function login(more: Partial<LoginOptions> = {}): Promise<{ issuer: string; scope?: string | undefined }> {
  return logIn({ url: here.url, store, open: (address) => void here.browse(address), signal: new AbortController().signal, ...more })
}

async function open(url = here.url, headers?: Record<string, string>): Promise<McpServers> {
  const servers = openMcpServers(
    { notes: { url, ...(headers && { headers }), tools: { '*': { effect: 'read' } } } },
    {
      ...{ cwd: tmpdir(), env: {}, taken: [], wait: 30, version: '1', spawn, credentials: store },
      cache: { get: () => undefined, set: () => undefined },
      environment: () => ({}),
      resolve: () => undefined,
    },
  )
  opened.push(servers)
  await servers.ready()
  return servers
}

async function call({ tools }: McpServers) {
  const executor = createExecutor({ tools, policy: () => ({ decision: 'allow', reason: '' }) })
  const prepared = await executor.prepare({ id: 'session/turn/1/0', step: 1, ordinal: 0, name: 'list_notes', input: {} })
  return prepared.kind === 'ready' ? (await executor.execute(prepared.call)).result : prepared
}

const token = (): string => stored.logins[here.url]?.tokens.access_token ?? ''
const count = (what: string): number => here.requests.filter((one) => one === what).length

describe('a login', () => {
  it('gets a token with which the tools are there, and the token is in no result', async () => {
    expect((await open()).leftOut).toEqual([{ server: 'notes', why: expect.stringContaining('`mulligan mcp login notes`') as string }])
    expect(await login()).toEqual({ issuer: here.issuer, scope: 'notes' })
    const servers = await open()
    expect(await call(servers)).toMatchObject({ ok: true, content: 'two notes Bearer [secret]' })
    expect(here.seen.at(-1)).toBe(`Bearer ${token()}`)
  })

  it('registers the client once', async () => {
    await login()
    await login()
    expect(await logOut(here.url, store)).toBe(true)
    await login()
    expect([count('/register'), count('authorization_code')]).toEqual([1, 3])
  })

  it('uses a client that the person has registered', async () => {
    const denied = login({ clientId: 'mine', open: () => undefined, signal: AbortSignal.timeout(300) })
    await expect(denied).rejects.toThrow('timeout')
    expect(count('/register')).toBe(0)
  })

  it('takes an address that was pasted', async () => {
    await login({
      open(address, paste) {
        void fetch(address, { redirect: 'manual' }).then((response) => {
          expect(paste('nonsense')).toBe(false)
          expect(paste(`${response.headers.get('location')}`)).toBe(true)
        })
      },
    })
    expect(token()).toMatch(/^access-/)
  })

  it('does not take an answer to something else', async () => {
    await login({
      async open(address) {
        const callback = new URL(address.searchParams.get('redirect_uri') ?? '')
        callback.search = `?code=stolen&state=${'x'.repeat(43)}`
        expect((await fetch(callback)).status).toBe(400)
        await here.browse(address)
      },
    })
    expect(count('/token')).toBe(1)
  })

  it.each<[string, Partial<LoginFixture['faults']>, RegExp]>([
    ['the person refuses', { denies: true }, /The person said no/],
    ['the answer is from another issuer', { iss: 'https://evil.example' }, /issuer/i],
    ['an error is from another issuer', { iss: 'https://evil.example', denies: true }, /issuer/i],
    ['the metadata is of another issuer', { issuer: 'https://evil.example' }, /issuer/i],
  ])('fails if %s', async (_, faults, says) => {
    Object.assign(here.faults, faults)
    const error = await login().then(
      () => '',
      ({ message }: Error) => message,
    )
    expect(error).toMatch(says)
    expect(error).not.toContain(faults.denies && faults.iss ? 'The person' : 'Bearer')
    expect([stored.logins, count('/token')]).toEqual([{}, 0])
  })

  it.each([
    ['http://mcp.example.com/mcp', 'must have https'],
    ['ftp://127.0.0.1/mcp', 'must have https'],
  ])('is refused at %s', async (url, says) => {
    await expect(login({ url })).rejects.toThrow(says)
  })
})

describe('a token', () => {
  it('is refreshed when it has expired, once for all calls', async () => {
    await login()
    const servers = await open()
    const first = token()
    here.expire()
    const results = await Promise.all([call(servers), call(servers), call(await open())])
    expect(results).toMatchObject([{ ok: true }, { ok: true }, { ok: true }])
    expect([count('refresh_token'), token() === first]).toEqual([1, false])
  })

  it('is refreshed before it expires', async () => {
    here.faults.lifetime = 10
    await login()
    here.seen.length = 0
    here.faults.lifetime = 3600
    expect(await call(await open())).toMatchObject({ ok: true })
    expect([count('refresh_token'), here.seen.filter((one) => one === '')]).toEqual([1, []])
  })

  it('that does not count any more is forgotten, and the person is told how to log in', async () => {
    await login()
    const servers = await open()
    here.expire()
    await logOut(here.url, { ...store, change: async (change) => void (await change(stored)) })
    expect(await call(servers)).toMatchObject({
      ok: false,
      errorType: 'config',
      error: expect.stringMatching(/^The MCP server notes can't be reached: it needs a login: `mulligan mcp login notes`/),
    })
    expect(stored.logins).toEqual({})
  })

  it('is kept while the authorization server is down', async () => {
    await login()
    const servers = await open()
    here.expire()
    here.faults.isDown = true
    expect(await call(servers)).toMatchObject({ status: 'unavailable', error: expect.stringMatching(/can't be refreshed: HTTP 503$/) })
    here.faults.isDown = false
    expect(await call(servers)).toMatchObject({ ok: true })
  })

  it('goes to no other server, and replaces no key of the person', async () => {
    await login()
    await using other = await loginFixture()
    await open(other.url)
    await open(`${here.url}?x=1`)
    expect(other.seen.filter((one) => one !== '')).toEqual([])
    here.seen.length = 0
    await open(here.url, { Authorization: 'Bearer mine' })
    expect(new Set(here.seen)).toEqual(new Set(['Bearer mine']))
  })

  it('with too few rights names the ones to ask for', async () => {
    await login()
    here.faults.needs = 'notes:write'
    expect((await open()).leftOut[0]?.why).toContain('`mulligan mcp login notes --scope "notes:write"`')
    expect(await login({ scope: 'notes notes:write' })).toMatchObject({ scope: 'notes notes:write' })
    expect(await call(await open())).toMatchObject({ ok: true })
  })
})
