/** The token of `mulligan serve`: where it comes from, and who sees it. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type CliFixture, place, type StartOptions } from '../../test/cli.fixture.ts'
import { hasOtherUsers } from './serve-token.ts'

/** Starts a server, and ends it once it has said where it is. */
async function served(here: CliFixture, args: readonly string[], options: StartOptions = {}) {
  const { child, ended } = here.start(['serve', '--port', '0', '--json', ...args], options)
  const [line] = (await Promise.race([
    once(child.stdout, 'data'),
    ended.then(({ stderr }) => [`{"failed":${JSON.stringify(stderr)}}`]),
  ])) as [string]
  const said = JSON.parse(line) as { url?: string; token?: string; failed?: string }
  const health = said.url ? await fetch(`${said.url}/api/sessions`, { headers: { authorization: `Bearer ${said.token}` } }) : undefined
  child.kill('SIGINT')
  return { ...said, status: health?.status, stderr: (await ended).stderr }
}

const TOKEN = 'a-token-of-the-test-1'

it('takes the token from a file, stdin or the environment, and says that the one in a flag can be seen', async () => {
  using here = place()
  const file = join(here.root, 'token')
  writeFileSync(file, `${TOKEN}-file\n`)
  const env = { MULLIGAN_TOKEN: `${TOKEN}-env` }
  expect(await served(here, ['--token-file', file], { env })).toMatchObject({ token: `${TOKEN}-file`, status: 200 })
  expect(await served(here, ['--token-file', '-'], { stdin: `${TOKEN}-stdin\n` })).toMatchObject({ token: `${TOKEN}-stdin`, status: 200 })
  const fromEnv = await served(here, [], { env })
  expect(fromEnv).toMatchObject({ token: `${TOKEN}-env`, status: 200 })
  expect(fromEnv.stderr).not.toContain('list of processes')
  expect(await served(here, ['--token', `${TOKEN}-flag`], { env })).toMatchObject({ token: `${TOKEN}-flag`, status: 200 })
})

it('says what is wrong with a token', async () => {
  using here = place({ empty: '\n', short: 'abc\n' })
  const failed = async (args: readonly string[]) => (await here.run(['serve', '--port', '0', ...args])).stderr
  expect(await failed(['--token-file', 'nothing'])).toContain("nothing can't be read: ENOENT")
  expect(await failed(['--token-file', 'empty'])).toContain('the token is empty')
  expect(await failed(['--token-file', 'short'])).toContain('the token is too short')
  expect(await failed(['--token-file', 'short', '--token', TOKEN])).toContain('cannot be used with')
})

it.each([
  ['linux', 'root:x:0:0::/root:/bin/bash\nann:x:1000:1000::/home/ann:/bin/bash\nnobody:x:65534:65534::/:/usr/sbin/nologin\n', false],
  ['linux', 'ann:x:1000:1000::/home/ann:/bin/bash\nben:x:1001:1001::/home/ben:/bin/zsh\n', true],
  ['linux', 'ann:x:1000:1000::/home/ann:/bin/bash\nsvc:x:1001:1001::/srv:/usr/sbin/nologin\n', false],
  ['darwin', '', true],
  ['win32', '', false],
] as const)('on %s with the users %j others can see it: %s', (platform, passwd, others) => {
  expect(hasOtherUsers(platform, () => passwd)).toBe(others)
})
