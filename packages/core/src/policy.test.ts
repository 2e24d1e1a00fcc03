import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  defaultPolicy,
  literalPattern,
  MODES,
  type Mode,
  modePolicy,
  type Policy,
  type PolicyRequest,
  type PolicyRule,
  rulesPolicy,
  stricterMode,
  strictestPolicy,
} from './policy.ts'

const request = (more: Partial<PolicyRequest> = {}): PolicyRequest => ({
  tool: 'write_file',
  effect: 'write',
  input: {},
  target: 'src/a.ts',
  ...more,
})
const decide = (rules: readonly PolicyRule[], more: Partial<PolicyRequest> = {}) => rulesPolicy(rules)(request(more)).decision

describe('defaultPolicy', () => {
  it.each([
    ['read', 'allow'],
    ['write', 'ask'],
    ['external', 'ask'],
  ] as const)('%s: %s', (effect, decision) =>
    expect(defaultPolicy(request({ effect }))).toMatchObject({ decision, reason: expect.any(String) }))
})

describe('rulesPolicy', () => {
  it('the first rule that matches decides, and gives its reason', () => {
    const policy = rulesPolicy([
      { decision: 'deny', target: 'secrets/*', reason: 'secrets stay' },
      { decision: 'allow', effect: 'write' },
    ])
    expect(policy(request({ target: 'secrets/key' }))).toEqual({ decision: 'deny', reason: 'secrets stay' })
    expect(policy(request())).toMatchObject({ decision: 'allow', reason: expect.any(String) })
    expect(policy(request({ effect: 'external' }))).toMatchObject({ decision: 'ask' })
  })

  it('what matches nothing is for the fallback', () => {
    const deny = rulesPolicy([{ decision: 'allow', tool: 'read_file' }], () => ({ decision: 'deny', reason: 'nothing else' }))
    expect(deny(request()).decision).toBe('deny')
  })

  it('every part of a rule has to match', () => {
    const rule: PolicyRule = { decision: 'allow', tool: 'write_*', effect: 'write', target: 'src/*' }
    expect(decide([rule])).toBe('allow')
    for (const other of [{ tool: 'read_file' }, { effect: 'external' as const }, { target: 'docs/a' }])
      expect(decide([rule], other)).toBe('ask')
  })

  it.each([
    ['*', 'anything', true],
    ['src/*', 'src/a/b.ts', true],
    ['src/*', 'lib/src/a', false],
    ['*.ts', 'a.ts', true],
    ['*.ts', 'a.tsx', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['a*a', 'a', false],
    ['ab*ba', 'aba', false],
    ['a.b', 'axb', false],
    ['[x]+(y)', '[x]+(y)', true],
    ['src/*', 'src/\n', true],
    ['', 'x', false],
    ['npm test *', 'npm test --watch', true],
    ['npm test *', 'npm test', true],
    ['npm test *', 'npm testing', false],
    ['npm test *', 'npm tes', false],
    ['a * *', 'a', false],
    [' *', '', true],
    ['rm \\*.log', 'rm *.log', true],
    ['rm \\*.log', 'rm -rf / x.log', false],
    ['a\\\\*', 'a\\b', true],
    ['C:\\a', 'C:\\a', true],
  ])('%j and %j: %s', (target, text, matches) =>
    expect(decide([{ decision: 'allow', target }], { target: text }) === 'allow').toBe(matches))

  it('matches as a regular expression would', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 })
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 6 })
    fc.assert(
      fc.property(pattern, word, (target, text) => {
        const regex = new RegExp(`^${target.replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
        expect(decide([{ decision: 'allow', target }], { target: text }) === 'allow').toBe(regex.test(text))
      }),
      { numRuns: 2000 },
    )
  })

  it('a literal pattern matches its own text and no other', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '*', '\\'), maxLength: 8 })
    fc.assert(
      fc.property(text, text, (one, other) => {
        const matches = (target: string): boolean => decide([{ decision: 'allow', target: literalPattern(one) }], { target }) === 'allow'
        expect([matches(one), matches(other)]).toEqual([true, one === other])
      }),
      { numRuns: 2000 },
    )
  })

  it.each<[Record<string, string>, Record<string, unknown>, boolean]>([
    [{ content: '*secret*' }, { content: 'a secret b' }, true],
    [{ content: '*secret*' }, { content: 'nothing' }, false],
    [{ content: '*' }, {}, false],
    [{ toString: '*' }, {}, false],
    [{ overwrite: 'true' }, { overwrite: true }, true],
    [{ edits: '*"b"*' }, { edits: [{ new_text: 'b' }] }, true],
    [{ a: 'x', b: 'y' }, { a: 'x', b: 'z' }, false],
    [{ a: 'x', b: 'y' }, { a: 'x', b: 'y' }, true],
    [{}, {}, true],
  ])('parameters: %j and %j: %s', (input, given, matches) =>
    expect(decide([{ decision: 'allow', input }], { input: given }) === 'allow').toBe(matches))

  it('many stars and a target that almost matches take no time', () => {
    expect(decide([{ decision: 'allow', target: `${'*a'.repeat(50)}*b` }], { target: 'a'.repeat(500) })).toBe('ask')
  })
})

describe('strictestPolicy', () => {
  const says =
    (decision: 'allow' | 'ask' | 'deny', reason = decision as string, forced = false): Policy =>
    () => ({ decision, reason, ...(forced && { forced }) })

  it.each([
    [['allow', 'ask'], 'ask'],
    [['deny', 'allow'], 'deny'],
    [['ask', 'deny', 'allow'], 'deny'],
    [['allow', 'allow'], 'allow'],
  ] as const)('%j: %s', ([first, ...rest], decision) =>
    expect(strictestPolicy(says(first), ...rest.map((one) => says(one)))(request()).decision).toBe(decision))

  it('of equal ones the first speaks, and one that only a person may answer overrides it', () => {
    expect(strictestPolicy(says('ask', 'first'), says('ask', 'second'))(request()).reason).toBe('first')
    expect(strictestPolicy(says('ask', 'first'), says('ask', 'second', true))(request())).toMatchObject({ reason: 'second', forced: true })
  })

  it('one that gives no decision is not permission', () => {
    const broken = (() => Promise.resolve({ decision: 'deny' })) as never
    expect(strictestPolicy(says('allow'), broken)(request()).decision).not.toBe('allow')
  })
})

describe('modes', () => {
  const edits = (tool: string): boolean => tool === 'write_file'
  it.each<[Mode, string, string, string, string]>([
    // mode, a read, an edit, another write, external
    ['read-only', 'allow', 'deny', 'deny', 'deny'],
    ['ask', 'allow', 'ask', 'ask', 'ask'],
    ['auto-edit', 'allow', 'allow', 'ask', 'ask'],
    ['auto', 'allow', 'allow', 'allow', 'ask'],
  ])('%s', (mode, ...expected) => {
    const policy = modePolicy(mode, edits)
    const of = (more: Partial<PolicyRequest>): string => policy(request(more)).decision
    expect([
      of({ tool: 'read_file', effect: 'read' }),
      of({ tool: 'write_file' }),
      of({ tool: 'bash' }),
      of({ tool: 'write_file', effect: 'external' }),
    ]).toEqual(expected)
  })

  it.each<[Mode, string]>([
    ['read-only', 'deny'],
    ['ask', 'ask'],
    ['auto-edit', 'allow'],
    ['auto', 'allow'],
  ])('%s: what a command changed on its layer is like an edit: %s', (mode, expected) =>
    expect(modePolicy(mode, edits)(request({ tool: 'bash', changes: ['a.txt'] })).decision).toBe(expected))

  it('of two the stricter one', () => {
    for (const [at, a] of MODES.entries()) for (const b of MODES.slice(at)) expect([stricterMode(a, b), stricterMode(b, a)]).toEqual([a, a])
  })
})
