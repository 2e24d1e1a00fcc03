import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StrictOAuth, strictGoogle, strictOAuth } from '@mulligan/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { caller } from '../call.fixture.ts'
import { googleCredentials, googleSource } from './credentials.ts'
import { googleTools } from './index.ts'
import { loginToGoogle, logoutOfGoogle } from './login.ts'

const client = { clientId: 'test.apps.googleusercontent.com', clientSecret: 'desktop' }
let folder: string
let file: string
let server: StrictOAuth
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-login-'))
  file = join(folder, 'google.json')
  server = await strictOAuth()
})
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server.close()
})

/** @param agree what the person does with the address */
async function logIn(
  agree: (url: string) => void = () => undefined,
  options: { readonly decline?: boolean; readonly signal?: AbortSignal } = {},
) {
  const { decline = false, signal = new AbortController().signal } = options
  const answered = Promise.withResolvers<URLSearchParams>()
  const callback = { redirectUrl: 'http://127.0.0.1:9/callback', answer: () => answered.promise }
  const show = (url: string): void => {
    agree(url)
    if (!signal.aborted)
      void server.consent(url, { decline, elsewhere: true }).then((address) => answered.resolve(new URL(address).searchParams))
  }
  return await loginToGoogle({ client, file, callback, signal, endpoints: server.endpoints, show })
}

/** Reads a file of Drive with the stored login. */
async function read(env: Record<string, string> = {}) {
  await using google = await strictGoogle({ files: [{ id: 'f-0000000001', name: 'Plan', mimeType: 'text/plain', text: 'Ship it.' }] })
  const auth = googleCredentials({ file, env, endpoints: server.endpoints })
  const call = caller(googleTools({ auth, rootUrl: `${google.url}/` }))
  return (await call('read_drive_file', { file_id: 'f-0000000001' })).text
}

describe('a login', () => {
  it('is stored for its owner alone, and used from then on', async () => {
    await logIn()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(googleSource({ file, env: {} })).toEqual({ kind: 'login', file })
    expect(await read()).toContain('Ship it.')
  })

  it('asks for the least', async () => {
    const asked: URL[] = []
    await logIn((url) => asked.push(new URL(url)))
    const scopes = asked[0]?.searchParams
      .get('scope')
      ?.split(' ')
      .map((scope) => scope.split('/').at(-1))
    expect(scopes).toEqual(['drive.readonly', 'gmail.readonly', 'gmail.compose', 'calendar.events'])
  })

  it('that is declined, or stopped, stores nothing', async () => {
    await expect(logIn(() => undefined, { decline: true })).rejects.toThrow(/declined \(access_denied\)/)
    const stop = new AbortController()
    await expect(logIn(() => stop.abort(), { signal: stop.signal })).rejects.toThrow(/stopped/)
    expect(googleSource({ file, env: {} })).toBeUndefined()
  })

  it('with a client that Google does not know says so', async () => {
    server.close()
    server = await strictOAuth({ clientSecret: 'another' })
    await expect(logIn()).rejects.toThrow(/did not accept the login: invalid_client/)
  })
})

describe('afterwards', () => {
  it('a revoked login is told with the command, and no secret', async () => {
    await logIn()
    server.revokeAll()
    const text = await read()
    expect(text).toMatch(
      /^failed \(config\): Google does not accept the login any more \(invalid_grant\)\. A person has to run: mulligan auth google/,
    )
    expect(text).not.toMatch(/refresh-|desktop/)
  })

  it('a damaged file is told in the same way', async () => {
    writeFileSync(file, '{"clientId": 5')
    expect(await read()).toMatch(/^failed \(config\): The stored login for Google can't be read/)
  })

  it('a key file that is not there names itself', async () => {
    expect(await read({ GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'no.json') })).toMatch(
      /^failed \(config\): The credentials file .*no\.json can't be used/,
    )
  })

  it('a token that expires in the middle of a turn is refreshed; one that was revoked ends it with the command', async () => {
    await using google = await strictGoogle({
      token: 'none',
      files: [{ id: 'f-0000000001', name: 'Plan', mimeType: 'text/plain', text: 'Ship it.' }],
    })
    const { issuer, url } = google
    writeFileSync(file, JSON.stringify(issuer.login()))
    const endpoints = { oauth2AuthBaseUrl: `${url}/auth`, oauth2TokenUrl: `${url}/token`, oauth2RevokeUrl: `${url}/revoke` }
    const tools = () => googleTools({ auth: googleCredentials({ file, env: {}, endpoints }), rootUrl: `${url}/` })
    const call = caller(tools())
    const draft = (using = call) => using('draft_email', { to: 'ana@example.com', subject: 'x', body: 'y' })
    expect((await draft()).text).toMatch(/^Saved as draft/)
    issuer.expireAll()
    expect((await draft()).text).toMatch(/^Saved as draft/)
    expect(google.drafts()).toHaveLength(2)
    issuer.expireAll()
    issuer.revokeAll()
    const { text, record } = await draft()
    expect([text, record.attempts]).toEqual([expect.stringMatching(/^failed \(config\): [\s\S]*mulligan auth google/), 1])
    expect(google.drafts()).toHaveLength(2)
  })

  it('a service account signs for its tokens', async () => {
    const key = join(folder, 'key.json')
    const account = server.serviceAccount()
    const env = { GOOGLE_APPLICATION_CREDENTIALS: key }
    writeFileSync(key, JSON.stringify(account))
    expect(await read(env)).toContain('Ship it.')
    writeFileSync(key, JSON.stringify({ ...account, private_key: server.serviceAccount()['private_key'] }))
    const text = await read(env)
    expect(text).toMatch(/^failed \(config\): [\s\S]*invalid_grant/)
    expect(text).not.toMatch(/PRIVATE KEY/)
    writeFileSync(key, JSON.stringify({ ...account, client_email: 'nobody@test.iam.gserviceaccount.com' }))
    expect(await read(env)).toMatch(/^failed \(config\)/)
  })

  it('a log-out revokes and removes it', async () => {
    await logIn()
    expect(await logoutOfGoogle(file, server.endpoints)).toBe(true)
    expect([server.valid.size, googleSource({ file, env: {} })]).toEqual([0, undefined])
  })

  it('a log-out without a network removes it, and says that Google was not told', async () => {
    await logIn()
    await server.close()
    expect(readFileSync(file, 'utf8')).toContain('refresh-')
    expect([await logoutOfGoogle(file, server.endpoints), googleSource({ file, env: {} })]).toEqual([false, undefined])
  })
})
