/** `mulligan auth`, with the real command and a strict authorization server. */
import { type StrictOAuth, strictOAuth, strictSlack } from '@mulligan/testing'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { hasDovecot, PASSWORD, smtp, startDovecot } from '../../../../assistant/src/mail/imap/mail-servers.fixture.ts'
import { type CliFixture, place, type Running } from '../../../test/cli.fixture.ts'

let server: StrictOAuth
beforeEach(async () => {
  server = await strictOAuth()
})
afterEach(() => server.close())

function withClient(): CliFixture {
  const here = place()
  here.write('client.json', JSON.stringify({ installed: { client_id: 'test.apps.googleusercontent.com', client_secret: 'desktop' } }))
  return here
}

/** The address that the command shows. */
const shown = ({ child }: Running): Promise<string> => {
  let text = ''
  return new Promise((resolve) =>
    child.stderr.on('data', (chunk) => {
      text += String(chunk)
      const [, address] = /^ *(http\S+)\n/m.exec(text) ?? []
      if (address !== undefined) resolve(address)
    }),
  )
}

it('logs in to Google, shows it, and logs out', async () => {
  using here = withClient()
  const env = { GOOGLE_API_URL: server.url }
  const running = here.start(['auth', 'google', '--client', 'client.json', '--no-browser', '--no-keychain', '--json'], { env })
  await server.consent(await shown(running))
  const { code, stdout, stderr } = await running.ended
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ service: 'google' })])
  expect(stdout + stderr).not.toMatch(/refresh-|ya29|desktop/)
  expect(JSON.parse((await here.run(['auth', 'status', '--json'])).stdout)).toMatchObject({
    services: [
      { service: 'google', configured: true },
      { service: 'mail', configured: false },
      { service: 'slack', configured: false },
    ],
  })
  expect((await here.run(['tools', 'list'], { env })).stdout).toMatch(/search_drive[\s\S]*send_draft/)
  expect(JSON.parse((await here.run(['auth', 'logout', 'google', '--json'], { env })).stdout)).toMatchObject({
    loggedOut: true,
    revoked: true,
  })
  expect((await here.run(['auth', 'logout', 'google'], { env })).code).toBe(1)
})

it('takes an address that was pasted, by a person whose browser is elsewhere', async () => {
  using here = withClient()
  const args = ['auth', 'google', '--client', 'client.json', '--no-browser', '--no-keychain', '--json']
  const running = here.start(args, { env: { GOOGLE_API_URL: server.url }, stdin: { open: true } })
  const address = await server.consent(await shown(running), { elsewhere: true })
  running.child.stdin.write(`${address.replace(/state=\w/, 'state=')}\n${address}\n`)
  const { code, stderr } = await running.ended
  expect([code, stderr]).toEqual([0, expect.stringContaining('That is not the address.')])
})

it.each<[string, readonly string[], RegExp]>([
  ['no client', [], /no OAuth client[\s\S]*console\.cloud\.google\.com/],
  ['no such file', ['--client', 'none.json'], /none\.json can't be read: ENOENT/],
  ['another file', ['--client', 'package.json'], /not the file of an OAuth client for desktop apps/],
])('with %s, it says how to get one', async (_, args, says) => {
  using here = place()
  here.write('package.json', '{"name": "x"}')
  const { code, stderr } = await here.run(['auth', 'google', ...args])
  expect([code, stderr]).toEqual([2, expect.stringMatching(says)])
})

it.skipIf(!hasDovecot && !process.env['CI'])('sets up mail once both servers accept it, and removes the password', async () => {
  using here = place()
  await using imap = await startDovecot()
  await using out = await smtp()
  const servers = ['--imap', `imap://127.0.0.1:${imap.port}`, '--smtp', `smtp://127.0.0.1:${out.port}`]
  const args = ['auth', 'mail', '--address', 'ana@example.com', ...servers, '--no-keychain', '--password-file', '-']
  const refused = await here.run(args, { stdin: 'wrong\n' })
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('nothing was stored')])
  expect((await here.run(['config', 'get', 'mail.address'])).code).toBe(1)
  const { code, stdout, stderr } = await here.run([...args, '--json'], { stdin: `${PASSWORD}\n` })
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { service: 'mail', address: 'ana@example.com' }])
  expect(stdout + stderr).not.toContain(PASSWORD)
  expect((await here.run(['auth', 'status'])).stdout).toMatch(/mail +set up +ana@example\.com, password in /)
  expect((await here.run(['doctor'])).stdout).toMatch(/✓ mail +ana@example\.com on 127\.0\.0\.1/)
  expect(JSON.parse((await here.run(['tools', 'call', 'list_emails', '{}', '--json'])).stdout)).toMatchObject({ ok: true, count: 0 })
  await here.run(['config', 'set', 'mail.smtp', 'smtps://smtp.evil.example'])
  const moved = await here.run(['tools', 'call', 'list_emails', '{}'])
  expect(moved.stdout + moved.stderr).toContain('no password for ana@example.com')
  expect((await here.run(['auth', 'logout', 'mail'])).code).toBe(0)
  expect((await here.run(['auth', 'logout', 'mail'])).code).toBe(1)
})

it.each<[string, readonly string[], RegExp]>([
  ['no address', [], /mail\.address is not set[\s\S]*--address/],
  ['no password', ['--address', 'a@example.com', '--imap', 'imaps://x', '--smtp', 'smtps://x'], /nobody is there[\s\S]*--password-file/],
])('mail with %s says what is missing', async (_, args, says) => {
  using here = place()
  const { code, stderr } = await here.run(['auth', 'mail', ...args])
  expect([code, stderr]).toEqual([2, expect.stringMatching(says)])
})

it('without a service that is set up, there are none of its tools; with one there are', async () => {
  using here = place()
  expect((await here.run(['tools', 'list'])).stdout).not.toMatch(/slack|drive/)
  await using slack = await strictSlack({ token: 'xoxb-kanarie', channels: [{ id: 'C0000001', name: 'general' }] })
  const env = { SLACK_BOT_TOKEN: 'xoxb-kanarie', SLACK_API_URL: slack.api }
  const { code, stdout } = await here.run(['tools', 'call', 'list_slack_channels', '{}', '--json'], { env })
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { ok: true, count: 1 }])
  expect(stdout).not.toContain('kanarie')
})
