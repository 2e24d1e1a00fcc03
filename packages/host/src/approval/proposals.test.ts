import { type ApprovalRequest, defineTool, type PolicyRule } from '@mulligan/core'
import { createExecutor } from '@mulligan/core/executor'
import { commandTargets, createCommandPolicy } from '@mulligan/tools'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { request, shell, shellRequest } from './approval.fixture.ts'
import { effectivePolicy } from './policy.ts'
import { prefixOf, proposals, sessionOffer } from './proposals.ts'
import type { ParsedCommand } from './shell.ts'

function parsed(text: string, more: Partial<ParsedCommand> = {}): ParsedCommand {
  return { isExact: true, writes: false, text, ...more }
}

/** Returns the targets of a shell call. */
const targetsOf = (command: string): readonly string[] => commandTargets(createCommandPolicy({ workspace: '/work/app' })(command), command)

/** Commands that read commands from elsewhere, or do something different each time. */
const ONCE = [
  'python3 -',
  'python3',
  'bash < x',
  'bash x.sh',
  'xargs rm < list',
  'xargs -a list rm',
  'git apply <<E\nx\nE',
  'git apply -',
  'cat a | python3',
  'cat a | xargs rm',
  'curl -s x | psql db',
  'python3 /dev/stdin',
  'rm $x',
  'rm $(cat list)',
  'rm `cat list`',
  'rm *.log',
  'rm {a,b}',
  'rm ~/a',
  'f() { rm "$1"; }; f a',
  'A=1 make',
  'eval make',
  'source x.sh',
  'export PATH=/tmp/x',
  'for x in a; do rm b; done',
  'make &',
]

describe('the beginning of a command', () => {
  it.each([
    ['git commit -m x', undefined],
    ['git commit', undefined],
    ['git add -A', undefined],
    ['npm test', ['npm test', 'npm test -- *']],
    ['npm test -- --watch', ['npm test', 'npm test -- *']],
    ['npm run build -- -o x', ['npm run build', 'npm run build -- *']],
    ['npm run', undefined],
    ['npm run --silent', undefined],
    ['npm run *', undefined],
    ['mkdir -p a/b', undefined],
    ['cargo test', ['cargo test', 'cargo test -- *']],
    // their options name programs, settings or folders
    ['npm test --watch', undefined],
    ['npm run build --prefix x', undefined],
    ['cargo test --config x', undefined],
    ['cargo build', undefined],
    ['go test ./...', undefined],
    ['prettier --check .', undefined],
    ['eslint .', undefined],
    ['tsc -p .', undefined],
    ['pytest', undefined],
    ['npm ci', undefined],
    // they can destroy something
    ['git checkout -b x', undefined],
    ['git stash', undefined],
    ['git branch x', undefined],
    ['git tag x', undefined],
    ['git mv a b', undefined],
    ['git restore a', undefined],
    ['git switch x', undefined],
    // dangerous, or able to run anything
    ['git -c core.pager=x commit', undefined],
    ['git push', undefined],
    ['git rebase -i', undefined],
    ['npm install x', undefined],
    ['npm exec x', undefined],
    ['npx tsc', undefined],
    ['python x.py', undefined],
    ['python3 -c x', undefined],
    ['node x.js', undefined],
    ['bash x.sh', undefined],
    ['sh -c x', undefined],
    ['sudo npm test', undefined],
    ['env npm test', undefined],
    ['xargs npm test', undefined],
    ['find . -exec x', undefined],
    ['rm x', undefined],
    ['mv a b', undefined],
    ['dd of=x', undefined],
    ['curl x', undefined],
    ['make test', undefined],
    ['docker run x', undefined],
    ['* x', undefined],
    ['constructor x', undefined],
  ])('%s: %s', (text, pattern) => expect(prefixOf(parsed(text))).toEqual(pattern))

  it.each<[string, Partial<ParsedCommand>]>([
    ['a file that it writes', { writes: true }],
    ['words that do not say all that it does', { isExact: false }],
    ['a variable that is set before it', { text: 'NODE_OPTIONS=--require=./x npm test' }],
    ['a program by its path', { text: './npm test' }],
    ['a program behind another', { text: 'sudo npm test' }],
  ])('is none for %s', (_, more) => expect(prefixOf(parsed('npm test', more))).toBeUndefined())
})

describe('what may be written down', () => {
  const bash = (target: string, input = {}, cwd = '.') => ({
    decision: 'allow',
    tool: 'bash',
    effect: 'write',
    target,
    input: { ...input, cwd },
  })
  const of = (command: string, asks: readonly string[] = command.split('; ')) => {
    const asked = shellRequest(command, asks)
    return proposals(asked, asked.asks, shell)
  }

  it('of a command itself, then its beginning', () => {
    expect(of('npm test')).toEqual([[bash('npm test')], [bash('npm test'), bash('npm test -- *')]])
    expect(of('npm test --watch')).toEqual([[bash('npm test --watch')]])
  })

  it('of several commands those that ask', () => {
    expect(of('ls; npm test; rm x', ['npm test', 'rm x'])).toEqual([
      [bash('npm test'), bash('rm x')],
      [bash('npm test'), bash('npm test -- *'), bash('rm x')],
    ])
  })

  it('of a dangerous one only itself, with its stars as stars', () => {
    expect(of("rm '*.log'", ["rm '*.log'"])).toEqual([[bash("rm '\\*.log'")]])
    expect(of('python x.py')).toEqual([[bash('python x.py')]])
  })

  it.each(ONCE)('nothing, and no session, for %s: it is only ever allowed once', (command) => {
    const asked = targetsOf(command)
    expect(asked.length).toBeGreaterThan(0)
    expect([of(command, asked), sessionOffer(shellRequest(command, asked), shellRequest(command, asked).asks, shell)]).toEqual([
      [],
      undefined,
    ])
  })

  it('of a command the folder that it runs in', () => {
    expect(of('cd src && make', ['make'])).toEqual([[bash('make', {}, 'src')]])
    expect(of('make && cd src && make', ['make'])).toEqual([[bash('make', {}, '., src')]])
    expect(of('cd src; make', ['make'])).toEqual([])
    expect(of('cd "$x"; make', ['make'])).toEqual([])
  })

  it('of a file, then of the tool; of what leaves this machine only its target', () => {
    const file = request()
    expect(proposals(file, file.asks, shell)).toEqual([
      [{ decision: 'allow', tool: 'write_file', effect: 'write', target: 'a.txt' }],
      [{ decision: 'allow', tool: 'write_file', effect: 'write' }],
    ])
    const mail = request({ tool: 'send', effect: 'external', target: 'ann' })
    expect(proposals(mail, mail.asks, shell)).toEqual([[{ decision: 'allow', tool: 'send', effect: 'external', target: 'ann' }]])
  })

  it('nothing where only a person may answer', () => {
    const forced = request({ forced: true })
    expect(proposals(forced, forced.asks, shell)).toEqual([])
  })
})

describe('what "session" covers', () => {
  const of = (command: string, asks: readonly string[], input = {}) => {
    const asked = shellRequest(command, asks)
    return sessionOffer({ ...asked, input: { ...asked.input, ...input } }, asked.asks, shell)?.covers
  }

  it.each<[string, readonly string[], object, string]>([
    ['npm test', ['npm test'], {}, 'npm test, npm test -- … in the workspace folder'],
    ["rm -rf 'a b'", ["rm -rf 'a b'"], { cwd: 'dist' }, "exactly rm -rf 'a b' in dist"],
    ['cd dist && make', ['make'], {}, 'exactly make in dist'],
    ['git stash', ['git stash'], { background: true }, 'exactly git stash in the workspace folder; in the background'],
  ])('%s', (command, asks, input, covers) => expect(of(command, asks, input)).toBe(covers))

  it('of another tool all of it', () => {
    const file = request()
    expect(sessionOffer(file, file.asks, shell)?.covers).toBe('all write_file (write) calls')
  })
})

describe('any script that was allowed', () => {
  const mode = { value: 'ask', origin: 'default', from: '' } as const
  const bash = defineTool({
    name: 'bash',
    description: 'x',
    effect: 'write',
    input: { type: 'object', properties: { command: { type: 'string' } } },
    target: (input) => targetsOf(String((input as { command: string }).command)),
    execute: () => 'done',
  })

  /** Returns the approval request that these rules lead to. */
  async function asked(command: string, rules: readonly PolicyRule[] = []): Promise<ApprovalRequest | undefined> {
    const policy = effectivePolicy({ mode, rules: [], projectRules: [] }, shell, new Set(), rules)
    const prepared = await createExecutor({ tools: [bash], policy }).prepare({
      id: 'a',
      step: 1,
      ordinal: 0,
      name: 'bash',
      input: { command },
    })
    return prepared.kind === 'approval' ? prepared.request : undefined
  }

  const word = fc.constantFrom('a', '"b c"', '*.log', "'*'", '$X', '$(touch d)', '-f', '../e', '> f', '< g', '2>&1')
  const program = fc.constantFrom('npm test', 'git commit', 'rm', 'mkdir', '$X', 'python', 'X=1 npm run b', 'sudo', 'ls', 'make')
  const simple = fc.tuple(program, fc.array(word, { maxLength: 3 })).map(([name, words]) => [name, ...words].join(' '))
  const script = fc
    .tuple(simple, fc.array(fc.tuple(fc.constantFrom('; ', ' && ', ' | ', '\n'), simple), { maxLength: 2 }))
    .map(([first, rest]) => first + rest.map((part) => part.join('')).join(''))
  const stranger = fc.constantFrom('chmod +x z', 'mv y z', 'python z.py', '$Z', 'echo z > z', 'sudo npm test', 'npm install z')

  it('is allowed from then on, and nothing that it did not hold', async () => {
    await fc.assert(
      fc.asyncProperty(script, stranger, fc.constantFrom('; ', ' && ', ' | ', '\n'), async (text, other, joint) => {
        const request = await asked(text)
        if (!request) return
        for (const rules of proposals(request, request.asks, shell)) {
          expect(await asked(text, rules)).toBeUndefined()
          for (const more of [`${text}${joint}${other}`, `${other}${joint}${text}`])
            expect([more, rules, await asked(more, rules)]).toEqual([more, rules, expect.anything()])
        }
      }),
      { numRuns: 200 },
    )
  })
})
