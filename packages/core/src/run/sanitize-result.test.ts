import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { harness } from '../executor.fixture.ts'
import { defineTool, empty, ModelRetry, notOk, ok, render, ToolFailure, TransientError } from '../index.ts'

const thrower = (): never => {
  throw new Error('hunter2')
}
const getter = (key: string, target: object = {}): object => Object.defineProperty(target, key, { get: thrower, enumerable: true })
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const circle: Record<string, unknown> = { a: 1 }
circle['self'] = circle
const any = (value: unknown): never => value as never

/** Calls a tool with this body once and returns what the model reads. */
async function outcome(execute: () => unknown, more: object = {}) {
  const tool = defineTool({ name: 'x', description: 'x', effect: 'read', input: z.object({}), execute, ...more })
  const { call, events } = harness([tool], { errors: 'class' })
  const { result } = await call('x')
  const text = render(result)
  expect(typeof text).toBe('string')
  expect(() => JSON.stringify(events)).not.toThrow()
  expect(JSON.stringify(result) + text).not.toContain('hunter2')
  expect(JSON.parse(JSON.stringify(result))).toEqual({ ...result })
  return { result, text }
}

describe('whatever is thrown comes to a result', () => {
  it.each<[string, unknown]>([
    ['a code that throws', getter('code')],
    ['a cause that throws', getter('cause', new Error('hunter2'))],
    ['a constructor that throws', getter('constructor', new Error('hunter2'))],
    ['a class whose name throws', Object.assign(new Error('hunter2'), { constructor: getter('name') })],
    ['no constructor', Object.assign(new Error('hunter2'), { constructor: null })],
    ['a proxy without a prototype', new Proxy({}, { getPrototypeOf: thrower })],
    ['a revoked proxy', revoked()],
    ['a typed error that cannot be read', getter('details', new ToolFailure('x'))],
  ])('%s', async (_, thrown) => {
    const { result } = await outcome(() => {
      throw thrown
    })
    expect(result).toMatchObject({ ok: false, status: 'failed', errorType: 'internal' })
  })

  it.each<[string, unknown]>([
    ['a revoked proxy', revoked()],
    ['a name that throws', getter('name', new Error('x'))],
  ])('after the timeout, too: %s', async (_, thrown) => {
    const late = () => new Promise((_resolve, reject) => setTimeout(() => reject(thrown), 25))
    expect((await outcome(late, { timeout: 0.01 })).result.ok).toBe(false)
  })

  it.each<[string, object, object]>([
    ['cyclic details', { rows: circle }, { details: { rows: { a: 1, self: '(circular)' } } }],
    ['a BigInt', { value: 5n }, { details: { value: '5' } }],
    ['a parameter that is not text', { parameter: 5, value: 1 }, { details: { value: 1 } }],
    ['a constraint that is none', { constraint: {}, parameter: 'a' }, { details: { parameter: 'a' } }],
    ['candidates that are not list', { candidates: 'abc' }, {}],
    ['a call that is none', { call: { tool: 5 }, example: { tool: 'x', input: 5 } }, {}],
    ['a display that is not text', { display: 7 }, {}],
    ['a count of tries that is none', { triesLeft: 'many' }, {}],
  ])('a typed error with %s', async (_, options, expected) => {
    const { result } = await outcome(() => {
      throw new ToolFailure('It broke.', any(options))
    })
    expect(result).toMatchObject({ ok: false, status: 'failed', errorType: 'execution', error: 'It broke.', ...expected })
    expect(Object.keys(('details' in result && result.details) || {})).toEqual(
      Object.keys((expected as { details?: object }).details ?? {}),
    )
    expect(result).not.toHaveProperty('display')
  })

  it('a message that is not text, a type and a status of nobody’s, a wait that is none', async () => {
    const failed = async (error: object) => (await outcome(() => Promise.reject(error))).result
    expect(await failed(Object.assign(new ToolFailure('x'), { message: { secret: 'hunter2' } }))).toMatchObject({
      error: 'The tool reported an error without text.',
    })
    const internal = { status: 'failed', errorType: 'internal', error: 'x' }
    expect(await failed(new ModelRetry('x', { errorType: any('bogus') }))).toMatchObject(internal)
    expect(await failed(new ModelRetry('x', { status: any('weird') }))).toMatchObject(internal)
    expect(await failed(new TransientError('x', { retryAfter: any('soon') }))).toMatchObject({ status: 'unavailable' })
  })
})

describe('whatever is returned comes to a result whose fields are what they say', () => {
  it.each<[string, unknown, object]>([
    ['content that is a number', ok(1, { content: any(42) }), { ok: true, data: 1 }],
    ['content that is null', ok(1, { content: any(null) }), { ok: true, data: 1 }],
    ['a part that is null', ok(1, { content: any([null]) }), { ok: true, data: 1 }],
    ['a part without its text', ok(1, { content: any([{ type: 'text' }]) }), { ok: true, data: 1 }],
    [
      'a part beside one that is none',
      ok(1, { content: any([null, { type: 'text', text: 'a', more: circle }]) }),
      { ok: true, data: 1, content: [{ type: 'text', text: 'a' }] },
    ],
    ['a note that is null', ok(1, { notes: any([null, 'a']) }), { ok: true, data: 1, notes: ['a'] }],
    ['notes that are a number', { ok: true, data: 1, notes: 7 }, { ok: true, data: 1 }],
    ['a display that is a number', ok(1, { display: any(5) }), { ok: true, data: 1 }],
    ['a truncation in circles', ok(1, { truncated: any(circle) }), { ok: true, data: 1 }],
    ['paging that is none', ok(1, any({ count: 'a', page: NaN, hasMore: 1, field: circle })), { ok: true, data: 1 }],
    ['nothing found, in no words', empty([], any({})), { ok: true, data: [], count: 0, hasMore: false }],
    ['an ok that is not', ok(1, any({ ok: 'yes' })), { ok: false, status: 'failed', errorType: 'internal' }],
    [
      'details that are null',
      { ok: false, status: 'retry', errorType: 'conflict', error: 'x', details: null },
      { ok: false, errorType: 'conflict' },
    ],
    [
      'details in circles',
      { ok: false, status: 'failed', errorType: 'conflict', error: 'x', details: circle },
      { details: { a: 1, self: '(circular)' } },
    ],
    ['a type of nobody’s', notOk(any('bogus'), 'x'), { ok: false, status: 'failed', errorType: 'internal', error: 'x' }],
    ['a status of nobody’s', notOk('conflict', 'x', { status: any('weird') }), { ok: false, status: 'failed', errorType: 'internal' }],
    ['ok for a status', { ok: false, status: 'ok', errorType: 'conflict', error: 'x' }, { ok: false, status: 'failed' }],
    ['an error that is not text', notOk('conflict', any({ a: 1 })), { ok: false, error: 'The tool reported an error without text.' }],
    ['a toJSON that throws', { a: 1, b: { toJSON: thrower, c: 2 } }, { ok: true, data: { a: 1, b: { c: 2 } } }],
    ['a member that throws', { a: 1, b: getter('c', { d: 1 }) }, { ok: true, data: { a: 1, b: { c: '(unreadable)', d: 1 } } }],
    ['a function', () => 'hunter2', { ok: true, data: null }],
    ['a date', { at: new Date(0) }, { ok: true, data: { at: '1970-01-01T00:00:00.000Z' } }],
  ])('%s', async (_, value, expected) => {
    const { result } = await outcome(() => value)
    expect(result).toMatchObject(expected)
    if (result.ok)
      for (const field of ['content', 'display', 'truncated', 'page']) if (!(field in expected)) expect(result).not.toHaveProperty(field)
  })

  it('a value that changes after it was returned, or is read a second time, has no second say', async () => {
    let reads = 0
    const twice = Object.defineProperty({}, 'a', { enumerable: true, get: () => (++reads > 1 ? thrower() : 1) })
    expect((await outcome(() => ({ deep: twice }))).result).toMatchObject({ ok: true, data: { deep: { a: 1 } } })
  })

  it.each([500, 3000, 100_000])('%i levels are cut', async (levels) => {
    let deep: unknown = 1
    for (let n = 0; n < levels; n++) deep = [deep]
    expect((await outcome(() => deep)).text).toContain('nested too deep')
  })
})
