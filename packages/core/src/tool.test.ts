import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { harness } from './executor.fixture.ts'
import type { JsonSchema, StandardSchema } from './executor.ts'
import { defineTool, type ToolDefinition } from './index.ts'

const base = { name: 'add', description: ' Adds. ', input: { type: 'object' } as JsonSchema, execute: () => 1 }
const define = (more: object) => defineTool({ ...base, ...more } as ToolDefinition)

describe('defineTool', () => {
  it('fills the defaults', () => {
    expect(define({})).toMatchObject({
      name: 'add',
      description: 'Adds.',
      effect: 'external',
      retries: 1,
      timeout: 60,
      service: 'add',
      idempotent: false,
      polls: false,
      untrusted: false,
      aliases: [],
      examples: [],
    })
    expect(define({ effect: 'read' }).retries).toBe(3)
    expect(define({ aliases: ['plus', { name: 'sum' }] }).aliases).toEqual([{ name: 'plus' }, { name: 'sum' }])
  })

  it.each<[object, RegExp]>([
    [{ name: 'two words' }, /"two words".*name must match/],
    [{ name: '' }, /name must match/],
    [{ name: 'x'.repeat(65) }, /name must match/],
    [{ name: undefined }, /name must match/],
    [{ description: ' ' }, /description is missing/],
    [{ execute: 'rm' }, /execute must be a function/],
    [{ effect: 'none' }, /effect must be read, write or external, not "none"/],
    [{ effect: 'constructor' }, /effect must be/],
    [{ timeout: 30_000 }, /timeout is in seconds.*use 30$/],
    [{ timeout: 0 }, /timeout.*not positive/],
    [{ timeout: Number.NaN }, /timeout/],
    [{ retries: -1 }, /retries must be a whole number/],
    [{ retries: 1.5 }, /retries must be a whole number/],
    [{ retries: 3 }, /an external tool may have at most 2 retries/],
    [{ input: { type: 'string' } }, /input: must be a schema of type "object"/],
    [{ input: null }, /input: must be a schema/],
    [{ input: undefined }, /input: must be a schema/],
    [{ input: z.string() }, /input: must be a schema of type "object"/],
    [{ input: z.object({ d: z.date() }) }, /input: .*Date/],
    [{ input: standard(() => ({ value: 1 })) }, /input: .*acme gives no JSON Schema/],
  ])('%j: %s', (more, says) => {
    expect(() => define(more)).toThrow(TypeError)
    expect(() => define(more)).toThrow(says)
  })
})

const JSON_SCHEMA = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }

/** A Standard Schema from a library other than Zod. */
function standard(validate: StandardSchema['~standard']['validate'], jsonSchema?: JsonSchema): StandardSchema {
  return { '~standard': { version: 1, vendor: 'acme', validate, ...(jsonSchema && { jsonSchema: { input: () => ({ ...jsonSchema }) } }) } }
}

const positive: StandardSchema['~standard']['validate'] = (value) => {
  const { n } = value as { n: number }
  return n > 0 ? { value: { n, from: 'acme' } } : { issues: [{ message: 'must be positive', path: [{ key: 'n' }] }] }
}

describe('each kind of schema', () => {
  const zod = z.object({ n: z.number().positive('must be positive').default(1) })
  const cases: [string, ToolDefinition['input']][] = [
    ['zod', zod],
    ['a raw JSON Schema', { ...JSON_SCHEMA, properties: { n: { type: 'number', exclusiveMinimum: 0 } } }],
    ['a Standard Schema that gives its JSON Schema', standard(positive, JSON_SCHEMA)],
    ['a Standard Schema with the JSON Schema beside it', { schema: standard(positive), jsonSchema: JSON_SCHEMA }],
    ['an asynchronous one', standard(async (value) => positive(value), JSON_SCHEMA)],
    ['one with promises of another realm', standard((value) => thenable(positive(value)), JSON_SCHEMA)],
  ]

  it.each(cases)('%s: is sent as JSON Schema, repairs, checks, and says where', async (_, input) => {
    const seen: unknown[] = []
    const tool = defineTool({ ...base, input, effect: 'read', execute: (value: unknown) => seen.push(value) })
    expect(tool.inputSchema).toMatchObject({ type: 'object', properties: { n: { type: 'number' } } })
    expect(tool.inputSchema).not.toHaveProperty('$schema')
    const { call } = harness([tool])
    expect((await call('add', { n: '5' })).result.ok).toBe(true)
    expect(seen).toMatchObject([{ n: 5 }])
    expect((await call('add', { n: -5 })).result).toMatchObject({ status: 'retry', errorType: 'validation', details: { parameter: 'n' } })
    expect((await call('add', { n: [] })).result).toMatchObject({ status: 'retry', details: { parameter: 'n', constraint: 'a number' } })
    expect(seen).toHaveLength(1)
  })

  it('defaults and transforms reach the tool', async () => {
    const seen: unknown[] = []
    const input = z.object({ n: z.number().default(1), s: z.string().transform((s) => s.length) })
    const { call } = harness([defineTool({ ...base, input, effect: 'read', execute: (value) => seen.push(value) })])
    await call('add', { s: 'abc' })
    expect(seen).toEqual([{ n: 1, s: 3 }])
  })

  it('a rule over the whole input has no parameter, and is told all the same', async () => {
    const input = z.object({ a: z.string().optional(), b: z.string().optional() }).refine(({ a, b }) => a ?? b, 'give a or b')
    const { call } = harness([defineTool({ ...base, input, effect: 'read' })])
    expect((await call('add', {})).result).toMatchObject({ status: 'retry', error: 'give a or b.' })
  })

  it.each<[string, StandardSchema['~standard']['validate']]>([
    [
      'throws',
      () => {
        throw new Error('hunter2')
      },
    ],
    ['rejects', () => Promise.reject(new Error('hunter2'))],
  ])('a check that %s is the tool’s failure, not the model’s; the log has it', async (_, validate) => {
    const { call, logged, events } = harness([defineTool({ ...base, input: standard(validate, JSON_SCHEMA), effect: 'read' })])
    const { result, attempts } = await call('add', { n: 1 })
    expect(result).toMatchObject({ status: 'failed', errorType: 'internal', error: expect.not.stringContaining('hunter2') })
    expect(attempts).toBe(0)
    expect(logged).toMatchObject([{ tool: 'add', error: { message: 'hunter2' } }])
    expect(events.some(({ type }) => type === 'tool.retry')).toBe(false)
  })
})

/** A promise that is not an instance of this realm's `Promise`, as from a library. */
const thenable = <T>(value: T): Promise<Awaited<T>> =>
  // biome-ignore lint/suspicious/noThenProperty: that is the point
  ({ then: (resolve: (value: T) => void) => resolve(value) }) as unknown as Promise<Awaited<T>>

describe('names that every object has', () => {
  it.each(['toString', 'constructor', '__proto__', 'hasOwnProperty'])('a tool may be called %s', async (name) => {
    const { call } = harness([defineTool({ ...base, name, effect: 'read' })])
    expect((await call(name)).result).toMatchObject({ ok: true, data: 1 })
  })
})

describe('a schema that decides', () => {
  const schema = z.object({ n: z.number() })
  const run = (decides: boolean, input: unknown) => {
    const tool = define({
      effect: 'read',
      input: { schema, jsonSchema: schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }), decides },
      execute: (given: object) => given,
    })
    return harness([tool]).call('add', input)
  }

  it('may ignore unknown keys, which are invalid otherwise', async () => {
    expect((await run(true, { n: 1, extra: 1 })).result).toMatchObject({ ok: true, data: { n: 1 } })
    expect((await run(true, { n: 1, extra: 1 })).repairs).toEqual([])
    expect((await run(false, { n: 1, extra: 1 })).repairs).toMatchObject([{ kind: 'unknown_dropped' }])
  })

  it('is explained by its JSON Schema', async () => {
    expect((await run(true, { n: 'x' })).result).toMatchObject({ ok: false, error: '"n" must be a number, but was "x" (string).' })
  })
})
