import { describe, expect, it } from 'vitest'
import { place } from '../../../test/cli.fixture.ts'

const PROJECT = 'mulligan.json'
const OWN = '../.config/mulligan/config.json'

describe('what is wrong is said, with the key', () => {
  it.each([
    [OWN, { memory: 'lots' }, /sandbox\.memory: .*size.*512m/],
    [OWN, { memory: 5 }, /sandbox\.memory: .*at least 16m/],
    [OWN, { memroy: '1g' }, /there is no key "memroy" in sandbox; did you mean "memory"\?/],
    [OWN, { timeout: 601 }, /sandbox\.timeout: .*600/],
    [OWN, { cpus: '2' }, /sandbox\.cpus: a number/],
    [OWN, { backend: 'bwrap' }, /sandbox\.backend: .*"bubblewrap"/],
    [OWN, { user: 'root' }, /sandbox\.user: a uid, or "auto"/],
    [OWN, { mounts: [{ path: 'data' }] }, /sandbox\.mounts\[0\]\.path: .*begins with \/ or ~\//],
    [OWN, { readable: ['../.env'] }, /sandbox\.readable\[0\]: a path in the workspace/],
    [OWN, { env: ['A=1'] }, /sandbox\.env\[0\]: the name of a variable/],
    [PROJECT, { network: 'bridge' }, /sandbox\.network: bridge would loosen the sandbox, so a project's file can't set it/],
    [PROJECT, { backend: 'none' }, /sandbox\.backend would loosen/],
    [PROJECT, { mounts: [{ path: '~/' }] }, /sandbox\.mounts would loosen/],
    [PROJECT, { env: ['AWS_SECRET_ACCESS_KEY'] }, /sandbox\.env would loosen/],
    [PROJECT, { user: 0 }, /sandbox\.user would loosen/],
    [PROJECT, { image: 'evil' }, /sandbox\.image would loosen/],
  ])('%s %j', async (path, sandbox, says) => {
    using here = place({ [path]: JSON.stringify({ sandbox }) })
    const { code, stderr } = await here.run(['config'])
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)])
  })

  it.each([
    ['MULLIGAN_SANDBOX', 'bwrap', /MULLIGAN_SANDBOX=bwrap: it may be auto, bubblewrap/],
    ['MULLIGAN_SANDBOX_NETWORK', 'yes', /MULLIGAN_SANDBOX_NETWORK=yes: it may be none, bridge/],
    ['MULLIGAN_SANDBOX_MEM', '2x', /MULLIGAN_SANDBOX_MEM=2x: .*size/],
    ['MULLIGAN_SANDBOX_TIMEOUT', '0', /MULLIGAN_SANDBOX_TIMEOUT=0: .*600/],
    ['MULLIGAN_SANDBOX_TIMEOUT', 'soon', /MULLIGAN_SANDBOX_TIMEOUT=soon: /],
  ])('%s=%s', async (name, value, says) => {
    using here = place()
    const { code, stderr } = await here.run(['config'], { env: { [name]: value } })
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)])
    expect(stderr).toContain(`unset ${name}`)
  })

  it('what is right is shown, and where it comes from', async () => {
    using here = place({
      [PROJECT]: JSON.stringify({ sandbox: { timeout: 30, network: 'none' } }),
      [OWN]: JSON.stringify({ sandbox: { memory: '4g', network: 'bridge', env: ['CI'] } }),
    })
    const { stdout } = await here.run(['config', '--json'], { env: { MULLIGAN_SANDBOX: 'none' } })
    const rows = (JSON.parse(stdout) as { settings: { key: string; value: unknown; from: string }[] }).settings
    const own = '~/.config/mulligan/config.json'
    expect(rows.filter(({ key }) => key.startsWith('sandbox.')).map(({ key, value, from }) => [key, value, from])).toEqual([
      ['sandbox.backend', 'none', 'MULLIGAN_SANDBOX'],
      ['sandbox.network', 'none', PROJECT],
      ['sandbox.memory', '4g', own],
      ['sandbox.cpus', 1, 'default'],
      ['sandbox.pids', 256, 'default'],
      ['sandbox.timeout', 30, PROJECT],
      ['sandbox.output', '200000', 'default'],
      ['sandbox.disk', '8g', 'default'],
      ['sandbox.env', ['CI'], own],
    ])
  })
})
