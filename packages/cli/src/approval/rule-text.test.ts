import type { ConfiguredRule } from '@mulligan/host/parts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ruleJson, ruleText } from './rule-text.ts'

const allow = (rule: Omit<ConfiguredRule, 'decision'>): ConfiguredRule => ({ decision: 'allow', ...rule })

describe('a rule in words', () => {
  it.each<[string, Omit<ConfiguredRule, 'decision'>]>([
    [
      'allow bash commands (write): exactly `npm test`, run in the workspace folder, in ~/app and its folders',
      { tool: 'bash', effect: 'write', target: 'npm test', input: { cwd: '.' }, folder: '~/app' },
    ],
    [
      'allow bash commands: `npm test --`, alone or with more words after it, run in `src`, run on a layer',
      { tool: 'bash', target: 'npm test -- *', input: { cwd: 'src', writes: 'layer' } },
    ],
    ['allow bash commands: exactly `ls *`', { tool: 'bash', target: 'ls \\*' }],
    ['allow all bash commands', { tool: 'bash' }],
    ['allow all write_file calls (write)', { tool: 'write_file', effect: 'write' }],
    ['allow write_file calls: whatever begins with `src/`', { tool: 'write_file', target: 'src/*' }],
    ['allow write_file calls: whatever matches `src/*.ts`, where * is any text', { tool: 'write_file', target: 'src/*.ts' }],
    ['allow all calls of any tool', {}],
    ['allow all calls of any tool (read)', { tool: '*', effect: 'read', target: '*' }],
    ['allow all calls of whatever begins with `slack_`', { tool: 'slack_*' }],
    [
      'allow all web_fetch calls, with `url` whatever begins with `https://a.org/`, with any `mode`',
      { tool: 'web_fetch', input: { url: 'https://a.org/*', mode: '*' } },
    ],
    ['allow bash commands: exactly "a` and all others `b"', { tool: 'bash', target: 'a` and all others `b' }],
  ])('%s', (text, rule) => expect(ruleText(allow(rule))).toBe(text))

  it('each restriction of the sentence is one of the rule: without a key, nothing is said to be limited by it', () => {
    const pattern = fc.constantFrom('*', 'a *', 'a*', 'a', '\\*', 'a*b', '**')
    const some = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })
    const rules = fc.record({ tool: some(pattern), target: some(pattern), folder: some(fc.constant('~/x')), cwd: some(pattern) })
    fc.assert(
      fc.property(rules, ({ tool, target, folder, cwd }) => {
        const rule = { ...(tool && { tool }), ...(target && { target }), ...(folder && { folder }), ...(cwd && { input: { cwd } }) }
        const text = ruleText(allow(rule))
        const limits = (one: string | undefined): boolean => one !== undefined && one !== '*'
        expect(/^allow all /.test(text)).toBe(!limits(target))
        expect(/calls of any tool/.test(text)).toBe(!limits(tool))
        expect(text.includes('and its folders')).toBe(folder !== undefined)
        expect(/cwd|run in/.test(text)).toBe(cwd !== undefined)
      }),
    )
  })

  it('is one line without control characters, and its JSON is complete', () => {
    const rule = allow({ tool: 'bash', target: `echo "\n\x1b[2J\u202e${'x'.repeat(500)}"` })
    expect(`${ruleText(rule)}${ruleJson(rule)}`).not.toMatch(/[\n\x1b\u202e]/)
    expect(ruleText(rule).length).toBeLessThan(300)
    expect(JSON.parse(ruleJson(rule))).toEqual(rule)
  })
})
