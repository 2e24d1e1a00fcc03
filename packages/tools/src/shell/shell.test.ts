import { rulesPolicy } from '@mulligan/core'
import { defaultPolicy } from '@mulligan/core/executor'
import { conformance } from '@mulligan/testing'
import { describe, expect, test } from 'vitest'
import { createWorkspace } from '../create-workspace.ts'
import { shellPolicy, shellTools } from '../index.ts'
import { temporary } from '../workspace.fixture.ts'
import { shell } from './shell.fixture.ts'

const TOKENS = 361

const workspace = createWorkspace(temporary())
const { tools } = shellTools({ workspace, sandbox: () => Promise.reject(new Error('not opened')) })

describe('the set', () => {
  test('has the tools, in their order', () => {
    expect(tools.map(({ name, effect }) => [name, effect])).toEqual([
      ['bash', 'write'],
      ['bash_output', 'read'],
      ['bash_kill', 'write'],
    ])
  })

  test('with a network bash is external', () => {
    const [bash] = shellTools({ workspace, network: 'bridge', sandbox: () => Promise.reject(new Error('not opened')) }).tools
    expect(bash).toMatchObject({ effect: 'external', description: expect.stringContaining('with network') })
  })

  test(`costs at most ${TOKENS} tokens with schemas and descriptions`, () => {
    const text = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, parameters: inputSchema })).join('')
    expect(Math.ceil(text.length / 4)).toBeLessThanOrEqual(TOKENS)
  })

  test('no two tools share a name or alias', () => {
    const names = tools.flatMap((tool) => [...new Set([tool.name, ...tool.aliases.map((alias) => alias.name)])])
    expect(new Set(names).size).toBe(names.length)
  })
})

test('the tools keep the contract', async () => {
  const report = await conformance((dir) => shell({}, {}, dir).tools)
  const faults = report.tools.flatMap(({ tool, checks }) =>
    checks.filter(({ outcome }) => outcome === 'fail').map(({ check, why }) => `${tool} ${check}: ${why}`),
  )
  expect(faults).toEqual([])
  expect(report).toMatchObject({ conforms: true, tools: { length: 3 } })
}, 120_000)

describe('the policy', () => {
  const [bash] = tools
  const asks = { decision: 'ask' } as const
  const rules = rulesPolicy([{ tool: 'bash', target: 'npm test*', decision: 'allow' }], defaultPolicy)

  /** Returns the strictest decision over all simple commands, as the executor does. */
  const decide = (command: string, policy = rules, place = { workspace: workspace.root, home: '/home/ann' }) => {
    const targets = bash?.target({ command, cwd: '.' } as never) as readonly string[]
    const guarded = shellPolicy(policy, place)
    const decisions = targets.map((target) => guarded({ tool: 'bash', effect: 'write', input: { command }, target }))
    if (decisions.some(({ forced }) => forced)) return 'forced'
    return (['deny', 'ask'] as const).find((one) => decisions.some(({ decision }) => decision === one)) ?? 'allow'
  }

  test.each([
    ['ls -la', 'allow'],
    ['cat a.txt', 'allow'],
    ['cat a.txt | grep x', 'ask'],
    ['npm test', 'allow'],
    ['npm test | tail -5', 'ask'],
    ['npm test; rm x', 'ask'],
    ['npm test && make', 'ask'],
    ['npm test$(rm x)', 'ask'],
    ['make', 'ask'],
    ["A='$(rm x)'; ls", 'ask'],
    ['rm -rf /', 'forced'],
    ['npm test; rm -rf /', 'forced'],
    ['cat ~/.ssh/id_rsa', 'forced'],
    // a rule for the beginning of a command must not cover these
    ['npm test > src/a.ts', 'ask'],
    [`${'npm test\n'.repeat(12_000)}rm x`, 'ask'],
    [`npm test ${'x'.repeat(100_001)}`, 'ask'],
    ['rm() { echo; }; rm x; unset -f rm; rm x', 'ask'],
    ['rm() { echo; }; command rm x', 'ask'],
    ['rm() { echo; }; command rm -rf /', 'forced'],
  ])('%.60s: %s', (command, decision) => expect(decide(command)).toBe(decision))

  test('what destroys asks a person whatever is allowed, and what only reads is asked by nobody', () => {
    const everything = () => ({ decision: 'allow', reason: 'everything is' }) as const
    expect(decide('rm -rf /', everything)).toBe('forced')
    expect(decide('rm -rf /', () => ({ decision: 'deny', reason: '' }))).toBe('deny')
    expect(everything().decision).toBe('allow')
    expect(decide('ls', () => ({ ...asks, reason: '' }))).toBe('allow')
  })

  test('other tools are left to the policy; the session’s own commands may be ended', () => {
    const policy = shellPolicy(() => ({ decision: 'deny', reason: 'no' }), { workspace: workspace.root })
    expect(policy({ tool: 'write_file', effect: 'write', input: {}, target: 'a' }).decision).toBe('deny')
    expect(policy({ tool: 'bash_kill', effect: 'write', input: { id: 'bg1' }, target: 'bg1' }).decision).toBe('allow')
  })

  test.each([
    ['ls -la', 'read'],
    ['ls | wc -l', 'write'],
    ['make', 'write'],
    ['ls; make', 'write'],
    ['ls > x', 'write'],
  ])('what %s does: %s', (command, effect) => expect(bash?.effectOf?.({ command, cwd: '.', background: false } as never)).toBe(effect))

  test('a call acts on each of its simple commands', () => {
    expect(bash?.target({ command: 'cd  src && npm   test; npm test', cwd: '.' } as never)).toEqual(['cd src', 'npm test'])
    expect(bash?.target({ command: '# nothing', cwd: '.' } as never)).toEqual(['(script) # nothing'])
  })
})
