import { type CallRecord, type Effect, notOk, ok, type ToolResult } from '@mulligan/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLanes } from './lanes.ts'
import { ledgerOf, summary } from './ledger.ts'

describe('lanes', () => {
  it('an effect waits for all before it and all after it wait for the effect, whatever the order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom<Effect>('read', 'write', 'external'), { maxLength: 12 }), async (effects) => {
        const lane = createLanes(3)
        const running = new Set<number>()
        const ended: number[] = []
        let most = 0
        await Promise.all(
          effects.map((effect, at) =>
            lane(effect, async () => {
              const alone = effect !== 'read'
              if (alone) expect([...running]).toEqual([])
              for (const other of running) expect(effects[other]).toBe('read')
              running.add(at)
              most = Math.max(most, running.size)
              for (let n = 0; n < at % 3; n++) await Promise.resolve()
              running.delete(at)
              ended.push(at)
              if (alone) expect(ended.toSorted((a, b) => a - b)).toEqual(Array.from({ length: at + 1 }, (_, n) => n))
            }),
          ),
        )
        expect(most).toBeLessThanOrEqual(3)
        expect(ended).toHaveLength(effects.length)
      }),
    )
  })

  it('one that fails does not hold up the rest', async () => {
    const lane = createLanes()
    const first = lane('write', () => Promise.reject(new Error('no')))
    const second = lane('read', async () => 'yes')
    await expect(first).rejects.toThrow('no')
    expect(await second).toBe('yes')
  })
})

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
})
