import type { AgentEvent, TurnEvent } from '@mulligan/agent'
import { notOk, ok, type ToolResult } from '@mulligan/core'
import { describe, expect, it } from 'vitest'
import { plain } from './colors.ts'
import { linesOf, NEW_VIEW, reduceView, type View } from './events-to-lines.ts'

const at = (event: TurnEvent): AgentEvent => ({ ...event, sessionId: 's', turnId: 's/1', at: 0 })
const style = { colors: plain, subject: (_: string, input: unknown) => (input as { path?: string } | undefined)?.path ?? '' }

const called: View = [
  at({
    type: 'tool.call',
    callId: 'c',
    step: 1,
    ordinal: 0,
    tool: 'read_file',
    requestedTool: 'cat',
    input: { path: 'a.txt' },
    effect: 'read',
  }),
  at({ type: 'tool.repaired', callId: 'c', tool: 'read_file', repair: { kind: 'alias', from: 'cat', to: 'read_file', why: 'x' } }),
  at({ type: 'tool.repaired', callId: 'c', tool: 'read_file', repair: { kind: 'type', parameter: 'limit', from: '10', to: 10, why: 'x' } }),
].reduce(reduceView, NEW_VIEW)

const result = (outcome: ToolResult, more: object = {}): AgentEvent =>
  at({
    type: 'tool.result',
    callId: 'c',
    step: 1,
    tool: 'read_file',
    effect: 'read',
    inputKey: '{}',
    result: outcome,
    attempts: 1,
    durationMs: 3,
    ...more,
  })

const REPAIRED = 'repaired cat → read_file repaired limit "10" → 10'

describe('the line of a call', () => {
  const retry = notOk('not_found', 'No file.', { details: { parameter: 'path', suggestion: 'b.txt', triesLeft: 2 } })
  const cases: readonly (readonly [string, AgentEvent, string])[] = [
    ['text, of which nothing is counted', result(ok('', { content: 'a\nb' })), `✓ read_file a.txt 3 ms ${REPAIRED}`],
    [
      'lines that were read, not those of the text about them',
      result(ok({ lines: ['a', 'b'] }, { content: 'a\nb\nlines 1-2 of 9', hasMore: true })),
      `✓ read_file a.txt 2 lines, more 3 ms ${REPAIRED}`,
    ],
    [
      'a diff',
      result(ok({ diff: '--- a\n+++ b\n@@ -1,1 +1,2 @@\n-old\n+new\n+++ too\n' }, { content: 'Edited.' }), { effect: 'write' }),
      `✓ read_file a.txt +2 -1 3 ms ${REPAIRED}`,
    ],
    [
      'an effect that counts',
      result(ok({ added: 4, removed: 0 }, { count: 1 }), { effect: 'write' }),
      `✓ read_file a.txt +4 -0 3 ms ${REPAIRED}`,
    ],
    ['a count', result(ok([], { count: 12, hasMore: true })), `✓ read_file a.txt 12 found, more 3 ms ${REPAIRED}`],
    ['nothing found', result(ok([], { count: 0 })), `✓ read_file a.txt nothing found 3 ms ${REPAIRED}`],
    ['data', result(ok({ id: 1 })), `✓ read_file a.txt 3 ms ${REPAIRED}`],
    ['several attempts', result(ok(''), { attempts: 3, durationMs: 1234 }), `✓ read_file a.txt 3 attempts 1.2 s ${REPAIRED}`],
    ['a retry', result(retry), `● read_file a.txt → retry not_found: No file. try b.txt (2 tries left) 3 ms ${REPAIRED}`],
    ['a failure', result(notOk('execution', 'Exit 1.')), `✗ read_file a.txt failed execution: Exit 1. 3 ms ${REPAIRED}`],
    ['not run', result(notOk('cancelled', 'Stopped.'), { attempts: 0 }), `✗ read_file a.txt cancelled: Stopped. ${REPAIRED}`],
    [
      'unknown',
      result(notOk('timeout', 'Cut.', { status: 'indeterminate' })),
      `? read_file a.txt indeterminate timeout: Cut. 3 ms ${REPAIRED}`,
    ],
    [
      'what was kept of a command',
      result(ok(''), { effect: 'write', changed: ['a', 'b', 'c', 'd'] }),
      `✓ read_file a.txt 3 ms kept a, b, c and 1 more ${REPAIRED}`,
    ],
    ['late', result(ok(''), { late: true }), `✓ read_file a.txt came late 3 ms ${REPAIRED}`],
  ]
  it.each(cases)('%s', (_, event, line) => expect(linesOf(called, event, style)).toEqual([line]))

  it('has the display under it, bounded', () => {
    const display = Array.from({ length: 20 }, (_, n) => `row ${n}\u001b[31m`).join('\n')
    const [, ...under] = linesOf(called, result(ok('', { display })), style)
    expect(under).toEqual([...Array.from({ length: 12 }, (_, n) => `  row ${n}`), '  … 8 more lines'])
  })

  it('has nothing in it that moves the cursor', () => {
    const evil = 'x\u001b[2J\ny'
    const seen = reduceView(
      NEW_VIEW,
      at({ type: 'tool.call', callId: 'c', step: 1, ordinal: 0, tool: evil, input: { path: evil }, effect: 'read' }),
    )
    const event = result(notOk('execution', evil), { tool: evil })
    expect(linesOf(seen, event, style)).toEqual(['✗ x y x y failed execution: x y 3 ms'])
  })
})

describe('other lines', () => {
  const cases: readonly (readonly [string, TurnEvent, readonly string[]])[] = [
    ['a fault that is tried again', { type: 'error', message: 'Gone.', retryInMs: 1500 }, ['! Gone. Trying again in 1.5 s.']],
    [
      'that a context was compacted',
      {
        type: 'context.compacted',
        step: 9,
        why: 'full',
        before: 6120,
        after: 2900,
        calls: 1,
        contextTokens: 8000,
        covers: 's/1/8',
        digest: 'long',
      },
      ['Context compacted: from about 6,120 to 2,900 of 8,000 tokens, 1 call put into a digest.'],
    ],
    [
      'a call that was not run',
      {
        type: 'message.quoted',
        messageId: 'm',
        step: 1,
        quoted: [{ raw: 'f(\u001b[2J)', why: 'in no form that is read as a call', open: true }],
        asked: false,
      },
      ['! Not run, in no form that is read as a call: f()'],
    ],
    [
      'one that is part of the answer, or asked about',
      { type: 'message.quoted', messageId: 'm', step: 1, quoted: [{ raw: 'f()', why: 'in a code fence', open: false }], asked: false },
      [],
    ],
    ['what the person should know', { type: 'warning', message: 'It was\u001b[2J cut.' }, ['! It was cut.']],
    ['a fault that is not, which the end of the turn tells', { type: 'error', message: 'Gone.' }, []],
    ['discarded text', { type: 'message.discarded', messageId: 'm', step: 1, why: 'it broke off' }, ['Discarded: it broke off']],
    [
      'a closed tool',
      { type: 'tool.closed', callId: 'c', tool: 'x', until: 'other_success' },
      ['  x is closed until another tool has succeeded'],
    ],
    ['progress', { type: 'tool.delta', callId: 'c', tool: 'x', attempt: 1, message: '50 %' }, ['  x: 50 %']],
    [
      'the last lines that a command printed, indented as it did',
      { type: 'tool.delta', callId: 'c', tool: 'bash', attempt: 1, message: 'a\nb\n\n\u001b[31mc\n  d\ne\nf' },
      ['  bash: b', '        c', '          d', '        e', '        f'],
    ],
    ['a turn taken up', { type: 'turn.started', prompt: '', model: '', where: '', resumed: true }, ['Continuing the interrupted turn.']],
    ['a new turn', { type: 'turn.started', prompt: '', model: '', where: '', resumed: false }, []],
    ['reasoning', { type: 'reasoning.delta', messageId: 'm', text: 'hm' }, []],
  ]
  it.each(cases)('%s', (_, event, lines) => expect(linesOf(NEW_VIEW, at(event), style)).toEqual(lines))
})
