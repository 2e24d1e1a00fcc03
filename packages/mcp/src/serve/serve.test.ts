/** Serving tools, over streams in this process, with lines as a client sends them. */
import { PassThrough } from 'node:stream'
import { defineTool, type Tool } from '@mulligan/core'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ServedTools, serveTools } from './serve.ts'

interface Reply {
  readonly id: number
  readonly result: {
    readonly resultType?: string
    readonly inputRequests?: Readonly<Record<string, { readonly params: { readonly message: string } }>>
    readonly tools?: readonly { readonly name: string; readonly annotations: object }[]
    readonly content?: readonly { readonly text: string }[]
    readonly isError?: boolean
    readonly structuredContent?: Readonly<Record<string, unknown>>
  }
}

let served: ServedTools | undefined
afterEach(() => served?.close())

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
}

const done: string[] = []
const tools: readonly Tool[] = [
  defineTool({ name: 'look', description: 'Looks.', effect: 'read', input: z.object({ n: z.int().optional() }), execute: () => 'seen' }),
  defineTool({
    ...{ name: 'page', description: 'Reads a page.', effect: 'read', untrusted: true, sends: 'query', input: z.object({}) },
    execute: () => 'a page',
  }),
  defineTool({
    ...{ name: 'post', description: 'Posts.', input: z.object({ text: z.string() }), target: ({ text }: { text: string }) => text },
    execute: ({ text }) => {
      done.push(text)
      return 'posted'
    },
  }),
  defineTool({
    ...{ name: 'long', description: 'Is long.', effect: 'read', input: z.object({}) },
    execute: () => `${'x'.repeat(99)}\n`.repeat(2000),
  }),
]

/** @param yes whether everything that a policy asks about is approved, except where only a person may */
function start(yes = false) {
  done.length = 0
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const waiting = new Map<number, (reply: Reply) => void>()
  let rest = ''
  stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const reply = JSON.parse(line) as Reply
      waiting.get(reply.id)?.(reply)
    }
  })
  served = serveTools({
    ...{ name: 'test', version: '1', tools, stdin, stdout },
    policy: ({ effect }) => ({ decision: effect === 'read' ? 'allow' : 'ask', reason: 'it posts' }),
    approve: async ({ forced }) => ({ answer: yes && !forced ? 'once' : 'nobody' }),
  })
  let count = 0
  const request = (method: string, params: object): Promise<Reply['result']> => {
    const id = ++count
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: META } })}\n`)
    return new Promise((resolve) => waiting.set(id, ({ result }) => resolve(result)))
  }
  const call = (name: string, args: object, more: object = {}) => request('tools/call', { name, arguments: args, ...more })
  return { request, call }
}

const keyOf = ({ inputRequests = {} }: Reply['result']): string => Object.keys(inputRequests)[0] ?? ''
const answer = (key: string, content: object, action = 'accept') => ({ inputResponses: { [key]: { action, content } } })

describe('serving', () => {
  it('lists tools with annotations that say no less than their effect', async () => {
    const { tools: list = [] } = await start().request('tools/list', {})
    expect(list.map(({ name, annotations }) => [name, annotations])).toEqual([
      ['look', { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }],
      ['page', { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true }],
      ['post', { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }],
      ['long', { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }],
      ['mulligan_read_output', { readOnlyHint: true, openWorldHint: false }],
    ])
  })

  it.each([
    [{ allow: true }, 'accept', ['a']],
    [{ allow: false }, 'accept', []],
    [{}, 'accept', []],
    [{ allow: true }, 'decline', []],
  ])('a call that needs approval is made only if the person allows it: %j %s', async (content, action, made) => {
    const { call } = start()
    const asked = await call('post', { text: 'a' })
    expect([asked.resultType, asked.inputRequests?.[keyOf(asked)]?.params.message]).toEqual([
      'input_required',
      expect.stringContaining('Allow post'),
    ])
    expect(done).toEqual([])
    expect((await call('post', { text: 'a' }, answer(keyOf(asked), content, action))).isError ?? false).toBe(made.length === 0)
    expect(done).toEqual(made)
  })

  it('an answer to another question, or the same one again, allows nothing', async () => {
    const { call } = start()
    const asked = await call('post', { text: 'a' })
    expect((await call('post', { text: 'b' }, answer('made-up', { allow: true }))).resultType).toBe('input_required')
    await call('post', { text: 'c' }, answer(keyOf(asked), { allow: true }))
    // The call that was asked about, whatever comes with the answer.
    expect(done).toEqual(['a'])
    expect((await call('post', { text: 'd' }, answer(keyOf(asked), { allow: true }))).resultType).toBe('input_required')
    expect(done).toEqual(['a'])
  })

  it('what one call has read from outside counts for the next', async () => {
    const { call } = start(true)
    expect((await call('post', { text: 'a' })).content?.[0]?.text).toBe('posted')
    await call('page', {})
    expect((await call('post', { text: 'b' })).resultType).toBe('input_required')
    expect(done).toEqual(['a'])
  })

  it('a tool is never closed: a client has no turns', async () => {
    const { call } = start()
    for (let n = 0; n < 20; n++) expect((await call('look', { n: 'x' })).isError).toBe(true)
    for (let n = 0; n < 20; n++) expect((await call('look', {})).content?.[0]?.text).toBe('seen')
  })

  it('results have structured content, also of failures', async () => {
    const { call, request } = start()
    const { tools: list = [] } = await request('tools/list', {})
    expect(list.find(({ name }) => name === 'look')).toMatchObject({ outputSchema: { required: ['ok'] } })
    expect((await call('look', {})).structuredContent).toEqual({ ok: true, data: 'seen' })
    expect((await call('look', { n: 'x' })).structuredContent).toMatchObject({
      ...{ ok: false, status: 'retry', errorType: 'validation', details: { parameter: 'n' } },
    })
  })

  it('a result that is too long is read in pages', async () => {
    const { call } = start()
    const first = await call('long', {})
    const text = first.content?.[0]?.text ?? ''
    const [, page] = /the whole is in mulligan_read_output\((\{.*?\})\), read it in pages/.exec(text) ?? []
    expect([first.structuredContent?.['data'], first.structuredContent?.['truncated']]).toMatchObject([undefined, { total: 200_000 }])
    const pages: string[] = []
    for (let next = page; next !== undefined; ) {
      const { content = [] } = await call('mulligan_read_output', JSON.parse(next) as object)
      pages.push(content[0]?.text ?? '')
      next = /Next: mulligan_read_output\((\{.*\})\)/.exec(content[1]?.text ?? '')?.[1]
    }
    expect(pages.join('')).toBe(`${'x'.repeat(99)}\n`.repeat(2000))
  })
})
