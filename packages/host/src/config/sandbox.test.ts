import { DEFAULT_SANDBOX_LIMITS, STRICT_LIMITS } from '@mulligan/sandbox'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { place } from '../common/place.fixture.ts'
import { admit } from './admit.ts'
import { environment } from './environment.ts'
import { flagLayer, type SandboxFlags } from './layers.ts'
import { readableSecrets, sandboxOptions, sandboxSettings, withProfile } from './sandbox.ts'
import type { SandboxFields } from './schema.ts'
import { readSettings } from './settings.ts'

const MB = 1024 * 1024
const PROJECT = 'mulligan.json'

interface Given {
  readonly flags?: SandboxFlags
  readonly env?: Readonly<Record<string, string>>
  readonly project?: SandboxFields
  readonly user?: SandboxFields
}

const settings = ({ flags = {}, env = {}, project = {}, user = {} }: Given) => {
  const now = environment(env)
  const own = { sandbox: { ...user, ...now.values.sandbox, ...flags } }
  const { values } = admit({ sandbox: withProfile(project) }, PROJECT, { own, isTrusted: false, hosts: [], allows: () => false })
  return sandboxSettings([
    flagLayer({ sandbox: flags }),
    { origin: 'env', ...now },
    { origin: 'project', values, from: () => PROJECT },
    { origin: 'user', values: { sandbox: user }, from: () => 'own' },
  ])
}
const options = (given: Given) => sandboxOptions(settings(given), '/work', {})

describe('what is in force', () => {
  it('by default is what the sandbox says', () => {
    expect(options({})).toEqual({ workspace: '/work', protect: ['.mulligan', 'mulligan.json'], limits: DEFAULT_SANDBOX_LIMITS })
  })

  it('holds the settings of the workspace, where there are any', () => {
    using here = place({ 'mulligan.json': '{}' })
    expect(sandboxOptions(settings({}), here.dir, {}).protect).toEqual(['.mulligan', 'mulligan.json'])
  })

  it.each<[string, Given, unknown]>([
    [
      'a flag before the environment',
      { flags: { memory: '1g' }, env: { MULLIGAN_SANDBOX_MEM: '3g' }, user: { memory: '4g' } },
      [1024 * MB, '--memory'],
    ],
    [
      'the environment before the file',
      { env: { MULLIGAN_SANDBOX_MEM: '3g' }, user: { memory: '4g' } },
      [3072 * MB, 'MULLIGAN_SANDBOX_MEM'],
    ],
    ["the person's file before the default", { user: { memory: '4g' } }, [4096 * MB, 'own']],
    ['a project that asks for less', { user: { memory: '4g' }, project: { memory: 512 * MB } }, [512 * MB, PROJECT]],
    ['not one that asks for more', { user: { memory: '1g' }, project: { memory: '64g' } }, [1024 * MB, 'own']],
    ['nor more than the default', { project: { memory: '64g' } }, [2048 * MB, 'default']],
    ['a project that is strict', { project: { profile: 'strict' } }, [512 * MB, PROJECT]],
    ["a project that is strict, over the person's own", { user: { memory: '4g' }, project: { profile: 'strict' } }, [512 * MB, PROJECT]],
    ['the person, strict', { user: { profile: 'strict' } }, [512 * MB, 'default']],
    ['the person, strict with more memory', { user: { profile: 'strict', memory: '1g' } }, [1024 * MB, 'own']],
    [
      'what is said now before the project',
      { flags: { memory: '4g' }, project: { profile: 'strict', memory: '64m' } },
      [4096 * MB, '--memory'],
    ],
  ])('%s: of memory', (_, given, expected) => {
    const { memory } = settings(given)
    expect([memory.value, memory.from]).toEqual(expected)
  })

  it('a project may take the network away, and not give it', () => {
    expect(settings({ user: { network: 'bridge' }, project: { network: 'none' } }).network).toMatchObject({ value: 'none', from: PROJECT })
    expect(settings({ env: { MULLIGAN_SANDBOX_NETWORK: 'bridge' } }).network?.value).toBe('bridge')
  })

  it('a project that is strict is strict in everything', () => {
    const { profile, limits } = options({ project: { profile: 'strict' } })
    expect([profile, limits]).toEqual(['strict', STRICT_LIMITS])
    expect(options({ user: { profile: 'strict' }, project: { profile: 'default' as const } }).profile).toBe('strict')
  })

  it('whatever a project says, no limit is above what there is without it', () => {
    const fields = fc.record<SandboxFields>(
      {
        profile: fc.constantFrom('default', 'strict'),
        network: fc.constantFrom('none'),
        memory: fc.oneof(fc.integer({ min: 16 * MB, max: 2 ** 40 }), fc.constantFrom('64m', '3g')),
        cpus: fc.double({ min: 0.01, max: 64, noNaN: true }),
        pids: fc.integer({ min: 4, max: 9999 }),
        timeout: fc.integer({ min: 1, max: 600 }),
        output: fc.integer({ min: 1, max: 2 ** 30 }),
        disk: fc.integer({ min: MB, max: 2 ** 40 }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fields, fields, (project, user) => {
        const [without, withIt] = [options({ user }), options({ user, project })]
        for (const [limit, value] of Object.entries(withIt.limits ?? {}))
          expect(value).toBeLessThanOrEqual((without.limits as Record<string, number>)[limit] as number)
        if (without.profile === 'strict') expect(withIt.profile).toBe('strict')
        expect(withIt.network).not.toBe('bridge')
      }),
    )
  })

  it('who keeps more of the output lets it print more', () => {
    expect(options({ user: { output: '10m' } }).limits).toMatchObject({ output: 10 * MB, outputStop: DEFAULT_SANDBOX_LIMITS.outputStop })
    expect(options({ user: { output: '2g' } }).limits).toMatchObject({ output: 2048 * MB, outputStop: 2048 * MB })
    expect(options({ user: { output: 1000 } }).limits).toMatchObject({ output: 1000, outputStop: DEFAULT_SANDBOX_LIMITS.outputStop })
  })

  it('a mount under the home folder is found there, and read-only unless it says otherwise', () => {
    const { mounts } = options({ user: { mounts: [{ path: '~/data' }, { path: '/srv', mode: 'read-write' }] } })
    expect(mounts).toEqual([
      { path: expect.stringMatching(/^\/.*[^~]\/data$/), mode: 'read-only' },
      { path: '/srv', mode: 'read-write' },
    ])
  })
})

describe('secret files that commands may read', () => {
  it('are those of the workspace: of all, or of the one that is named', () => {
    const paths = ['.env.test', './config/.env', '/work/.env', '/other/.env', '~/app/.env', '/work']
    expect(readableSecrets(settings({ user: { readable: paths } }), '/work', {})).toEqual(['.env.test', 'config/.env', '.env'])
    expect(readableSecrets(settings({}), '/work', {})).toEqual([])
  })

  it('are those of the person and, after their word, of the project', () => {
    using here = place({ [PROJECT]: JSON.stringify({ sandbox: { readable: ['.env'] } }) })
    here.write('../own.json', JSON.stringify({ sandbox: { readable: ['.env.test'] } }))
    const readable = (isTrusted: boolean) => {
      const word = { key: 'sandbox.readable', value: ['.env'] }
      const trust = { version: 1, folders: isTrusted ? { [here.dir]: { settings: [word] } } : {} }
      here.write('../data/trust.json', JSON.stringify(trust))
      const env = { MULLIGAN_CONFIG: `${here.dir}/../own.json`, MULLIGAN_DATA_DIR: here.data }
      const { sandbox, withheld } = readSettings(here.dir, {}, env)
      return [readableSecrets(sandbox, here.dir, {}), withheld.map(({ key, does }) => `${key} ${does}`)]
    }
    expect(readable(false)).toEqual([['.env.test'], ['sandbox.readable lets commands read these secret files']])
    expect(readable(true)).toEqual([['.env', '.env.test'], []])
  })
})
