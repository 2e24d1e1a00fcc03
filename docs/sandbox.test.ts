/** The tables about the sandbox are those of the code. */
import { BACKENDS, DEFAULT_SANDBOX_LIMITS, type Enforced, type Limits, type Reason, STRICT_LIMITS } from '@mulligan/sandbox'
import { describe, expect, it } from 'vitest'
import { SANDBOX_EXIT, sizeText } from '../packages/cli/src/commands/sandbox/run.ts'
import { refusedIn } from '../packages/host/src/config/admit.ts'
import { ROWS, type SandboxFields } from '../packages/host/src/config/schema.ts'
import { pageText, tableUnder } from './page.fixture.ts'

const page = pageText('docs/sandbox.md')
const listed = (text: string): string[] => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name as string)

/** Both fail to compile when one comes or goes. */
const REASONS: Readonly<Record<Reason, true>> = {
  exit: true,
  signal: true,
  timeout: true,
  aborted: true,
  memory: true,
  disk: true,
  output: true,
}
const ENFORCED: Readonly<Record<Enforced, true>> = {
  files: true,
  network: true,
  memory: true,
  processes: true,
  cpu: true,
  disk: true,
  treeKill: true,
}

describe('docs/sandbox.md', () => {
  it('every backend', () => {
    expect(tableUnder(page, 'Backends').map(([name]) => name)).toEqual([...BACKENDS])
  })

  it('every setting, with its defaults', () => {
    const rows = new Map(tableUnder(page, 'Settings').map(([key = '', ...rest]) => [key, rest]))
    expect([...rows.keys()].sort()).toEqual(ROWS.flatMap(([, [group, name]]) => (group === 'sandbox' ? [name] : [])).sort())
    const shown: readonly [string, keyof Limits, (value: number) => string][] = [
      ['memory', 'memory', sizeText],
      ['cpus', 'cpus', String],
      ['pids', 'processes', String],
      ['timeout', 'timeout', String],
      ['output', 'output', sizeText],
      ['disk', 'disk', sizeText],
    ]
    for (const [key, limit, text] of shown)
      expect([key, ...(rows.get(key) ?? []).slice(0, 2)]).toEqual([key, text(DEFAULT_SANDBOX_LIMITS[limit]), text(STRICT_LIMITS[limit])])
  })

  it('what a project may not set', () => {
    const [, says = ''] = /Settings that would loosen the sandbox \(([^)]*)\)/.exec(page) ?? []
    const told = listed(says.replace(/`"network": "bridge"`/, '`network`'))
    const values: SandboxFields = {
      network: 'bridge',
      memory: '1t',
      profile: 'default',
      backend: 'none',
      user: 0,
      mounts: [],
      env: [],
      image: 'x',
      cpus: 9,
      gitPrograms: 'run',
    }
    const refused = Object.entries(values).filter(([key, value]) => refusedIn({ sandbox: { [key]: value } }) !== undefined)
    expect(told.sort()).toEqual(refused.map(([key]) => key).sort())
  })

  it('every reason, and every limit that is held', () => {
    expect(tableUnder(page, 'How a command ends').map(([reason]) => reason)).toEqual(Object.keys(REASONS))
    const [, limits = ''] = /The limits are ([^.]*)\./.exec(page) ?? []
    expect(listed(limits)).toEqual(Object.keys(ENFORCED))
  })
})

it('docs/cli.md has the exit codes of mulligan sandbox run', () => {
  const codes = tableUnder(pageText('docs/cli.md'), 'Its exit code').map(([code]) => code)
  expect(codes).toEqual(expect.arrayContaining(Object.values(SANDBOX_EXIT).map(String)))
})
