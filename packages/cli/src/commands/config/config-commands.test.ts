import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliFixture, place } from '../../../test/cli.fixture.ts'
import { inProcess } from '../../../test/in-process.fixture.ts'
import { setConfig } from './edit.ts'

const OWN = '../.config/mulligan/config.json'
const PROJECT = 'mulligan.json'
const config = (here: CliFixture, args: readonly string[], env?: Readonly<Record<string, string>>) =>
  inProcess(here, ['config', ...args, '--cwd', here.dir], env)

describe('mulligan config set, get and unset', () => {
  it('edit in place, with comments, Windows lines and a byte order mark as they are', async () => {
    using here = place({ [PROJECT]: '\ufeff{\r\n  // ours\r\n  "limits": { "requests": 5 }, // few\r\n  "agent": "plan"\r\n}\r\n' })
    expect(await config(here, ['get', 'agent'])).toMatchObject({ code: 0, stdout: 'plan\n' })
    const set = await config(here, ['set', '--project', 'limits.requests', '9'])
    expect([set.code, set.stdout, set.stderr]).toEqual([0, 'limits.requests = 9 in mulligan.json\n', ''])
    expect((await config(here, ['set', '--project', 'mode', 'read-only'])).code).toBe(0)
    expect((await config(here, ['unset', '--project', 'agent'])).code).toBe(0)
    expect(here.read(PROJECT)).toBe('\ufeff{\r\n  // ours\r\n  "limits": { "requests": 9 }, // few\r\n  "mode": "read-only"\r\n}\r\n')
    expect(await config(here, ['unset', '--project', 'agent'])).toMatchObject({ code: 1, stderr: 'agent is not set in mulligan.json.\n' })
    expect(await config(here, ['get', 'limits', '--json'])).toMatchObject({
      code: 0,
      stdout: '{"key":"limits","value":{"requests":9,"calls":200}}\n',
    })
    expect(await config(here, ['get', 'model'])).toMatchObject({ code: 1, stdout: '' })
  })

  it('at once lose nothing of each other, and wait for none that died', async () => {
    using here = place({ [`${PROJECT}.lock`]: '' })
    utimesSync(join(here.dir, `${PROJECT}.lock`), 0, 0)
    const keys = ['requests', 'calls', 'tokens', 'seconds']
    const quiet = { out: () => undefined, err: () => undefined, closed: new AbortController().signal, flush: async () => undefined }
    await Promise.all(keys.map((key) => setConfig(`limits.${key}`, '9', { cwd: here.dir, project: true }, quiet)))
    expect(JSON.parse(here.read(PROJECT))).toEqual({ limits: { requests: 9, calls: 9, tokens: 9, seconds: 9 } })
    expect(existsSync(join(here.dir, `${PROJECT}.lock`))).toBe(false)
  })

  it.each<[string, string, unknown]>([
    ['model', '5', '5'],
    ['limits.cost', '0.5', 0.5],
    ['tools.off', 'web_search, web_fetch', ['web_search', 'web_fetch']],
    ['tools.off', '["a"]', ['a']],
    ['sandbox.memory', '1g', '1g'],
    ['sandbox.user', '1000', 1000],
    ['agents.review', '{ "tools": ["grep"] }', { tools: ['grep'] }],
    ['agents.review.model', 'ollama/x', 'ollama/x'],
    ['models["ollama/x:1.5b"].temperature', '0', 0],
  ])('%s %s becomes what the key takes', async (key, text, value) => {
    using here = place()
    expect(await config(here, ['set', key, text])).toMatchObject({ code: 0 })
    expect(JSON.parse((await config(here, ['get', key, '--json'])).stdout)).toEqual({ key, value })
    expect(statSync(`${here.dir}/${OWN}`).mode & 0o777).toBe(0o600)
  })

  it.each<[string[], string]>([
    [['set', 'limits.reqests', '4'], 'there is no key "limits.reqests"; did you mean limits.requests?'],
    [['get', 'nonsense.at.all'], 'there is no key "nonsense.at.all"'],
    [['explain', 'tols.off'], 'did you mean tools.off?'],
    [['set', 'limits.requests', '0'], 'limits.requests: '],
    [['set', 'mode', 'yolo'], 'mode: '],
    [['set', 'agents.review.tol', 'x'], 'there is no key "agents.review.tol"'],
    [['set', '--project', 'remoteHosts', 'x.org'], "remoteHosts decides where data goes, so a project's file can't set it"],
    [['set', '--project', 'sandbox.backend', 'none'], 'would loosen the sandbox'],
    [['set', '--project', 'policy', '[{ "decision": "allow" }]'], "allows calls, which a project can't decide"],
  ])('%j is refused, and nothing is written', async (args, says) => {
    using here = place()
    const { code, stderr } = await config(here, args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)])
    expect([here.has(PROJECT), here.has(OWN)]).toEqual([false, false])
  })

  it('a file that is wrong is not made worse, and a key that is not known can be taken out', async () => {
    using here = place({ [OWN]: '{ "modell": "x", "limits": {} }', [PROJECT]: '[1]' })
    expect((await config(here, ['set', 'agent', 'plan'])).stderr).toContain('there is no key "modell"; did you mean "model"?')
    expect(await config(here, ['unset', 'modell'])).toMatchObject({ code: 0 })
    expect(here.read(OWN)).toBe('{ "limits": {} }')
    expect((await config(here, ['set', '--project', 'agent', 'plan'])).stderr).toContain("can't be changed without damaging")
    expect(here.read(PROJECT)).toBe('[1]')
  })

  it('what is set and does not count is told', async () => {
    using here = place({ [OWN]: '{ "limits": { "requests": 9 } }' })
    const { stderr } = await config(here, ['set', '--project', 'limits.requests', '40'])
    expect(stderr).toBe('The effective value is 9, from ~/.config/mulligan/config.json.\n')
    expect((await config(here, ['set', 'agent', 'plan'], { MULLIGAN_AGENT: 'ask' })).stderr).toBe(
      'The effective value is ask, from MULLIGAN_AGENT.\n',
    )
  })
})

it('mulligan config init makes a file that can be read, and never over another', async () => {
  using here = place()
  expect((await config(here, ['init'])).stdout).toBe('Made ~/.config/mulligan/config.json\n')
  expect((await config(here, ['init', '--project'])).stdout).toBe('Made mulligan.json\n')
  const made = here.read(OWN)
  const [, schema = ''] = /"\$schema": "(file:[^"]+)"/.exec(made) ?? []
  expect(JSON.parse(readFileSync(new URL(schema), 'utf8'))).toMatchObject({ properties: { model: {} } })
  // The project's file is shared with other machines.
  expect(here.read(PROJECT)).not.toContain('$schema')
  expect((await config(here, ['set', 'model', 'ollama/x'])).code).toBe(0)
  expect(here.read(OWN)).toContain('// What runs without asking')
  expect(await config(here, ['init'])).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') })
  expect(here.read(PROJECT)).toContain('// What runs without asking')
})

describe('mulligan config explain', () => {
  it('says who sets a key, which of them counts, and why', async () => {
    using here = place({ [OWN]: '{ "limits": { "requests": 9 } }', [PROJECT]: '{ "limits": { "requests": 12 } }' })
    const layers = async (env?: Readonly<Record<string, string>>) => {
      const { keys } = JSON.parse((await config(here, ['explain', 'limits.requests', '--json'], env)).stdout)
      return keys[0].layers.map((one: { from: string; counts: boolean; why: string }) => [one.from, one.counts, one.why])
    }
    const own = '~/.config/mulligan/config.json'
    expect(await layers()).toEqual([
      [PROJECT, false, 'the lower limit wins'],
      [own, true, ''],
      ['default', false, `${own} overrides it`],
    ])
    expect(await layers({ MULLIGAN_LIMITS_REQUESTS: '3' })).toContainEqual([own, false, 'the environment overrides it'])
    const all = await config(here, ['explain'])
    expect(all.stdout).toMatch(/^limits\.requests +whole number, at least 1 +25 +Maximum model requests/m)
  })

  it('also where what a project adds does not count', async () => {
    using here = place({
      [OWN]: '{ "agents": { "mine": { "model": "p/own" } }, "trustedProjects": ["/x"] }',
      [PROJECT]: '{ "agents": { "mine": { "model": "p/theirs" } }, "diagnostics": [{ "include": "*", "command": ["x"] }] }',
    })
    const reasons = async (key: string) =>
      JSON.parse((await config(here, ['explain', key, '--json'])).stdout).keys[0].layers.map((one: { why: string }) => one.why)
    expect(await reasons('agents.mine.model')).toEqual(['you have an agent with that name', ''])
    expect(await reasons('diagnostics')).toEqual(['waiting for your approval: mulligan trust'])
    expect(await reasons('trustedProjects')).toEqual([''])
    expect(await reasons('sandbox.profile')).toEqual([''])
  })

  it('shows no password', async () => {
    using here = place({ [OWN]: '{ "baseUrl": "http://ann:secret@127.0.0.1/v1" }' })
    for (const args of [
      ['explain', 'baseUrl'],
      ['explain', 'baseUrl', '--json'],
      ['get', 'baseUrl'],
    ])
      expect((await config(here, args)).stdout).not.toContain(':secret')
  })
})
