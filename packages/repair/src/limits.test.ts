import { describe, expect, it } from 'vitest'
import { families } from './envelope/registry.ts'
import { MAX_CALLS_PER_REPLY, MAX_MARKUP } from './limits.ts'
import type { Repair } from './repair.ts'
import { createReply } from './reply.ts'
import { repairFetch } from './wire/fetch.ts'

interface Sent {
  readonly index?: number
  readonly id?: string
  readonly function?: { readonly name?: string; readonly arguments: string }
}
const call = (index: number, args = '{}'): Sent => ({ index, id: `c${index}`, function: { name: 'read', arguments: args } })
const numbers = (many: number): number[] => Array.from({ length: many }, (_, at) => at)

/** Returns what a client reads from a reply with these chunks of calls. */
async function streamed(chunks: Iterable<readonly Sent[]>, ends: readonly string[] = ['data: [DONE]\n\n']) {
  const choice = (delta: unknown, reason: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
  async function* body() {
    for (const calls of chunks) yield new TextEncoder().encode(choice({ tool_calls: calls }))
    yield new TextEncoder().encode([choice({}, 'tool_calls'), ...ends].join(''))
  }
  const repairs: Repair[] = []
  const headers = { 'content-type': 'text/event-stream' }
  const server = async () => new Response(ReadableStream.from(body()), { headers })
  const text = await (
    await repairFetch({ fetch: server, onRepair: (repair) => repairs.push(repair) })('http://x/v1/chat/completions')
  ).text()
  const found = [...text.matchAll(/^data: (\{.*)$/gm)].flatMap(
    ([, json = '']): Sent[] => JSON.parse(json).choices[0].delta.tool_calls ?? [],
  )
  return { calls: found, dropped: repairs.filter(({ kind }) => kind === 'dropped') }
}

describe('calls of one reply', () => {
  it.each<[string, () => Iterable<readonly Sent[]>]>([
    ['in one chunk', () => [numbers(20_000).map((n) => call(n))]],
    ['in a chunk each', () => numbers(20_000).map((n) => [call(n)])],
    ['under one index', () => [numbers(20_000).map((n) => ({ ...call(0), id: `c${n}` }))]],
  ])('20,000 %s: the first ones are handed on, and the others counted', async (_, chunks) => {
    const { calls, dropped } = await streamed(chunks())
    expect(calls.map(({ id, index }) => [id, index])).toEqual(numbers(MAX_CALLS_PER_REPLY).map((n) => [`c${n}`, n]))
    expect(dropped).toMatchObject([{ from: 19_872, why: expect.stringContaining('19,872 more calls were dropped') }])
  })

  it('as many as may be are all handed on, their arguments in pieces', async () => {
    const begun = numbers(MAX_CALLS_PER_REPLY).map((n) => call(n, '{"a"'))
    const rest = numbers(MAX_CALLS_PER_REPLY).map((index): Sent => ({ index, function: { arguments: ':1}' } }))
    const { calls, dropped } = await streamed([begun, rest])
    expect([calls.length, dropped]).toEqual([2 * MAX_CALLS_PER_REPLY, []])
  })

  it('the arguments of one that was dropped go to no other', async () => {
    const late: Sent = { index: MAX_CALLS_PER_REPLY, function: { arguments: '{"a":1}' } }
    const { index: _, ...nameless } = late
    const { calls, dropped } = await streamed([
      numbers(MAX_CALLS_PER_REPLY + 1).map((n) => call(n, n === 128 ? '' : '{}')),
      [late],
      [nameless],
    ])
    expect(calls.map((one) => one.function?.arguments)).toEqual(numbers(MAX_CALLS_PER_REPLY).map(() => '{}'))
    expect(dropped).toMatchObject([{ from: 1, why: expect.stringContaining('1 more call was dropped') }])
  })

  it('are as many in a reply that does not stream', async () => {
    const repairs: Repair[] = []
    const calls = numbers(1000).map((n) => call(n))
    const server = async () => Response.json({ choices: [{ message: { tool_calls: calls }, finish_reason: 'tool_calls' }] })
    const response = await repairFetch({ fetch: server, onRepair: (repair) => repairs.push(repair) })('http://x/v1/chat/completions')
    const { choices } = (await response.json()) as { choices: [{ message: { tool_calls: Sent[] } }] }
    expect(choices[0].message.tool_calls).toHaveLength(MAX_CALLS_PER_REPLY)
    expect(repairs.find(({ kind }) => kind === 'dropped')).toMatchObject({ from: 1000 - MAX_CALLS_PER_REPLY })
  })
})

describe('markup in the text', () => {
  const LEAKED = '<tool_call>{"name": "read", "arguments": {}}</tool_call>'
  const tools = [{ name: 'read', effect: 'read' as const, parameters: { type: 'object' } }]

  function said(text: string) {
    const reply = createReply(tools, { families })
    const shown = reply.text(text).text
    const { calls, unclear, text: rest } = reply.end()
    return { calls: calls.length, unclear, text: shown + rest }
  }

  it('is read up to its limit, and not a character further', () => {
    const blanks = ' '.repeat(MAX_MARKUP - LEAKED.length)
    expect(said(`${LEAKED}${blanks}`)).toEqual({ calls: 1, unclear: false, text: '' })
    expect(said(`${LEAKED}${blanks} `)).toEqual({ calls: 0, unclear: true, text: `${LEAKED}${blanks} ` })
  })

  it('after a long answer counts alone', () => {
    const prose = numbers(30_000).join(' ')
    expect(said(`${prose}\n${LEAKED}`)).toMatchObject({ calls: 1, unclear: false })
  })

  it('of the thinking is not read either where it is too long', () => {
    const thought = (length: number) => {
      const reply = createReply(tools, { families })
      reply.reasoning(' '.repeat(length - LEAKED.length) + LEAKED)
      return reply.end().calls.length
    }
    expect([thought(MAX_MARKUP), thought(MAX_MARKUP + 1)]).toEqual([1, 0])
  })
})
