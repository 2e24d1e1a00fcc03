import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repairFetch } from './fetch.ts'
import { byIndex, chunk, reply } from './server.fixture.ts'
import { repairStream } from './stream.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Repairs the stream in these chunks. Ids are numbers, so that two runs can be compared. */
async function repaired(parts: readonly Uint8Array[], maxEventBytes?: number): Promise<string> {
  let count = 0
  const rules = { earlier: new Set(['old']), newId: () => `id${count++}`, cutOff: 'refuse' as const }
  const stream = repairStream(ReadableStream.from(parts), { ...rules, ...(maxEventBytes && { maxEventBytes }) })
  const out: Uint8Array[] = []
  for await (const part of stream) out.push(part)
  return Buffer.concat(out).toString()
}

function portions(all: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => Math.floor(cut * all.length)).sort((a, b) => a - b), all.length]
  return at.slice(1).map((to, index) => all.slice(at[index], to))
}

const entry = (index: unknown, id: unknown, name: unknown, args: unknown) => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: args },
})
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 25 })

/** A correct reply as a server might write it: text, reasoning, calls in pieces, pings, and its own line endings and spacing. */
const healthy = fc
  .record({
    eol: fc.constantFrom('\n', '\r\n'),
    space: fc.constantFrom('data: ', 'data:'),
    texts: fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { maxLength: 4 }),
    calls: fc.array(fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }), { maxLength: 4 }),
    size: fc.integer({ min: 1, max: 9 }),
    later: fc.constantFrom({}, { id: null }, { id: '' }, { type: 'function' }),
    bom: fc.boolean(),
  })
  .map(({ eol, space, texts, calls, size, later, bom }) => {
    const choice = (delta: unknown, reason: string | null = null) =>
      JSON.stringify({ id: 'x', unknown: { a: 1 }, choices: [{ index: 0, delta, finish_reason: reason, logprobs: null }] })
    const data = [
      choice({ role: 'assistant', content: '' }),
      ...texts.map((content) => choice({ content, tool_calls: [] })),
      ...calls.flatMap((input, index) => {
        const pieces = JSON.stringify(input).match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
        return [
          choice({ tool_calls: [entry(index, `call_${index}`, 'read', '')] }),
          ...pieces.map((piece) => choice({ tool_calls: [{ index, ...later, function: { arguments: piece } }] })),
        ]
      }),
      choice({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      'not JSON at all',
      '{"choices":[],"usage":{"total_tokens":3}}',
      '[DONE]',
    ]
    return `${bom ? '\ufeff' : ''}${data.map((one) => `${space}${one}${eol}${eol}`).join(`: ping${eol}${eol}`)}`
  })

/** Anything that could arrive as a delta. */
const faulty = fc
  .record({
    entries: fc.array(
      fc.record(
        {
          index: fc.constantFrom(0, 1, 0, null, '1', -1),
          id: fc.constantFrom('a', 'b', '', null, 'old', 7),
          function: fc.option(
            fc.record(
              {
                name: fc.constantFrom('read', 'write', '', null),
                arguments: fc.constantFrom('', '{"a":', '1}', '{"é":"😀"}', null, { a: 1 }, '"', 'x'),
              },
              { requiredKeys: [] },
            ),
          ),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 8 },
    ),
    reason: fc.constantFrom(null, 'stop', 'tool_calls', 'length', 'function_call'),
  })
  .map(({ entries, reason }) => reply(entries, reason))

describe('repairStream', () => {
  it('a healthy stream leaves as the bytes it came in, however they were cut', async () => {
    await fc.assert(
      fc.asyncProperty(healthy, cuts, async (stream, at) => {
        expect(await repaired(portions(bytes(stream), at))).toBe(stream)
      }),
    )
  })

  it('what is repaired does not depend on how the bytes were cut', async () => {
    await fc.assert(
      fc.asyncProperty(faulty, cuts, async (stream, at) => {
        expect(await repaired(portions(bytes(stream), at))).toBe(await repaired([bytes(stream)]))
      }),
    )
  })

  it('what was repaired is healthy: every call has an index, a name and an id of its own', async () => {
    await fc.assert(
      fc.asyncProperty(faulty, async (stream) => {
        const once = await repaired([bytes(stream)])
        const named = byIndex(once).calls.filter((call) => call?.name)
        expect(new Set(named.map((call) => call.id)).size).toBe(named.length)
        expect(named.every((call) => call.id !== '' && call.id !== 'old' && /^(read|write)$/.test(call.name))).toBe(true)
      }),
    )
  })

  it('an event that is too large goes on as it came', async () => {
    const stream = chunk({ tool_calls: [entry(null, null, 'read', `{"a":"${'x'.repeat(5000)}"}`)] })
    expect(await repaired([bytes(stream)], 1000)).toBe(stream)
    expect(await repaired([bytes(stream)])).not.toBe(stream)
  })

  it('what is nested too deep to be written again goes on as it came', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const stream = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"read","arguments":{"a":${deep}}}}]}}]}\n\n`
    expect(await repaired([bytes(stream)])).toBe(stream)
  })

  it('other fields of a repaired event stay', async () => {
    const stream = `event: message\nid: 3\n${chunk({ tool_calls: [entry(null, 'a', 'read', '{}')] })}`
    expect(await repaired([bytes(stream)])).toMatch(/^event: message\nid: 3\ndata: \{.*\}\n\n$/)
  })

  it('the name that comes again after a whole call begins another only with arguments', async () => {
    const again = [entry(0, null, 'read', '{"a":1}'), entry(0, null, 'read', '')]
    const repeated = byIndex(await repaired([bytes(reply(again))]))
    expect(repeated.calls).toMatchObject([{ name: 'read', input: '{"a":1}' }])
    const followed = byIndex(await repaired([bytes(reply([...again, { index: 0, function: { arguments: '{"a":2}' } }]))]))
    expect(followed.calls).toMatchObject([
      { name: 'read', input: '{"a":1}' },
      { name: 'read', input: '{"a":2}' },
    ])
  })

  it('a call after the finish reason gives it another', async () => {
    const stream = `${chunk({}, 'stop')}${reply([entry(0, 'a', 'read', '{}')], null)}`
    expect(byIndex(await repaired([bytes(stream)])).finish).toBe('tool-calls')
  })

  it('an error without its end stays as it came', async () => {
    const stream = 'data: {"error":{"message":"Failed to parse input at pos 3: <tool_call>"}}'
    expect(await repaired([bytes(stream)])).toBe(stream)
    expect(await repaired([bytes(`${stream}\n\n`)])).not.toBe(stream)
  })

  it('two equal calls with ids of their own stay two', async () => {
    const twice = [entry(0, 'a', 'read', '{}'), entry(0, 'b', 'read', '{}')]
    expect(byIndex(await repaired([bytes(reply(twice))])).calls).toHaveLength(2)
  })

  it('an id that changes with every delta is not a new call', async () => {
    const pieces = [entry(0, 'a', 'read', '{"a"'), entry(0, 'b', null, ':'), entry(0, 'c', 'read', '1}')]
    expect(byIndex(await repaired([bytes(reply(pieces))])).calls).toEqual([{ id: 'a', name: 'read', input: '{"a":1}' }])
  })

  it('the real id is kept, where it comes with the late name', async () => {
    const pieces = [entry(0, null, null, '{"a"'), entry(0, 'real', 'read', ':1}')]
    expect(byIndex(await repaired([bytes(reply(pieces))])).calls).toEqual([{ id: 'real', name: 'read', input: '{"a":1}' }])
  })
})

describe('the body as a stream', () => {
  const open = async (body: ReadableStream<Uint8Array>, headers: Record<string, string> = {}) => {
    const own = repairFetch({
      fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8', ...headers } }),
    })
    return own('https://host/v1/chat/completions?x=1', { method: 'POST', body: '{}' })
  }

  it('a whole event is there before the next one comes', async () => {
    let source: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        source = controller
      },
    })
    const response = await open(body)
    const reader = response.body?.getReader()
    source?.enqueue(bytes(chunk({ content: 'a' })))
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(chunk({ content: 'a' }))
  })

  it('cancel reaches the server', async () => {
    let reason: unknown
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytes(chunk({}))),
      cancel(why) {
        reason = why
      },
    })
    const response = await open(body)
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel('enough')
    expect(reason).toBe('enough')
  })

  it('nothing is read ahead of who reads', async () => {
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++
        controller.enqueue(bytes(chunk({ content: 'a' })))
      },
    })
    const response = await open(body)
    await response.body?.getReader().read()
    await new Promise((done) => setTimeout(done, 20))
    expect(pulled).toBeLessThan(3)
  })

  it('an error surfaces as the same error', async () => {
    const error = new Error('reset')
    const response = await open(new ReadableStream({ pull: (controller) => controller.error(error) }))
    await expect(response.text()).rejects.toBe(error)
  })

  it('what described the old body is gone, the rest stays', async () => {
    const response = await open(ReadableStream.from([bytes(chunk({}))]), { 'content-length': '3', 'content-encoding': 'gzip', 'x-id': '7' })
    expect(Object.fromEntries(response.headers)).toEqual({ 'content-type': 'text/event-stream; charset=utf-8', 'x-id': '7' })
  })

  it.each([
    ['another endpoint', 'https://host/v1/completions', 'text/event-stream'],
    ['another content type', 'https://host/v1/chat/completions', 'text/plain'],
  ])('%s passes as the very response', async (_, url, type) => {
    const given = new Response(chunk({}), { headers: { 'content-type': type } })
    expect(await repairFetch({ fetch: async () => given })(url, { body: '{}', method: 'POST' })).toBe(given)
  })
})
