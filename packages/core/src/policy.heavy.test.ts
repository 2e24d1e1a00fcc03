import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultPolicy, type PolicyRequest, type PolicyRule, rulesPolicy } from './policy.ts'

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
      { numRuns: 20000 * 4 },
    )
  })

  it('many stars and a target that almost matches take no time', () => {
    expect(decide([{ decision: 'allow', target: `${'*a'.repeat(50)}*b` }], { target: 'a'.repeat(500) })).toBe('ask')
  })
})
