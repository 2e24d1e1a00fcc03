import { type CallRecord, type Effect, notOk, ok, type ToolResult } from '@mulligan/core'
import { describe, expect, it } from 'vitest'
import { ledgerOf, summary } from './ledger.ts'

describe('the ledger', () => {
  let next = 0
  const record = (tool: string, effect: Effect, target: string, result: ToolResult): CallRecord => ({
    id: `c${next++}`,
    step: 1,
    ordinal: 0,
    tool,
    input: {},
    effect,
    target,
    attempts: 1,
    repairs: [],
    result,
    durationMs: 0,
  })
  const named = (entries: readonly { tool: string; target: string }[]) => entries.map(({ tool, target }) => `${tool} ${target}`)

  it('tells what was changed, what failed and was not made good, and what is unknown', () => {
    const ledger = ledgerOf([
      record('read', 'read', 'a', ok(1)),
      record('write', 'write', 'a', notOk('conflict', 'changed')),
      record('write', 'write', 'a', ok(1)),
      record('write', 'write', 'b', notOk('execution', 'disk full')),
      record('write', 'write', 'c', ok(1)),
      record('send', 'external', 'ann', notOk('timeout', 'cut off', { status: 'indeterminate' })),
      record('search', 'read', 'x', notOk('network', 'down')),
      record('search', 'read', 'y', notOk('loop', 'again')),
      record('nope', 'external', '', notOk('unknown_tool', 'none')),
    ])
    expect(named(ledger.changed)).toEqual(['write a', 'write c'])
    expect(named(ledger.failed)).toEqual(['write b', 'search x'])
    expect(named(ledger.unknown)).toEqual(['send ann'])
    expect(summary(ledger)).toBe('Done: write a, write c. Failed: write b, search x. Not known whether it took effect: send ann.')
  })

  it('names what is unknown by its target and its first words, without secrets, also what earlier turns left unknown', () => {
    const cut = notOk('internal', 'cut off', { status: 'indeterminate' })
    const earlier = {
      ...record('send', 'external', 'ann', cut),
      input: { to: 'ann', text: `hunter2 is the key\n${'and more '.repeat(20)}` },
    }
    const ledger = ledgerOf([{ ...record('post', 'external', 'hunter2', cut), input: 'hi' }], { earlier: [earlier], secrets: ['hunter2'] })
    expect(ledger.unknown).toMatchObject([
      { tool: 'send', target: 'ann', words: expect.stringMatching(/^\[secret\] is the key and more.*…$/), status: 'indeterminate' },
      { tool: 'post', target: '[secret]', words: 'hi' },
    ])
    expect(summary(ledger)).toMatch(/^Not known whether it took effect: send ann "\[secret\] is the key.*…", post \[secret\] "hi"\.$/)
  })
})
