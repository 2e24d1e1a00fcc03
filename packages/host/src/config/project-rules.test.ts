/** Whatever the files of the user and the project say, no key is looser or leads elsewhere than with the user's file alone. */
import { join } from 'node:path'
import { DEFAULT_LIMITS, MODES } from '@mulligan/core/executor'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { place, type TestFolders } from '../common/place.fixture.ts'
import { isLoopbackUrl } from '../models/base-url.ts'
import { isCloud } from '../models/registry.ts'
import { admit, refusedIn, type Word } from './admit.ts'
import { effectiveConfig } from './effective-config.ts'
import { configJsonSchema } from './json-schema.ts'
import { keysIn } from './keys.ts'
import { type ProjectRule, set } from './project-rules.ts'
import { type Config, projectRule, type Row } from './schema.ts'
import { readSettings, type Settings } from './settings.ts'
import { valueAt, withValue } from './value-at.ts'

const MB = 1024 * 1024
const size = () => fc.oneof(fc.integer({ min: 16 * MB, max: 2 ** 40 }), fc.constantFrom('64m', '900m', '3g'))
const name = () => fc.constantFrom('build', 'plan', 'ask', 'far')
const model = () =>
  fc.constantFrom('ollama/q', 'vllm/q', 'q', 'ollama/glm:cloud', 'openai/x', 'anthropic/x', 'google/x', 'openai', 'openai-compatible/x')
const url = () =>
  fc.constantFrom(
    'http://127.0.0.1:1/v1',
    'http://localhost:1',
    'http://[::1]:1',
    'http://127.evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1@evil.example',
    'http://0.0.0.0:1',
    'https://api.evil.example/v1',
    'nonsense',
  )
const tools = () => fc.uniqueArray(fc.constantFrom('bash', 'grep', 'glob', 'write_file'), { maxLength: 3 })

/** Generates valid values for each key. */
const VALUES: Readonly<Record<string, () => fc.Arbitrary<unknown>>> = {
  $schema: () => fc.string(),
  model,
  baseUrl: url,
  models: () => fc.constant({ 'ollama/*': { temperature: 1 } }),
  agent: name,
  agents: () => fc.constant({}),
  'agents.NAME.description': () => fc.string(),
  'agents.NAME.prompt': () => fc.string(),
  'agents.NAME.tools': tools,
  'agents.NAME.model': model,
  'tools.lean': tools,
  'tools.off': tools,
  'limits.requests': () => fc.integer({ min: 1, max: 100 }),
  'limits.calls': () => fc.integer({ min: 1, max: 500 }),
  'limits.tokens': () => fc.integer({ min: 1, max: 1e6 }),
  'limits.cost': () => fc.double({ min: 0.01, max: 100, noNaN: true }),
  'limits.seconds': () => fc.integer({ min: 1, max: 5000 }),
  'web.search.provider': () => fc.constantFrom('brave', 'tavily', 'searxng'),
  'web.search.url': () => fc.constantFrom('https://search.evil.example'),
  diagnostics: () =>
    fc.array(fc.record({ include: fc.constant('*'), command: fc.tuple(fc.constantFrom('lint', 'evil')) }), { maxLength: 2 }),
  'sandbox.backend': () => fc.constantFrom('auto', 'none', 'docker'),
  'sandbox.profile': () => fc.constantFrom('default', 'strict'),
  'sandbox.network': () => fc.constantFrom('none', 'bridge'),
  'sandbox.memory': size,
  'sandbox.cpus': () => fc.double({ min: 0.01, max: 64, noNaN: true }),
  'sandbox.pids': () => fc.integer({ min: 4, max: 9999 }),
  'sandbox.timeout': () => fc.integer({ min: 1, max: 600 }),
  'sandbox.user': () => fc.constantFrom(0, 1000, 'auto'),
  'sandbox.mounts': () => fc.constantFrom([], [{ path: '/', mode: 'read-write' }]),
  'sandbox.output': size,
  'sandbox.disk': size,
  'sandbox.env': () => fc.constantFrom([], ['AWS_SECRET_ACCESS_KEY']),
  'sandbox.image': () => fc.constantFrom('evil', 'mine'),
  'sandbox.gitPrograms': () => fc.constantFrom('run', 'ignore'),
  'sandbox.readable': () => fc.constantFrom([], ['.env.test'], ['~/app/.env']),
  mcpServers: () => fc.constantFrom({}, { evil: { command: 'evil' } }, { notes: { url: 'https://mcp.evil.example' } }),
  'mail.address': () => fc.constantFrom('eve@evil.example'),
  'mail.user': () => fc.constantFrom('eve'),
  'mail.imap': () => fc.constantFrom('imaps://evil.example', 'imap://127.0.0.1:1143'),
  'mail.smtp': () => fc.constantFrom('smtps://evil.example'),
  'notes.vault': () => fc.constantFrom('/home/ann', '~/Notes'),
  notify: () => fc.constantFrom('off', 'bell', 'desktop'),
  theme: () => fc.constantFrom('dark', 'none'),
  plain: () => fc.constantFrom('on', 'off'),
  store: () => fc.constantFrom('postgres://db.evil.example/x', '/tmp/x.db'),
  mode: () => fc.constantFrom(...MODES),
  policy: () =>
    fc.array(fc.record({ tool: fc.constantFrom('bash', '*'), decision: fc.constantFrom('allow', 'ask', 'deny') }), { maxLength: 2 }),
  trustedProjects: () => fc.constantFrom([], ['/']),
  remoteHosts: () => fc.constantFrom([], ['api.evil.example'], ['api.openai.com']),
}

/** The keys in `models` and in `mcpServers` all have the same rule. */
const KEYS = keysIn(configJsonSchema()).filter(({ key }) => !/^(?:models|mcpServers)\./.test(key))
const pathOf = (key: string): readonly string[] => key.replace('NAME', 'far').split('.')
/** Generates a configuration with some of the keys that have values. */
const config = (only: (rule: ProjectRule | undefined) => boolean = () => true): fc.Arbitrary<Config> => {
  const some = KEYS.map(({ key }) => key).filter((key) => only(projectRule(pathOf(key))) && key !== 'web.search.url')
  return fc
    .record(Object.fromEntries(some.map((key) => [key, (VALUES[key] as () => fc.Arbitrary<unknown>)()])), { requiredKeys: [] })
    .map((values) => Object.entries(values).reduce<unknown>((made, [key, value]) => withValue(made, pathOf(key), value), {}) as Config)
}

const read = (here: TestFolders, own: Config, project: Config): Settings => {
  here.write('../own.json', JSON.stringify(own))
  here.write('mulligan.json', JSON.stringify(project))
  return readSettings(here.dir, {}, { MULLIGAN_CONFIG: join(here.dir, '../own.json'), MULLIGAN_DATA_DIR: here.data })
}

/** How much a value permits: a key that may only be tightened must not permit more. */
const GIVES: Readonly<Record<string, (settings: Settings) => number>> = {
  mode: ({ approval }) => MODES.indexOf(approval.mode.value),
  'sandbox.profile': ({ sandbox }) => Number(sandbox.profile?.value !== 'strict'),
  'sandbox.network': ({ sandbox }) => Number(sandbox.network?.value === 'bridge'),
  ...Object.fromEntries(
    (['memory', 'cpus', 'pids', 'timeout', 'output', 'disk'] as const).map((key) => [
      `sandbox.${key}`,
      ({ sandbox }: Settings) => sandbox[key].value,
    ]),
  ),
  ...Object.fromEntries(
    (Object.keys(DEFAULT_LIMITS) as (keyof Settings['limits'])[]).map((key) => [
      `limits.${key}`,
      ({ limits }: Settings) => limits[key].value,
    ]),
  ),
}

const staysHere = (key: string, value: unknown): boolean =>
  value === undefined || (key === 'baseUrl' ? isLoopbackUrl(String(value)) : !isCloud(String(value)))

/** Checks what each rule promises, given a key without and with the project's file. */
function expectKept(key: string, without: Settings, withIt: Settings): void {
  const path = pathOf(key)
  const rule = projectRule(path)
  const [before, after] = [without, withIt].map((one) => valueAt(effectiveConfig(one), path))
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
  const gives = GIVES[key]
  if (rule?.may === 'set') return
  if (gives) expect(gives(withIt), key).toBeLessThanOrEqual(gives(without))
  else if (rule?.may === 'local')
    expect([key, after, staysHere(key, after) || JSON.stringify(after) === JSON.stringify(before)]).toEqual([key, after, true])
  else if (rule?.may === 'fallback') expect(after, key).toEqual(without.agent.origin === 'default' ? after : before)
  else if (key === 'policy') expect(withIt.approval.rules).toEqual(without.approval.rules)
  else if (key.startsWith('agents')) expect(after, key).toEqual(without.agents.length === 0 ? after : before)
  else if (rule?.may === 'add') expect(list(after), key).toEqual(expect.arrayContaining([...list(before)]))
  else expect(after, key).toEqual(before)
}

/** A value of the user and one of the project for each kind of rule. */
const EXAMPLES: [Config, Config][] = [
  [{}, { baseUrl: 'https://api.evil.example/v1' }],
  [{}, { diagnostics: [{ include: '*', command: ['evil'] }] }],
  [{ mcpServers: { notes: { command: 'mine' } } }, { mcpServers: { notes: { command: 'evil' } } }],
  [{ limits: { requests: 5 } }, { limits: { requests: 9 } }],
]

describe('a project’s file', () => {
  it('has a rule and values here for every key', () => {
    expect(KEYS.map(({ key }) => key).sort()).toEqual(Object.keys(VALUES).sort())
    expect(KEYS.filter(({ path }) => projectRule(path) === undefined)).toEqual([])
    const stricter = KEYS.filter(({ path }) => ['tighten', 'lower'].includes(projectRule(path)?.may ?? ''))
    expect(Object.keys(GIVES).sort()).toEqual(stricter.map(({ key }) => key).sort())
    // @ts-expect-error a key without a rule does not compile
    const loose: Row = { type: z.string, description: '' }
    const ruled: Row = { type: z.string, description: '', project: set }
    expect([loose, ruled]).toHaveLength(2)
  })

  it('loosens no key and leads nowhere else than the person’s alone', () => {
    using here = place()
    const asked = config((rule) => rule?.may !== 'user')
    fc.assert(
      fc.property(config(), asked, (own, project) => {
        const { trustedProjects: _, remoteHosts: __, ...said } = own
        if (refusedIn(project) || project.policy?.some(({ decision }) => decision === 'allow')) {
          expect(() => read(here, said, project)).toThrow(/a project's file can't set it|a project can't decide/)
          return
        }
        const [without, withIt] = [read(here, said, {}), read(here, said, project)]
        for (const { key } of KEYS) expectKept(key, without, withIt)
      }),
      { numRuns: 300, examples: EXAMPLES },
    )
  })

  it('that has what only the person decides is refused', () => {
    using here = place()
    for (const { key } of KEYS.filter(({ path }) => projectRule(path)?.may === 'user'))
      fc.assert(
        fc.property((VALUES[key] as () => fc.Arbitrary<unknown>)(), (value) => {
          const given =
            key === 'web.search.url' ? { web: { search: { provider: 'searxng', url: value } } } : withValue({}, pathOf(key), value)
          expect(() => read(here, {}, given as Config), key).toThrow("a project's file can't set it")
        }),
        { numRuns: 5 },
      )
  })

  // The control case: without the rules, the withheld values would count.
  it.each<[string, unknown]>([
    ['baseUrl', 'http://127.evil.example'],
    ['model', 'openai/x'],
    ['agents.far.model', 'anthropic/x'],
    ['diagnostics', [{ include: '*', command: ['evil'] }]],
    ['sandbox.readable', ['.env']],
  ])('%s counts after the person’s word for this value, and no other', (key, value) => {
    const project = withValue({}, key.split('.'), value) as Config
    const word = (allowed: unknown): Word => ({
      own: {},
      isTrusted: false,
      hosts: [],
      allows: (one, given) => one === key && JSON.stringify(given) === JSON.stringify(allowed),
    })
    const after = (allowed: unknown) => admit(project, 'mulligan.json', word(allowed))
    expect([valueAt(after(value).values, key.split('.')), after(value).withheld]).toEqual([value, []])
    expect(valueAt(after('other').values, key.split('.'))).toBeUndefined()
    expect(after('other').withheld).toMatchObject([{ key, value }])
  })

  it('whose server is not allowed has no say in its model either', () => {
    using here = place()
    const { model, baseUrl } = read(here, { model: 'ollama/mine' }, { model: 'theirs', baseUrl: 'http://127.evil.example' })
    expect([model?.value, baseUrl]).toEqual(['ollama/mine', undefined])
  })
})
