/** Sources of values: which file is the project's, the variables, and that a project loosens nothing. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { place, type TestFolders } from '../common/place.fixture.ts'
import { effectiveValue } from './effective-config.ts'
import { configJsonSchema } from './json-schema.ts'
import { keysIn, keyText, parseKey, variableOf } from './keys.ts'
import { type Config, projectRule } from './schema.ts'
import { readSettings } from './settings.ts'

const KEYS = keysIn(configJsonSchema())
const settings = (here: TestFolders, own: Config = {}, env: Readonly<Record<string, string>> = {}, cwd = here.dir) => {
  here.write('../own.json', JSON.stringify(own))
  return readSettings(cwd, {}, { MULLIGAN_CONFIG: join(here.dir, '../own.json'), ...env })
}

describe("the project's file", () => {
  it('is the nearest one up to the root of the repository', () => {
    using here = place({ 'mulligan.json': '{ "agent": "plan" }', 'a/b/c.txt': '', 'a/mulligan.json': '{ "agent": "ask" }' })
    const at = (folder: string) => settings(here, {}, {}, join(here.dir, folder))
    // Outside a repository, only the folder's own file counts.
    expect(at('a/b').agent.value).toBe('build')
    mkdirSync(join(here.dir, '.git'))
    expect([at('a/b').agent, at('.').agent].map(({ value, from }) => [value, from])).toEqual([
      ['ask', '../mulligan.json'],
      ['plan', 'mulligan.json'],
    ])
    mkdirSync(join(here.dir, 'a/b/.git'))
    expect(at('a/b').agent.value).toBe('build')
  })

  it('is .mulligan/config.json where there is no other, and both are an error', () => {
    using here = place({ '.mulligan/config.json': '{ "agent": "ask" }' })
    expect(settings(here).agent).toMatchObject({ value: 'ask', from: '.mulligan/config.json' })
    here.write('mulligan.json', '{}')
    expect(() => settings(here)).toThrow('mulligan.json and .mulligan/config.json both exist')
  })

  it('is trusted by the folder that it is of', () => {
    using here = place({ 'mulligan.json': '{ "mode": "auto" }', 'a/b.txt': '', '.git/x': '' })
    const mode = (folder: string) => settings(here, { trustedProjects: [folder] }, {}, join(here.dir, 'a')).approval.mode.value
    expect([mode(here.dir), mode(join(here.dir, 'a'))]).toEqual(['auto', 'ask'])
  })
})

describe('a variable', () => {
  it('is there for every key that is a text or a number, and is no other one', () => {
    const all = KEYS.flatMap(({ variables }) => variables)
    expect(all).toEqual(
      expect.arrayContaining(['MULLIGAN_BASE_URL', 'MULLIGAN_LIMITS_REQUESTS', 'MULLIGAN_SANDBOX_MEMORY', 'MULLIGAN_SANDBOX']),
    )
    expect(new Set(all).size).toBe(all.length)
    const others = ['CONFIG', 'DATA_DIR', 'CONTEXT', 'API_KEY', 'DEBUG'].map((name) => `MULLIGAN_${name}`)
    expect(all.filter((name) => others.includes(name))).toEqual([])
    expect(variableOf(['a', 'bC'])).toBe('MULLIGAN_A_B_C')
  })

  it.each<[string, string, string, unknown]>([
    ['MULLIGAN_MODEL', 'ollama/e', 'model', 'ollama/e'],
    ['MULLIGAN_AGENT', 'ask', 'agent', 'ask'],
    ['MULLIGAN_LIMITS_REQUESTS', '50', 'limits.requests', 50],
    ['MULLIGAN_LIMITS_COST', '0.5', 'limits.cost', 0.5],
    ['MULLIGAN_SANDBOX_MEMORY', '3g', 'sandbox.memory', '3g'],
    ['MULLIGAN_SANDBOX_USER', '1000', 'sandbox.user', 1000],
    ['MULLIGAN_MODE', 'auto', 'mode', 'auto'],
  ])('%s=%s overrides the files', (name, text, key, value) => {
    using here = place({
      'mulligan.json': '{ "model": "p", "agent": "plan", "mode": "read-only", "limits": { "requests": 5, "cost": 0.1 } }',
    })
    const path = parseKey(key) ?? []
    expect(effectiveValue(settings(here, {}, { [name]: text }), path)).toEqual(value)
    expect(effectiveValue(settings(here, {}, { [name]: '' }), path)).not.toEqual(value)
  })

  it.each([
    ['MULLIGAN_LIMITS_REQUESTS', '0', 'MULLIGAN_LIMITS_REQUESTS=0: '],
    ['MULLIGAN_LIMITS_REQUESTS', 'many', 'MULLIGAN_LIMITS_REQUESTS=many: expected number'],
    ['MULLIGAN_SANDBOX_PROFILE', 'lax', 'MULLIGAN_SANDBOX_PROFILE=lax: it may be default, strict'],
    ['MULLIGAN_AGENT', 'a b', 'MULLIGAN_AGENT=a b: a name of letters'],
    ['MULLIGAN_WEB_SEARCH_URL', 'https://x.org', 'MULLIGAN_WEB_SEARCH_URL is set, but no search service is named'],
  ])('%s=%s is an error that names it', (name, text, says) => {
    using here = place()
    expect(() => settings(here, {}, { [name]: text })).toThrow(says)
  })

  it('for a search service does not take the address of another', () => {
    using here = place()
    const own: Config = { web: { search: { provider: 'searxng', url: 'https://mine.org' } } }
    const search = (env: Readonly<Record<string, string>>) => settings(here, own, env).webSearch?.value
    expect(search({ MULLIGAN_WEB_SEARCH_PROVIDER: 'tavily' })).toEqual({ provider: 'tavily' })
    expect(search({ MULLIGAN_WEB_SEARCH_URL: 'https://new.org' })).toEqual({ provider: 'searxng', url: 'https://new.org' })
  })
})

it.each<[string, readonly string[] | undefined]>([
  ['limits.requests', ['limits', 'requests']],
  ['models["ollama/x:1.5b"].context', ['models', 'ollama/x:1.5b', 'context']],
  ['models["a\\"b"]', ['models', 'a"b']],
  ['', undefined],
  ['.a', undefined],
  ['a.', undefined],
  ['a..b', undefined],
  ['a[b]', undefined],
])('the key %j', (text, path) => {
  expect(parseKey(text)).toEqual(path)
  if (path) expect(keyText(path)).toBe(text)
})

describe('a project widens nothing that the person has not given', () => {
  /** For each key: the user's value, a laxer value of a project, and the result (refused, or a value). */
  const CASES: Readonly<Record<string, readonly [own: unknown, project: unknown, comes: unknown]>> = {
    $schema: [undefined, 'x', 'chosen'],
    model: ['p/own', 'p/theirs', 'chosen'],
    baseUrl: ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'chosen'],
    models: [{ x: { temperature: 0 } }, { x: { temperature: 1 } }, 'chosen'],
    agent: ['plan', 'build', 'plan'],
    agents: [{ mine: { tools: ['grep'] } }, { mine: { tools: ['bash'] } }, 'beside'],
    'tools.lean': [['grep'], ['glob'], 'chosen'],
    'tools.off': [['bash'], [], ['bash']],
    limits: [{ requests: 2 }, { requests: 9 }, { requests: 2, calls: 200 }],
    web: [undefined, { search: { provider: 'searxng', url: 'https://x.org' } }, 'refused'],
    diagnostics: [[{ include: 'a', command: ['y'] }], [{ include: '*', command: ['x'] }], [{ include: 'a', command: ['y'] }]],
    'sandbox.backend': [undefined, 'none', 'refused'],
    'sandbox.user': [undefined, 0, 'refused'],
    'sandbox.mounts': [undefined, [], 'refused'],
    'sandbox.env': [undefined, ['A'], 'refused'],
    'sandbox.image': [undefined, 'x', 'refused'],
    'sandbox.gitPrograms': [undefined, 'run', 'refused'],
    'sandbox.readable': [['.env.test'], ['.env'], ['.env.test']],
    'sandbox.profile': ['strict', 'default', 'strict'],
    'sandbox.network': [undefined, 'bridge', 'refused'],
    'sandbox.memory': ['1g', '2g', '1g'],
    'sandbox.cpus': [1, 2, 1],
    'sandbox.pids': [20, 30, 20],
    'sandbox.timeout': [20, 30, 20],
    'sandbox.output': [1000, 2000, '1000'],
    'sandbox.disk': ['1g', '2g', '1g'],
    mcpServers: [{ a: { command: 'mine' } }, { b: { command: 'theirs' } }, { a: { command: 'mine' } }],
    'notes.vault': [undefined, '/home/ann', 'refused'],
    notify: [undefined, 'desktop', 'refused'],
    'mail.address': [undefined, 'eve@evil.example', 'refused'],
    'mail.user': ['ann', 'eve', 'refused'],
    'mail.imap': ['imaps://mail.example.com', 'imaps://evil.example', 'refused'],
    'mail.smtp': ['smtps://mail.example.com', 'smtps://evil.example', 'refused'],
    theme: [undefined, 'light', 'refused'],
    plain: [undefined, 'on', 'refused'],
    store: [undefined, 'postgres://db.evil.example/x', 'refused'],
    mode: ['read-only', 'auto', 'read-only'],
    policy: [undefined, [{ decision: 'allow' }], 'refused'],
    trustedProjects: [undefined, ['/'], 'refused'],
    remoteHosts: [undefined, ['x.org'], 'refused'],
  }
  const nested = (key: string, value: unknown): Config =>
    (value === undefined ? {} : key.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)) as Config

  it('every key says what a project may do with it, and has a case here', () => {
    expect(KEYS.filter(({ path }) => projectRule(path) === undefined).map(({ key }) => key)).toEqual([])
    const hasCase = (key: string) => Object.keys(CASES).some((one) => key === one || key.startsWith(`${one}.`))
    expect(KEYS.filter(({ key }) => !hasCase(key)).map(({ key }) => key)).toEqual([])
  })

  it.each(Object.entries(CASES))('%s', (key, [own, project, comes]) => {
    using here = place({ 'mulligan.json': JSON.stringify(nested(key, project)) })
    const may = projectRule(key.split('.'))?.may
    const read = () => settings(here, nested(key, own))
    if (comes === 'refused') return expect(read).toThrow(/so a project's file can't set it|a project can't decide/)
    expect(may).not.toBe('user')
    // A different value here is one that the rule lets the project choose or add.
    if (comes === 'chosen') return expect([['set', 'local'].includes(may ?? ''), read().files[0]?.found]).toEqual([true, true])
    if (comes === 'beside') return expect([may, read().files[0]?.found]).toEqual(['add', true])
    expect(effectiveValue(read(), key.split('.'))).toEqual(comes)
    return undefined
  })

  it('no limit above the default either, where the person has given none', () => {
    using here = place({ 'mulligan.json': '{ "limits": { "requests": 60, "calls": 9, "seconds": 5 } }' })
    const requests = (own: Config) => settings(here, own).limits.requests
    expect(requests({})).toMatchObject({ value: 25, from: 'default' })
    expect(requests({ limits: { requests: 100 } })).toMatchObject({ value: 60, from: 'mulligan.json' })
    const { calls, seconds } = settings(here).limits
    expect([calls.value, seconds.value]).toEqual([9, 5])
  })

  it('its agent does the work where the person has chosen none, or trusts it', () => {
    using here = place({ 'mulligan.json': '{ "agent": "build" }' })
    const agent = (own: Config) => settings(here, own).agent
    expect(agent({ agent: 'plan' })).toMatchObject({ value: 'plan', origin: 'user' })
    expect(agent({ agent: 'plan', trustedProjects: [here.dir] })).toMatchObject({ value: 'build', from: 'mulligan.json' })
    expect(agent({})).toMatchObject({ value: 'build', from: 'mulligan.json' })
  })

  it('its checks run after the person has trusted it', () => {
    using here = place({ 'mulligan.json': '{ "diagnostics": [{ "include": "*", "command": ["theirs"] }] }' })
    const own: Config = { diagnostics: [{ include: '*', command: ['mine'] }] }
    const run = (env: Readonly<Record<string, string>>, trustedProjects: string[] = []) =>
      settings(here, { ...own, trustedProjects }, env).diagnostics.flatMap(({ value }) => value.map(({ command }) => command[0]))
    expect(run({})).toEqual(['mine'])
    expect(run({ MULLIGAN_SANDBOX: 'none' })).toEqual(['mine'])
    expect(run({ MULLIGAN_SANDBOX: 'none' }, [here.dir])).toEqual(['mine', 'theirs'])
    here.write('../data/trust.json', trustOf(here.dir, 'diagnostics', [{ include: '*', command: ['theirs'] }]))
    expect(run({ MULLIGAN_DATA_DIR: here.data })).toEqual(['mine', 'theirs'])
    here.write('../data/trust.json', trustOf(here.dir, 'diagnostics', [{ include: '*', command: ['others'] }]))
    expect(run({ MULLIGAN_DATA_DIR: here.data })).toEqual(['mine'])
  })
})

const trustOf = (folder: string, key: string, value: unknown): string =>
  JSON.stringify({ version: 1, folders: { [folder]: { settings: [{ key, value }] } } })
