import type { ApprovalRequest } from '@mulligan/core'
import { describe, expect, it } from 'vitest'
import { answerOf, createApprover, inputLines } from './approve.ts'
import { plain } from './colors.ts'

const request = (more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  callId: 'c',
  tool: 'write_file',
  effect: 'write',
  target: 'a.txt',
  input: { path: 'a.txt', content: 'one\ntwo' },
  reason: 'it changes files',
  forced: false,
  ...more,
})
const { signal } = new AbortController()

/** A person who gives these answers, and what they were asked. */
function person(...answers: (string | undefined)[]) {
  const asked: string[] = []
  return {
    asked,
    ask: async (question: string) => {
      asked.push(question)
      return answers.shift()
    },
  }
}

describe('an approver', () => {
  it.each([
    ['y', { answer: 'once' }],
    [' YES ', { answer: 'once' }],
    ['s', { answer: 'session' }],
    ['n', { answer: 'no' }],
    ['n, too risky', { answer: 'no', reason: 'too risky' }],
    ['no not that file', { answer: 'no', reason: 'not that file' }],
    ['', undefined],
    ['yes but', undefined],
    ['maybe', undefined],
  ])('understands %j', (line, decision) => expect(answerOf(line)).toEqual(decision))

  it('shows tool, effect, target, the exact input and the reason', async () => {
    const { ask, asked } = person('y')
    await createApprover({ yes: false, ask, colors: plain })(request(), signal)
    expect(asked[0]).toBe(
      [
        '',
        '? write_file (write) a.txt',
        '    path: a.txt',
        '    content:',
        '      | one',
        '      | two',
        '  It asks because it changes files.',
        '  [y]es once, [s]ession, [n]o and why: ',
      ].join('\n'),
    )
  })

  it('asks again for what is no answer', async () => {
    const { ask, asked } = person('hm', 'y')
    expect(await createApprover({ yes: false, ask, colors: plain })(request(), signal)).toEqual({ answer: 'once' })
    expect(asked).toHaveLength(2)
  })

  it('remembers "session" for that tool only, and not where a person has to answer', async () => {
    const { ask, asked } = person('s', 'n', 'n')
    const approve = createApprover({ yes: false, ask, colors: plain })
    await approve(request(), signal)
    expect(await approve(request({ target: 'b.txt' }), signal)).toEqual({ answer: 'session' })
    expect(asked).toHaveLength(1)
    expect(await approve(request({ tool: 'edit_file' }), signal)).toEqual({ answer: 'no' })
    expect(await approve(request({ forced: true }), signal)).toEqual({ answer: 'no' })
  })

  it('puts questions one at a time', async () => {
    let open = 0
    let most = 0
    const ask = async () => {
      most = Math.max(most, ++open)
      await Promise.resolve()
      open--
      return 'y'
    }
    const approve = createApprover({ yes: false, ask, colors: plain })
    await Promise.all([approve(request(), signal), approve(request(), signal), approve(request(), signal)])
    expect(most).toBe(1)
  })

  it.each([
    ['--yes allows what is asked', { yes: true }, {}, 'once'],
    ['--yes does not stand for a person where one is needed', { yes: true }, { forced: true }, 'nobody'],
    ['without a terminal nobody is there', { yes: false }, {}, 'nobody'],
    ['a question closed without an answer is a no', { yes: false, ask: person(undefined).ask }, {}, 'no'],
  ])('%s', async (_, options, more, answer) => {
    expect(await createApprover({ ...options, colors: plain })(request(more), signal)).toEqual({ answer })
  })

  it('makes what is hidden in an input visible, and counts what it leaves out', () => {
    expect(inputLines({ command: 'ls\u001b[8m; rm -rf ~', n: { a: 1 } })).toEqual([
      'command: ls\\u001b[8m; rm -rf ~',
      'n:',
      '  | {',
      '  |   "a": 1',
      '  | }',
    ])
    const lines = inputLines({ content: Array.from({ length: 100 }, () => 'x').join('\n') })
    expect(lines.at(-1)).toBe('… 61 more lines')
    expect(inputLines({ content: 'x'.repeat(5000) })[0]).toContain('… 4000 more characters')
  })
})
