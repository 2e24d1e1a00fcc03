import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { empty, isToolResult, notOk, ok } from '../result.ts'
import { extractToolError, fromReturned } from './normalize.ts'

describe('fromReturned', () => {
  it('a result stays what it is', () => {
    for (const result of [ok(1), empty([], 'none'), notOk('conflict', 'changed')]) expect(fromReturned(result)).toEqual(result)
  })

  it.each<[string, unknown, object]>([
    ['nothing', undefined, { ok: true, data: null }],
    ['an ok as plain data', { ok: true, data: [], count: 0 }, { ok: true, data: [], count: 0 }],
    ['an ok with a field of its own is data', { ok: true, data: 1, rows: 2 }, { ok: true, data: { ok: true, data: 1, rows: 2 } }],
    [
      'an error read back from JSON',
      { ok: false, status: 'retry', errorType: 'conflict', error: 'x' },
      { ok: false, errorType: 'conflict' },
    ],
    ['an errorType of nobody’s', { ok: false, status: 'x', errorType: 'toString', error: 'x' }, { ok: false, errorType: 'execution' }],
  ])('%s', (_, value, result) => expect(fromReturned(value)).toMatchObject(result))

  it('whatever is returned, it comes to a result that JSON can hold', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withSparseArray: true }), (value) => {
        const result = fromReturned(value)
        expect(typeof result.ok).toBe('boolean')
        expect(() => JSON.stringify(result)).not.toThrow()
      }),
    )
  })

  const circle: Record<string, unknown> = { a: 1 }
  circle['self'] = circle
  const ownMessage: Record<string, unknown> = {}
  ownMessage['message'] = ownMessage
  const twice = { n: 1 }

  it.each<[string, unknown, object]>([
    ['a circle', circle, { ok: true, data: { a: 1, self: '(circular)' }, notes: [expect.stringContaining('replaced')] }],
    ['a circle in a result', ok(circle, { count: 1 }), { ok: true, count: 1, data: { self: '(circular)' } }],
    ['a BigInt', { n: [5n] }, { ok: true, data: { n: ['5'] } }],
    ['one object in two places, with a BigInt', { a: twice, b: twice, n: 1n }, { ok: true, data: { a: { n: 1 }, b: { n: 1 } } }],
    [
      'an error that is its own message',
      { isError: true, error: ownMessage },
      { ok: false, error: expect.stringContaining('without text') },
    ],
    [
      'a getter that throws',
      Object.defineProperty({}, 'isError', {
        get: () => {
          throw new Error('hunter2')
        },
      }),
      { ok: false, status: 'failed', errorType: 'internal', error: expect.not.stringContaining('hunter2') },
    ],
  ])('%s', (_, value, result) => {
    const normal = fromReturned(value)
    expect(normal).toMatchObject(result)
    expect(isToolResult(normal)).toBe(true)
  })
})

describe('extractToolError', () => {
  it.each<[string, unknown]>([
    ['an error field', { error: 'E42 is a warning', rows: 1 }],
    ['an error field that is null', { ok: false, rows: 1 }],
    ['success false without error', { success: false, tried: 2 }],
    ['isError that is not true', { isError: 'no', content: [] }],
    ['a text', 'Error: x'],
    ['nothing', null],
  ])('%s is none', (_, value) => expect(extractToolError(value)).toBeUndefined())

  it.each<[unknown, string]>([
    [{ ok: false, error: 'disk full' }, 'disk full'],
    [{ success: false, error: { message: 'disk full' } }, 'disk full'],
    [{ success: false, error: new Error('disk full') }, 'disk full'],
    [{ success: false, error: null, message: 'disk full' }, 'disk full'],
    [
      {
        isError: true,
        content: [
          { type: 'text', text: 'disk' },
          { type: 'text', text: 'full' },
        ],
      },
      'disk\nfull',
    ],
    [{ isError: true, content: [] }, 'The tool reported an error without text.'],
  ])('%j is one', (value, error) => expect(extractToolError(value)).toMatchObject({ ok: false, errorType: 'execution', error }))

  it('a text that begins "Error:" is one where that is asked for, and only then', () => {
    expect(extractToolError(' error: disk full', { errorStrings: true })).toMatchObject({ error: 'disk full' })
    expect(extractToolError('No Error: fine', { errorStrings: true })).toBeUndefined()
  })

  it('is clipped', () => expect(extractToolError({ isError: true, error: 'x'.repeat(1e5) })?.error.length).toBeLessThan(2100))
})
