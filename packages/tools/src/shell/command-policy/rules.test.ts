import { type PolicyRule, rulesPolicy } from '@mulligan/core'
import { expect, test } from 'vitest'
import { commandRules, commandTargets, createCommandPolicy } from './command-policy.ts'

const place = { workspace: '/work/app', home: '/home/ann' }
const anything = () => ({ decision: 'allow', reason: '' }) as const
const commandPolicy = createCommandPolicy(place)

/** Returns the strictest decision over the command's targets. */
function decide(command: string, rules: readonly PolicyRule[], input = {}, policy = commandRules(rules, anything, place)): string {
  const { cwd = '.' } = input as { cwd?: string }
  const decisions = commandTargets(commandPolicy(command, cwd), command).map(
    (target) => policy({ tool: 'bash', effect: 'write', input: { command, ...input }, target }).decision,
  )
  return (['deny', 'ask', 'allow'] as const).find((one) => decisions.includes(one)) ?? 'none'
}

const DENY: PolicyRule[] = [
  { decision: 'deny', tool: 'bash', target: 'touch *' },
  { decision: 'deny', tool: 'bash', target: 'git tag *' },
]

const PASSED = [
  '/usr/bin/touch x',
  'command touch x',
  'env touch x',
  'env A=1 nice touch x',
  'nice -n 5 touch x',
  'exec touch x',
  'busybox touch x',
  'timeout 5 touch x',
  'stdbuf -o0 touch x',
  'A=1 touch x',
  'touch x > y',
  'echo x | xargs touch',
  'find . -exec touch {} +',
  '/usr/bin/touc[h] x',
  't* x',
  'git -C . tag t',
  'git --no-pager tag t',
  'git -c a.b=c --git-dir .git tag t',
  'sudo -u ann /usr/bin/git -C . tag t',
  'ls && (timeout 5 touch x)',
  "bash -c 'A=1 touch x'",
]

test.each(PASSED)('a rule that denies holds for %s', (command) => {
  expect(decide(command, DENY)).toBe('deny')
  expect(
    decide(
      command,
      DENY.map((rule) => ({ ...rule, decision: 'ask' })),
    ),
  ).toBe('ask')
})

test('which by the whole text alone would not be so', () =>
  expect(PASSED.filter((command) => decide(command, DENY, {}, rulesPolicy(DENY, anything)) === 'allow').length).toBeGreaterThan(15))

test.each(['echo touch x', 'git -C tag status', 'ls', 'mv touch x', 'git commit -m "git tag x"', 'c* x'])('and not for %s', (command) =>
  expect(decide(command, DENY)).toBe('allow'))

test.each(['A=1 npm test', 'timeout 5 npm test', 'npm test > f', '/tmp/npm test'])('one that allows is no leave for %s', (command) =>
  expect(decide(command, [{ decision: 'allow', tool: 'bash', target: 'npm test *' }, { decision: 'ask' }])).toBe('ask'))

test.each([
  'python3 -',
  'python3 - <<E\nx\nE',
  'python3 a.py < b',
  'echo x | python3',
  'python3 $x',
  'python3 *',
  'A=1 python3 a.py',
  'python3 a.py &',
])('one that allows is no leave for %j, which is only ever allowed once', (command) => {
  const allow = [
    { decision: 'allow', tool: 'bash', target: '*python3*' },
    { decision: 'allow', tool: 'bash', target: 'echo x' },
    { decision: 'ask' },
  ] as const
  expect(decide(command, allow)).toBe('ask')
  // Its own target alone does not allow it either, if the script is allowed in another way.
  for (const target of commandTargets(commandPolicy(command), command).filter((one) => one.includes('python3')))
    expect(commandRules(allow, anything, place)({ tool: 'bash', effect: 'write', input: { command }, target }).decision).toBe('ask')
  expect(decide('python3 a.py', allow)).toBe('allow')
})

test('one that allows the text of a script is for one command, and one without a text is for all', () => {
  const byText: PolicyRule[] = [{ decision: 'allow', tool: 'bash', input: { command: 'npm test*' } }, { decision: 'ask' }]
  expect([decide('npm test', byText), decide('npm test; rm x', byText), decide('npm test $(rm x)', byText)]).toEqual([
    'allow',
    'ask',
    'ask',
  ])
  const all: PolicyRule[] = [{ decision: 'allow', tool: 'bash' }, { decision: 'ask' }]
  expect(decide('npm test $(rm x)', all)).toBe('allow')
})

test('the first that matches decides, whichever form it matches', () => {
  const allow: PolicyRule = { decision: 'allow', tool: 'bash', target: 'env touch x' }
  expect(decide('env touch x', [allow, ...DENY])).toBe('allow')
  expect(decide('env touch x', [...DENY, allow])).toBe('deny')
})

test('what runs is known only when it runs: it asks where a rule is against some commands, and only there', () => {
  for (const command of ['$X a', '"$(cat f)" a', 'xargs -a f env $X']) {
    expect([command, decide(command, DENY)]).toEqual([command, 'ask'])
    expect(
      decide(command, [
        { decision: 'deny', tool: 'mail' },
        { decision: 'deny', target: 'secrets/*' },
      ]),
    ).toBe('allow')
  }
  expect(decide(`: ${'x'.repeat(100_000)}; touch x`, DENY)).toBe('ask')
})

const inDist: PolicyRule[] = [{ decision: 'allow', tool: 'bash', target: 'make', input: { cwd: 'dist' } }, { decision: 'ask' }]

test.each([
  ['make', { cwd: 'dist' }, 'allow'],
  ['make', { cwd: './dist/' }, 'allow'],
  ['cd dist && make', {}, 'allow'],
  ['cd dist; make; cd ..; make', {}, 'ask'],
  ['make', {}, 'ask'],
  ['make', { cwd: 'src' }, 'ask'],
  ['cd ../src && make', { cwd: 'dist' }, 'ask'],
  ['cd "$X" && make', { cwd: 'dist' }, 'ask'],
])('a rule for a folder: %s with %j: %s', (command, input, decision) => {
  const make = { tool: 'bash', effect: 'write', target: 'make', input: { command, ...input } } as const
  expect(commandRules(inDist, anything, place)(make).decision).toBe(decision)
})
