import { say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place, using } from '../../../test/cli.fixture.ts'

const OWN = '../.config/mulligan/config.json'
const PROJECT = 'mulligan.json'
const json = (value: unknown): string => JSON.stringify(value)

describe('a file that is wrong ends the command before anything is sent', () => {
  it.each([
    [PROJECT, { modell: 'x' }, 'mulligan.json: there is no key "modell"; did you mean "model"?'],
    [PROJECT, { tools: { of: [] } }, 'mulligan.json: there is no key "of" in tools; did you mean "off"?'],
    [PROJECT, { limits: { requests: 0 } }, 'mulligan.json: limits.requests: '],
    [PROJECT, { agents: { review: { tool: [] } } }, 'there is no key "tool" in agents.review; did you mean "tools"?'],
    [PROJECT, { diagnostics: [{ include: '*.ts', command: 'tsc' }] }, 'mulligan.json: diagnostics[0].command: '],
    [
      PROJECT,
      { diagnostics: [{ include: '*.ts', command: ['sh', '-c', 'lint {file}'] }] },
      'mulligan.json: diagnostics[0].command: "lint {file}": {file} must not be in code that sh runs',
    ],
    [PROJECT, [], 'mulligan.json: '],
    [PROJECT, { remoteHosts: ['x.org'] }, "remoteHosts decides where data goes, so a project's file can't set it"],
    [
      PROJECT,
      { web: { search: { provider: 'searxng', url: 'https://x.org' } } },
      "web.search decides where data goes, so a project's file can't set it",
    ],
    [OWN, { agnet: 'plan' }, '~/.config/mulligan/config.json: there is no key "agnet"; did you mean "agent"?'],
  ])('%s %j', async (path, value, says) => {
    using here = place({ [path]: json(value) })
    await using model = await scriptedModel([])
    const { code, stderr } = await here.run(['Hi', ...using(model)])
    expect(stderr).toContain(`mulligan: `)
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)])
    expect(model.requests).toEqual([])
  })

  it('not JSON, a folder, and a file named by MULLIGAN_CONFIG that does not exist', async () => {
    using here = place({ [PROJECT]: '{ "model": }' })
    expect((await here.run(['config'])).stderr).toMatch(
      /^mulligan: mulligan\.json: it is not valid JSON: line 1, column 12: value expected/,
    )
    expect((await here.run(['config'])).stderr).not.toContain('explain')
    using folder = place({ [`${PROJECT}/x`]: '' })
    expect((await folder.run(['config'])).stderr).toContain('it is not a file')
    using none = place()
    expect((await none.run(['config'], { env: { MULLIGAN_CONFIG: '/nowhere/c.json' } })).stderr).toContain('which does not exist')
    expect((await none.run(['config'], { env: { MULLIGAN_CONFIG: 'c.json' } })).stderr).toContain('must be an absolute path')
  })
})

describe('what is in force', () => {
  const rows = async (here: ReturnType<typeof place>, env: Readonly<Record<string, string>> = {}) => {
    const { settings } = JSON.parse((await here.run(['config', '--json'], { env })).stdout) as {
      settings: { key: string; value: unknown; from: string }[]
    }
    return Object.fromEntries(settings.map(({ key, value, from }) => [key, [value, from]]))
  }

  it('is of the environment before the project before the person before the default', async () => {
    using here = place({
      [PROJECT]: '{ "model": "ollama/project", "limits": { "requests": 9, "calls": 9 }, "tools": { "off": ["grep"] } } // ours',
      [OWN]: json({ model: 'ollama/own', agent: 'plan', limits: { requests: 5 }, tools: { off: ['glob'] } }),
    })
    const own = '~/.config/mulligan/config.json'
    expect(await rows(here)).toEqual({
      model: ['ollama/project', PROJECT],
      context: [32_768, 'default'],
      agent: ['plan', own],
      'tools.off': ['glob', own],
      'limits.requests': [5, own],
      'limits.calls': [9, PROJECT],
      mode: ['ask', 'default'],
      notify: ['bell', 'default'],
      theme: ['auto', 'default'],
      plain: ['auto', 'default'],
      'sandbox.backend': ['auto', 'default'],
      'sandbox.network': ['none', 'default'],
      'sandbox.memory': ['2g', 'default'],
      'sandbox.cpus': [1, 'default'],
      'sandbox.pids': [256, 'default'],
      'sandbox.timeout': [120, 'default'],
      'sandbox.output': ['200000', 'default'],
      'sandbox.disk': ['8g', 'default'],
    })
    expect((await rows(here, { MULLIGAN_MODEL: 'ollama/env' }))['model']).toEqual(['ollama/env', 'MULLIGAN_MODEL'])
    expect((await rows(here, { MULLIGAN_CONTEXT: '8192' }))['context']).toEqual([8192, 'MULLIGAN_CONTEXT'])
    expect((await rows(here, { MULLIGAN_MODEL: 'anthropic/x' }))['context']).toEqual([200_000, 'default'])
    const text = await here.run(['config'])
    expect(text.stdout).toMatch(/^model +ollama\/project +mulligan\.json$/m)
    expect((await here.run(['config', 'path'])).stdout).toBe(
      `${here.dir}/${PROJECT}\n${here.dir.replace(/work$/, '')}.config/mulligan/config.json\n`,
    )
  })

  it('of XDG_CONFIG_HOME and MULLIGAN_CONFIG too; no password is shown', async () => {
    using here = place({
      '../x/mulligan/config.json': json({ agent: 'ask' }),
      '../own.json': json({ baseUrl: 'http://ann:secret@host/v1' }),
    })
    const root = here.dir.replace(/work$/, '')
    expect((await rows(here, { XDG_CONFIG_HOME: `${root}x` }))['agent']).toEqual(['ask', '~/x/mulligan/config.json'])
    expect((await rows(here, { MULLIGAN_CONFIG: `${root}own.json` }))['baseUrl']?.[0]).toBe('http://[secret]@host/v1')
  })

  it('is what a run goes by; a flag overrides it', async () => {
    await using model = await scriptedModel([say('One.'), say('Two.')])
    using here = place({ [OWN]: json({ model: 'own-name', baseUrl: model.url, limits: { requests: 1 } }) })
    const first = JSON.parse((await here.run(['Hi', '--json'])).stdout)
    expect(first).toMatchObject({ status: 'stopped', stoppedBy: 'requests' })
    expect(JSON.parse((await here.run(['Hi', '--json', '--max-requests', '3'])).stdout)).toMatchObject({ status: 'answered' })
    expect((model.requests[0]?.body as { model: string }).model).toBe('own-name')
  })
})

describe('names that nothing has', () => {
  it('are told where the settings are looked at', async () => {
    using here = place({
      [PROJECT]: json({ agent: 'plam', tools: { off: ['web_serch'] }, agents: { review: { tools: ['gerp', 'g*'] } } }),
      [OWN]: json({ web: { search: { provider: 'brave' } } }),
    })
    for (const command of ['config', 'agents']) {
      const { code, stderr } = await here.run([command], { env: { BRAVE_API_KEY: 'k' } })
      expect([code, stderr.split('\n')]).toEqual([
        0,
        [
          'Warning: mulligan.json: there is no agent "plam"; did you mean plan?',
          'Warning: agent review: there is no tool "gerp"; did you mean grep? It runs without it.',
          'Warning: mulligan.json: tools.off: there is no tool "web_serch"; did you mean web_search?',
          '',
        ],
      ])
      expect((await here.run([command])).stderr).toContain('BRAVE_API_KEY is not set')
    }
    using fine = place({ [PROJECT]: json({ agent: 'plan', tools: { off: ['grep'] } }) })
    for (const command of ['config', 'agents']) expect((await fine.run([command])).stderr).toBe('')
  })
})

it.each([
  ['of a file', [], '(1, limits.requests in mulligan.json)'],
  ['of a flag', ['--max-requests', '1'], '(--max-requests 1)'],
])('a limit is told with where it comes from: %s', async (_, flags, says) => {
  using here = place({ 'a.txt': 'x', [PROJECT]: json({ limits: { requests: 1 } }) })
  await using model = await scriptedModel([say('One.')])
  const { code, stderr } = await here.run(['Hi', ...flags, ...using(model)])
  expect([code, stderr]).toEqual([3, expect.stringContaining(`Stopped by the limit of model requests ${says}. To go on: `)])
})

describe('a project’s file can’t send the conversation away by itself', () => {
  const elsewhere = 'http://models.invalid:9/v1'
  it.each([
    ['a base URL', { model: 'x', baseUrl: elsewhere }, 'models.invalid', `baseUrl to "${elsewhere}"`],
    ['a model in the cloud', { model: 'anthropic/x' }, 'api.anthropic.com', 'model to "anthropic/x"'],
  ])('%s', async (_, value, host, says) => {
    using here = place({ [PROJECT]: json(value) })
    const env = { ANTHROPIC_API_KEY: 'sk-x' }
    const { code, stderr } = await here.run(['Hi'], { env })
    expect(code).toBe(2)
    expect(stderr).toContain(`Ignored: ${PROJECT} sets ${says}, which would send this conversation to ${host}. To allow it: mulligan trust`)
    expect(stderr).toContain('no model was named')
  })

  it('and without the key of a cloud that is what is told', async () => {
    using here = place({ [PROJECT]: json({ model: 'anthropic/x' }) })
    const { code, stderr } = await here.run(['Hi'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('would send this conversation to api.anthropic.com')])
    expect((await here.run(['Hi', '--model', 'anthropic/x'])).stderr).toContain('ANTHROPIC_API_KEY is not set')
  })

  it('nor an agent of the project', async () => {
    using here = place({ [PROJECT]: json({ agent: 'far', agents: { far: { model: 'openai/x' } } }) })
    expect((await here.run(['Hi'], { env: { OPENAI_API_KEY: 'sk-x' } })).stderr).toContain('send this conversation to api.openai.com')
  })

  it('but the person may allow the host, or name the same; and a model on this machine is shown', async () => {
    using allowed = place({ [PROJECT]: json({ model: 'x', baseUrl: elsewhere }), [OWN]: json({ remoteHosts: ['models.invalid'] }) })
    const sent = await allowed.run(['Hi', '--timeout', '1', '--json'])
    expect(JSON.parse(sent.stdout)).toHaveProperty('status')
    expect(sent.stderr).toBe('The model is openai-compatible/x on models.invalid, from mulligan.json.\n')
    using named = place({ [PROJECT]: json({ model: 'x', baseUrl: elsewhere }) })
    expect((await named.run(['Hi', '--timeout', '1', '--base-url', elsewhere])).stderr).not.toContain('Not used')
    await using model = await scriptedModel([say('Hello.')])
    using local = place({ [PROJECT]: json({ model: 'x', baseUrl: model.url }) })
    const { code, stderr } = await local.run(['Hi'])
    expect([code, stderr.split('\n')[0]]).toEqual([0, 'The model is openai-compatible/x on this machine, from mulligan.json.'])
  })
})
