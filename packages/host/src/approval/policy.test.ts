import { MODES, type Mode, type PolicyRequest } from '@mulligan/core/executor'
import { describe, expect, it } from 'vitest'
import type { ConfiguredRule } from '../config/schema.ts'
import { effectivePolicy } from './policy.ts'
import { shellApproval } from './shell.ts'

interface Given {
  readonly mode?: Mode
  readonly rules?: readonly ConfiguredRule[]
  readonly projectRules?: readonly ConfiguredRule[]
}

const of = (rules: readonly ConfiguredRule[] = []) => rules.map((value) => ({ value, origin: 'user' as const, from: '' }))

const shell = shellApproval('/work/app')

const decide = ({ mode = 'ask', rules, projectRules }: Given, more: Partial<PolicyRequest>) => {
  const approval = { mode: { value: mode, origin: 'default', from: '' } as const, rules: of(rules), projectRules: of(projectRules) }
  const { target = 'npm test' } = more
  return effectivePolicy(
    approval,
    shell,
    new Set(['edit_file', 'write_file']),
  )({ tool: 'bash', effect: 'write', input: { command: target }, target, ...more }).decision
}

describe('the policy in force', () => {
  it.each<[string, Partial<PolicyRequest>, readonly string[]]>([
    // decisions in the modes read-only, ask, auto-edit, auto
    ['a read', { tool: 'read_file', effect: 'read', target: 'a' }, ['allow', 'allow', 'allow', 'allow']],
    ['an edit', { tool: 'edit_file', target: 'a' }, ['deny', 'ask', 'allow', 'allow']],
    ['a commit', { tool: 'git_commit', target: 'a' }, ['deny', 'ask', 'ask', 'allow']],
    ['a safe command', { target: 'ls' }, ['allow', 'allow', 'allow', 'allow']],
    ['one that changed files all the same', { target: 'ls', changes: ['a'] }, ['deny', 'ask', 'allow', 'allow']],
    ['what a command did', { changes: ['a'] }, ['deny', 'ask', 'allow', 'allow']],
    ['what one did that destroys', { target: 'rm -rf /', changes: ['a'] }, ['deny', 'ask', 'ask', 'ask']],
    ['another command', {}, ['deny', 'ask', 'ask', 'allow']],
    ['a command with a network', { effect: 'external' }, ['deny', 'ask', 'ask', 'ask']],
    ['one that destroys', { target: 'rm -rf /' }, ['deny', 'ask', 'ask', 'ask']],
    ['a mail', { tool: 'send', effect: 'external', target: 'ann' }, ['deny', 'ask', 'ask', 'ask']],
  ])('%s', (_, more, decisions) => expect(MODES.map((mode) => decide({ mode }, more))).toEqual(decisions))

  it('a rule of the person overrides the mode, except for read-only', () => {
    const rules: ConfiguredRule[] = [{ decision: 'allow' }]
    expect(MODES.map((mode) => decide({ mode, rules }, { effect: 'external' }))).toEqual(['deny', 'allow', 'allow', 'allow'])
    expect(decide({ mode: 'auto', rules: [{ decision: 'ask', target: 'npm *' }] }, {})).toBe('ask')
    expect(decide({ mode: 'auto', rules: [{ decision: 'deny', tool: 'bash' }] }, { target: 'ls' })).toBe('deny')
  })

  it('no rule and no mode allows what destroys', () => {
    for (const mode of MODES)
      expect(decide({ mode, rules: [{ decision: 'allow' }] }, { target: 'rm -rf /' })).toBe(mode === 'read-only' ? 'deny' : 'ask')
  })

  it.each<[ConfiguredRule['decision'], ConfiguredRule['decision'], string]>([
    // what the user's and the project's rule say, and the result
    ['allow', 'ask', 'ask'],
    ['allow', 'deny', 'deny'],
    ['ask', 'deny', 'deny'],
    ['ask', 'allow', 'ask'],
    ['deny', 'ask', 'deny'],
    ['deny', 'allow', 'deny'],
  ])('the person says %s, the project %s: %s', (own, project, decision) =>
    expect(decide({ rules: [{ decision: own }], projectRules: [{ decision: project }] }, {})).toBe(decision))

  it('rules about paths hold for what a command changed; those about commands are of the command', () => {
    const given = (decision: ConfiguredRule['decision']): Given => ({
      mode: 'auto',
      rules: [{ decision: 'allow', tool: 'bash', target: 'npm test' }, { decision, target: 'db/*' }, { decision: 'ask' }],
    })
    for (const decision of ['ask', 'deny'] as const) {
      expect(decide(given(decision), { changes: ['a', 'db/x'] })).toBe(decision)
      expect(decide({ mode: 'auto', projectRules: [{ decision, target: 'db/*' }] }, { changes: ['a', 'db/x'] })).toBe(decision)
      expect(decide(given(decision), { changes: ['a'] })).toBe('allow')
    }
    expect(decide(given('allow'), { changes: ['a', 'db/x'] })).toBe('allow')
  })

  it('a project can not make the mode laxer', () => {
    for (const decision of ['ask', 'allow'] as const)
      expect(MODES.map((mode) => decide({ mode, projectRules: [{ decision }] }, { tool: 'send', effect: 'external' }))).toEqual([
        'deny',
        'ask',
        'ask',
        'ask',
      ])
  })

  it('what denies or asks, of the person and of the project, holds for what a command comes to; what allows does not', () => {
    for (const decision of ['deny', 'ask'] as const) {
      const rules: ConfiguredRule[] = [{ decision, tool: 'bash', target: 'touch *' }]
      for (const target of ['touch x', '/usr/bin/touch x', 'timeout 5 touch x', 'A=1 touch x'])
        expect([decide({ mode: 'auto', rules }, { target }), decide({ mode: 'auto', projectRules: rules }, { target })]).toEqual([
          decision,
          decision,
        ])
    }
    const allow: ConfiguredRule[] = [{ decision: 'allow', tool: 'bash', target: 'touch *' }]
    expect([decide({ rules: allow }, { target: 'touch x' }), decide({ rules: allow }, { target: 'timeout 5 touch x' })]).toEqual([
      'allow',
      'ask',
    ])
  })
})
