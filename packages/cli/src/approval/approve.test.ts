import type { ApprovalRequest } from '@mulligan/core'
import type { Ask } from '@mulligan/host/light'
import { type ApproverOptions, createApprover } from '@mulligan/host/parts'
import { commandTargets, createCommandPolicy } from '@mulligan/tools'
import { describe, expect, it } from 'vitest'
import { keepRequest, person, request, shell, shellRequest } from '../../../host/src/approval/approval.fixture.ts'
import { plain } from '../ui/colors.ts'
import { answerOf, approvalInWords } from './approval.ts'
import { inputLines, questionOf } from './question-text.ts'

const targetsOf = (command: string): readonly string[] => commandTargets(createCommandPolicy({ workspace: '/work/app' })(command), command)

const { signal } = new AbortController()
const LOOK = { colors: plain, columns: () => undefined }
const inWords = (ask: Ask) => approvalInWords(ask, LOOK)
const ALL = ['once', 'session', 'always', 'view', 'no'] as const

const approver = (answers: readonly (string | undefined)[], more: Partial<ApproverOptions> = {}) => {
  const { ask, asked } = person(...answers)
  return { asked, approve: createApprover({ yes: false, ask: inWords(ask), ...more }) }
}

describe('an answer', () => {
  it.each([
    ['y', { answer: 'once' }],
    [' YES ', { answer: 'once' }],
    ['s', { answer: 'session' }],
    ['a', { answer: 'always' }],
    ['Always', { answer: 'always' }],
    ['v', { answer: 'view' }],
    ['n', { answer: 'no' }],
    ['n, too risky', { answer: 'no', reason: 'too risky' }],
    ['no not that file', { answer: 'no', reason: 'not that file' }],
    ['Nd stays red', { answer: 'no', reason: 'd stays red' }],
    ['N', { answer: 'no' }],
    ['NO', { answer: 'no' }],
    ['1', { answer: 'once' }],
    [' 2 ', { answer: 'session' }],
    ['2 files are enough', undefined],
    ['9', undefined],
    ['', undefined],
    ['yes but', undefined],
    ['maybe', undefined],
    ['constructor', undefined],
  ])('%j', (line, decision) => expect(answerOf(line, ALL)).toEqual(decision))

  it('that is not offered is none', () => {
    expect(answerOf('s', ['once', 'no'])).toBeUndefined()
    expect(answerOf('3', ['once', 'no'])).toBeUndefined()
  })

  it('counts the choices that are offered', () => expect(answerOf('2', ['once', 'no'])).toEqual({ answer: 'no' }))
})

describe('a question', () => {
  it('shows tool, effect, target, the exact input and the reason', async () => {
    const { approve, asked } = approver(['y'])
    expect(await approve(request(), signal)).toEqual({ answer: 'once' })
    expect(asked[0]).toBe(
      [
        '',
        '? write_file (write) a.txt',
        '    path: a.txt',
        '    content:',
        '      | one',
        '      | two',
        '  Needs approval: it changes files.',
        '  [s] allows all write_file (write) calls for this session.',
        '  [y]es once, [s]ession, [n]o and why: ',
      ].join('\n'),
    )
  })

  it('shows what would change where the tool can say it, with what is hidden made visible', async () => {
    const diff = '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\u001b[2K\n'
    const { approve, asked } = approver(['y'], { preview: async () => diff })
    await approve(request(), signal)
    expect(asked[0]).toContain('\n    1 - one\n    1 + two\\u001b[2K\n  Needs approval')
    expect(asked[0]).not.toContain('content:')
  })

  it('of the shell shows the command as it stands, and which of its commands ask', async () => {
    const { approve, asked } = approver(['y'], { shell })
    await approve(shellRequest('ls  &&  npm test; rm "-r" build', ['npm test', 'rm -r build']), signal)
    expect(asked[0]).toBe(
      [
        '',
        '? bash (write) npm test, rm -r build',
        '    command: ls  &&  npm test; rm "-r" build',
        '  Needs approval because of',
        '    npm test: it changes files',
        '    rm -r build: it changes files',
        '  [s] allows npm test, npm test -- … in the workspace folder; exactly rm -r build in the workspace folder for this session.',
        '  [y]es once, [s]ession, [n]o and why: ',
      ].join('\n'),
    )
  })

  it('is asked again for what is no answer', async () => {
    const { approve, asked } = approver(['hm', 'a', 'y'])
    expect(await approve(request(), signal)).toEqual({ answer: 'once' })
    expect(asked.slice(1)).toEqual(Array(2).fill('Please answer [y]es once, [s]ession, [n]o and why: '))
  })

  it('counts what it leaves out, and shows it when asked to', async () => {
    const long = request({ input: { content: Array.from({ length: 100 }, (_, at) => `line ${at}`).join('\n') } })
    const { approve, asked } = approver(['v', 'v', 'y'])
    expect(await approve(long, signal)).toEqual({ answer: 'once' })
    expect(asked[0]).toContain('line 38\n    … 61 more lines\n')
    expect(asked[0]).toContain('[v]iew all')
    expect(asked[1]).toContain('| line 99\n  Needs approval')
    expect(asked[1]).not.toContain('[v]iew')
    expect(asked[2]).toMatch(/^Please answer/)
    const wide = questionOf(request({ input: { content: 'x'.repeat(5000) } }), { asks: [] }, LOOK)
    expect(wide).toMatchObject({ isCut: true, text: expect.stringContaining('… 4009 more characters') })
  })

  it('makes what is hidden in an input visible', () => {
    expect(inputLines({ command: 'ls\u001b[8m; rm -rf ~', n: { a: 1 } })).toEqual([
      'command: ls\\u001b[8m; rm -rf ~',
      'n:',
      '  | {',
      '  |   "a": 1',
      '  | }',
    ])
  })

  it('hides nothing behind blanks or characters that are not seen', () => {
    const command = `ls\u200b\u{e0041}${' '.repeat(300)}; rm -rf x`
    expect(inputLines({ command })).toEqual(['command: ls\\u200b\\u{e0041} [300 blanks] ; rm -rf x'])
    const { text } = questionOf(request({ target: 'a\u2060b', input: {} }), { asks: [] }, LOOK)
    expect(text).toContain('a\\u2060b')
    expect(text).not.toContain('\u2060')
  })

  it('about what a command did shows that, the command under it, and why it asks', async () => {
    const { approve, asked } = approver(['y'], { shell, preview: async () => 'of what it might do' })
    expect(await approve(keepRequest('npm  test; ls', ['npm test']), signal)).toEqual({ answer: 'once' })
    expect(asked[0]).toBe(
      [
        '',
        '? bash (write) npm test',
        '  It has run, but its changes are not kept yet: 1 file changed.',
        '    a.txt',
        '    1 - one',
        '    1 + two',
        '    command: npm  test; ls',
        '  Needs approval: it changes files.',
        '  [s] allows npm test, npm test -- … in the workspace folder for this session.',
        '  [y]es once, [s]ession, [n]o and why: ',
      ].join('\n'),
    )
  })

  it('about much that a command did is cut, and shown when asked to', async () => {
    const diff = `${Array.from({ length: 100 }, (_, at) => `+line ${at}`).join('\n')}\n`
    const script = Array.from({ length: 30 }, (_, at) => `echo ${at}`).join('\n')
    const long = keepRequest(script, ['(script)'])
    const { approve, asked } = approver(['v', 'n'], { shell })
    await approve({ ...long, changes: { id: 'l', hash: 'h', targets: [], summary: '1 file added', diff } }, signal)
    expect(asked[0]).toContain('+ line 39\n    … 60 more lines\n    command:\n      | echo 0\n')
    expect(asked[0]).toContain('| echo 10\n    … 19 more lines\n  Needs approval')
    expect(asked[1]).toContain('+ line 99\n    command:\n')
    expect(asked[1]).toContain('| echo 29\n  Needs approval')
  })

  it('questions come one at a time', async () => {
    let open = 0
    let most = 0
    const ask = async () => {
      most = Math.max(most, ++open)
      await Promise.resolve()
      open--
      return 'y'
    }
    const approve = createApprover({ yes: false, ask: inWords(ask) })
    await Promise.all([approve(request(), signal), approve(request(), signal), approve(request(), signal)])
    expect(most).toBe(1)
  })
})

describe('who answers', () => {
  it.each<[string, Partial<ApproverOptions> & { yes: boolean }, Partial<ApprovalRequest>, string]>([
    ['--yes allows what is asked', { yes: true }, {}, 'once'],
    ['--yes does not stand for a person where one is needed', { yes: true }, { forced: true }, 'nobody'],
    ['--yes keeps what a command did', { yes: true }, keepRequest('make', ['make']), 'once'],
    ['--yes does not keep what only a person may', { yes: true }, keepRequest('make', ['make'], { forced: true }), 'nobody'],
    ['without a terminal nobody is there', { yes: false }, {}, 'nobody'],
    ['a question closed without an answer is a no', { yes: false, ask: inWords(person(undefined).ask) }, {}, 'no'],
  ])('%s', async (_, options, more, answer) => {
    expect(await createApprover(options)(request(more), signal)).toEqual({ answer })
  })

  it('a question that was waited for too long is not a denial', async () => {
    const late = new AbortController()
    const ask = async () => {
      late.abort()
      return undefined
    }
    expect(await createApprover({ yes: false, ask: inWords(ask) })(request(), late.signal)).toEqual({ answer: 'timeout' })
  })
})

describe('"session"', () => {
  it('is for that tool only, and not where a person has to answer', async () => {
    const { approve, asked } = approver(['s', 'n', 'n'])
    await approve(request(), signal)
    expect(await approve(request({ target: 'b.txt' }), signal)).toEqual({ answer: 'session' })
    expect(asked).toHaveLength(1)
    expect(await approve(request({ tool: 'edit_file' }), signal)).toEqual({ answer: 'no' })
    expect(await approve(request({ forced: true }), signal)).toEqual({ answer: 'no' })
    expect(asked[2]).toContain('[y]es once, [n]o')
  })

  it('is not offered for what leaves this machine: that asks each time', async () => {
    const { approve, asked } = approver(['s', 'y', 'n'])
    const mail = request({ tool: 'send_mail', effect: 'external' })
    expect(await approve(mail, signal)).toEqual({ answer: 'once' })
    expect(await approve(mail, signal)).toEqual({ answer: 'no' })
    expect(asked).toHaveLength(3)
  })

  it('of the shell is for commands like these, not for all of it', async () => {
    const { approve, asked } = approver(['s', 'n', 'n'], { shell })
    await approve(shellRequest('npm test', ['npm test']), signal)
    expect(await approve(shellRequest('npm test -- a.test.ts', ['npm test -- a.test.ts']), signal)).toEqual({ answer: 'session' })
    expect(await approve(shellRequest('npm test; rm x', ['npm test', 'rm x']), signal)).toEqual({ answer: 'no' })
    expect(asked[1]).toContain('  Needs approval because of\n    rm x: it changes files\n')
    expect(await approve(shellRequest('npm testing', ['npm testing']), signal)).toEqual({ answer: 'no' })
  })

  it.each<[string, object, string, object]>([
    ['rm -rf out', { cwd: 'dist' }, 'rm -rf out', { cwd: 'src' }],
    ['rm -rf out', { cwd: 'dist' }, 'cd src && rm -rf out', {}],
    ['cd dist && rm -rf out', {}, 'rm -rf out', {}],
    ['./run.sh', {}, './run.sh', { cwd: 'src' }],
    ['make', {}, 'make', { cwd: 'src' }],
    ['make', {}, 'make; cd src; make', {}],
    ['git checkout .', { cwd: 'a' }, 'git checkout .', {}],
    ['npm test', {}, 'npm test', { cwd: '/tmp/other' }],
    ['git checkout -b x', {}, 'git checkout -f -- .', {}],
    ['git stash', {}, 'git stash clear', {}],
    ['git branch x', {}, 'git branch -D main', {}],
    ['git tag x', {}, 'git tag -d v1', {}],
    ['go test ./...', {}, "go test ./... -exec 'sh evil.sh'", {}],
    ['prettier --check .', {}, 'prettier --write --plugin=./evil.mjs', {}],
    ['npm test', {}, 'npm test --script-shell=./evil', {}],
    ['npm test', {}, 'npm test --prefix /tmp/other', {}],
    ['npm test', {}, 'npm test', { background: true }],
  ])('to %s with %j does not cover %s with %j', async (first, firstInput, second, secondInput) => {
    const asking = (command: string, input: object) => {
      const ask = shell.commandsOf({ tool: 'bash', input: { command, ...input } }) ?? []
      const asks = [...new Set(ask.map(({ text }) => text))]
      const asked = shellRequest(command, asks)
      return { ...asked, input: { command, ...input } }
    }
    const { approve } = approver(['s', 'n'], { shell })
    expect(await approve(asking(first, firstInput), signal)).toEqual({ answer: 'session' })
    expect(await approve(asking(first, firstInput), signal)).toEqual({ answer: 'session' })
    expect(await approve(asking(second, secondInput), signal)).toEqual({ answer: 'no' })
  })

  it('about what a command did covers the same command, not on the real files, and not what only a person may keep', async () => {
    const { approve, asked } = approver(['s', 'n', 'n', 'n'], { shell })
    const keep = keepRequest('make', ['make'])
    expect(await approve(keep, signal)).toEqual({ answer: 'session' })
    expect(await approve(keep, signal)).toEqual({ answer: 'session' })
    expect(asked).toHaveLength(1)
    expect(await approve({ ...shellRequest('make', ['make']), input: { command: 'make', writes: 'direct' } }, signal)).toEqual({
      answer: 'no',
    })
    expect(await approve({ ...keep, forced: true }, signal)).toEqual({ answer: 'no' })
    expect(await approve(keepRequest('make all', ['make all']), signal)).toEqual({ answer: 'no' })
  })

  it('on the real files covers those alone', async () => {
    const { approve } = approver(['s', 'n'], { shell })
    const direct = { ...shellRequest('make', ['make']), input: { command: 'make', writes: 'direct' } }
    expect(await approve(direct, signal)).toEqual({ answer: 'session' })
    expect(await approve(direct, signal)).toEqual({ answer: 'session' })
    expect(await approve(keepRequest('make', ['make']), signal)).toEqual({ answer: 'no' })
  })

  it.each([
    'python3 - <<E\nprint(1)\nE',
    'sh < run.sh',
    'for f in *; do rm $f; done',
  ])('is not offered for %s, whatever it did', async (command) => {
    const { approve, asked } = approver(['y'], { shell })
    await approve(keepRequest(command, targetsOf(command)), signal)
    expect(asked[0]).toContain('[y]es once, [n]o')
  })

  it('of the shell without a network does not hold with one', async () => {
    const { approve } = approver(['s', 'n'], { shell })
    await approve(shellRequest('npm test', ['npm test']), signal)
    expect(await approve({ ...shellRequest('npm test', ['npm test']), effect: 'external' }, signal)).toEqual({ answer: 'no' })
  })
})
