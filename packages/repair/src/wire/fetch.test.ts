import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { Repair } from '../repair.ts'
import { repairFetch } from './fetch.ts'
import { type Answering, byIndex, chunk, generated, json, type Read, reply, type Server, serve, streamed } from './server.fixture.ts'

const servers: Server[] = []
const start = async (answering: Answering): Promise<string> => {
  const server = await serve(answering)
  servers.push(server)
  return server.url
}
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

/** A first delta and a later one, as correct servers send them. */
const first = (index: unknown, id: unknown, name: unknown, args: unknown = '') => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: args },
})
const later = (index: unknown, args: unknown, more = {}) => ({ index, function: { arguments: args, ...more } })

const A = ['read', '{"path":"a"}'] as const
const B = ['read', '{"path":"b"}'] as const
const W = ['write', '{"path":"c"}'] as const

interface Fault {
  readonly what: string
  readonly sse: string
  /** Which reader misreads the reply without the wrapper: the provider package, or a plain reader that goes by index. */
  readonly harms: readonly ('provider' | 'plain')[]
  readonly calls: readonly (readonly [name: string, input: string])[]
  readonly finish?: string
  readonly earlier?: readonly string[]
}

const FAULTS: Fault[] = [
  {
    what: 'index 0 for every call, with ids (Ollama)',
    sse: reply([first(0, 'a', ...A), first(0, 'b', ...B), first(0, 'c', ...W)]),
    harms: ['plain'],
    calls: [A, B, W],
  },
  {
    what: 'index 0 for every call, in pieces, after a call without parameters',
    sse: reply([first(0, 'a', 'list'), first(0, 'b', 'read'), later(0, '{"path"'), later(0, ':"b"}')]),
    harms: ['provider', 'plain'],
    calls: [['list', ''], B],
  },
  {
    what: 'index 0 for every call, without ids',
    sse: reply([first(0, null, 'read'), later(0, '{"path":'), later(0, '"a"}'), first(0, null, 'read', '{'), later(0, '"path":"b"}')]),
    harms: ['plain'],
    calls: [A, B],
  },
  {
    what: 'no index',
    sse: reply([
      first(undefined, 'a', 'list'),
      first(undefined, 'b', 'read', '{"pa'),
      later(undefined, 'th":"b"}'),
      first(undefined, 'c', ...W),
    ]),
    harms: ['provider', 'plain'],
    calls: [['list', ''], B, W],
  },
  {
    what: 'index null and no id',
    sse: reply([first(null, null, 'read', '{"path":'), later(null, '"a"}'), first(null, '', ...W)]),
    harms: ['plain'],
    calls: [A, W],
  },
  { what: 'one id for two calls', sse: reply([first(0, 'x', ...A), first(1, 'x', ...B)]), harms: ['plain'], calls: [A, B] },
  {
    what: 'an id of an earlier turn',
    sse: reply([first(0, 'call_0', ...A)]),
    harms: ['provider', 'plain'],
    calls: [A],
    earlier: ['call_0'],
  },
  {
    what: 'the name in every delta',
    sse: reply([first(0, 'a', 'read'), first(0, 'a', 'read', '{"path"'), first(0, 'a', 'read', ':"a"}'), first(0, 'a', 'read')]),
    harms: ['plain'],
    calls: [A],
  },
  {
    what: 'a blank name first',
    sse: reply([first(0, 'a', '', '{"path"'), later(0, ':', { name: 'read' }), later(0, '"a"}')]),
    harms: ['provider'],
    calls: [A],
  },
  {
    what: 'the name only later, without an index',
    sse: reply([{ id: 'a', function: { name: null, arguments: '{"pa' } }, { function: { name: 'read', arguments: 'th":"a"}' } }]),
    harms: ['provider'],
    calls: [A],
  },
  { what: 'arguments as an object', sse: reply([first(0, 'a', 'read', { path: 'a' })]), harms: ['provider', 'plain'], calls: [A] },
  { what: 'an entry without a function', sse: reply([first(0, 'a', ...A), { index: 0, id: 'a' }]), harms: ['provider'], calls: [A] },
  { what: 'stop with a call', sse: reply([first(0, 'a', ...A)], 'stop'), harms: ['provider', 'plain'], calls: [A] },
  { what: 'tool_calls without one', sse: reply([], 'tool_calls'), harms: ['provider', 'plain'], calls: [], finish: 'stop' },
  {
    what: 'the old function_call',
    sse: [
      chunk({ role: 'assistant', function_call: { name: 'read', arguments: '{"path"' } }),
      chunk({ function_call: { arguments: ':"a"}' } }),
      chunk({}, 'function_call'),
      'data: [DONE]\n\n',
    ].join(''),
    harms: ['provider', 'plain'],
    calls: [A],
  },
  { what: 'done without a finish reason', sse: reply([first(0, 'a', ...A)], null), harms: ['provider', 'plain'], calls: [A] },
  { what: 'done with text and no finish reason', sse: reply([], null), harms: ['provider', 'plain'], calls: [], finish: 'stop' },
  {
    what: 'cut off in the arguments',
    sse: reply([first(0, 'a', ...A), first(1, 'b', 'write', '{"path":"c')], 'length'),
    harms: ['provider', 'plain'],
    calls: [A, ['write', '{"path":"c']],
  },
  {
    what: 'cut off, and completed by the server',
    sse: reply([first(0, 'a', ...A), first(1, 'b', ...W)], 'length'),
    harms: ['provider', 'plain'],
    calls: [A, ['write', '{"path":"c"} [cut off]']],
  },
  {
    what: 'cut off before the parameters',
    sse: reply([first(0, 'a', 'write')], 'length'),
    harms: ['provider', 'plain'],
    calls: [['write', ' [cut off]']],
  },
  {
    what: 'cut off in the chunk of the call itself',
    sse: `${chunk({ tool_calls: [first(0, 'a', ...W)] }, 'length')}data: [DONE]\n\n`,
    harms: ['provider', 'plain'],
    calls: [['write', '{"path":"c"} [cut off]']],
  },
  {
    what: 'the whole call twice',
    sse: reply([first(0, 'a', ...A), first(0, 'a', ...A)]),
    harms: ['provider', 'plain'],
    calls: [A],
  },
]

describe('a streamed reply, read by the provider', () => {
  it.each(FAULTS)('$what', async ({ sse, harms, calls, finish = 'tool-calls', earlier = [] }) => {
    const url = await start({ body: sse })
    const right = { calls: calls.map(([name, input]) => ({ name, input })), finish }
    const seen = (read: Pick<Read, 'calls' | 'finish' | 'errors'>) => {
      const ids = new Set([...read.calls.map((call) => call.id), ...earlier, ''])
      if (ids.size < read.calls.length + earlier.length + 1) return 'calls without an id of their own'
      if (read.errors.length > 0) return read.errors
      return { calls: read.calls.map(({ name, input }) => ({ name, input })), finish: read.finish }
    }
    const isRight = (read: Read) => JSON.stringify(seen(read)) === JSON.stringify(right)
    const control = { provider: await streamed(url, undefined, earlier), plain: byIndex(sse) }
    expect((['provider', 'plain'] as const).filter((reader) => !isRight(control[reader]))).toEqual(harms)

    const repairs: Repair[] = []
    const own = repairFetch({ onRepair: (repair) => repairs.push(repair) })
    expect(seen(await streamed(url, own, earlier))).toEqual(right)
    expect(repairs.length).toBeGreaterThan(0)
    expect(repairs.every((repair) => repair.kind === 'wire' && repair.why !== '')).toBe(true)
    const body = JSON.stringify({ stream: true, messages: [{ role: 'assistant', tool_calls: earlier.map((id) => ({ id })) }] })
    expect(seen(byIndex(await (await own(`${url}/chat/completions`, { method: 'POST', body })).text()))).toEqual(right)
  })

  it('who listens can not break it', async () => {
    const url = await start({ body: reply([first(0, 'a', 'list'), first(0, 'b', ...B)]) })
    const own = repairFetch({
      onRepair: () => {
        throw new Error('a log that fails')
      },
    })
    expect((await streamed(url, own)).calls).toMatchObject([{ name: 'list' }, { name: 'read', input: B[1] }])
  })

  it('mode keep leaves the length to the caller', async () => {
    const sse = reply([first(0, 'a', ...W)], 'length')
    const read = await streamed(await start({ body: sse }), repairFetch({ cutOff: 'keep' }))
    expect(read).toMatchObject({ finish: 'length', calls: [{ name: 'write', input: W[1] }] })
  })

  it('a stub that was cut off before its name does not take the calls before it along', async () => {
    const url = await start({ body: reply([first(0, 'a', ...A), first(1, 'b', '')], 'length') })
    expect(await streamed(url, repairFetch())).toMatchObject({ calls: [{ name: 'read', input: A[1] }], finish: 'tool-calls', errors: [] })
  })

  it('an empty stub after the calls does no more harm than without', async () => {
    const url = await start({ body: reply([first(0, 'a', ...A), first(1, '', '')]) })
    const right = { calls: [{ id: 'a', name: 'read', input: A[1] }], text: '', finish: 'tool-calls', errors: [] }
    expect(await streamed(url)).toEqual(right)
    expect(await streamed(url, repairFetch())).toEqual(right)
  })

  it('ids of Kimi stay, though an earlier turn has them, and stay distinct', async () => {
    const url = await start({ body: reply([first(0, 'functions.read:0', ...A), first(1, 'functions.read:0', ...B)]) })
    const read = await streamed(url, repairFetch(), ['functions.read:0'])
    expect(read.calls.map((call) => call.id)).toEqual(['functions.read:0', 'functions.read:1'])
  })

  it('the id of an earlier turn is found in bytes too', async () => {
    const url = await start({ body: reply([first(0, 'call_0', ...A)]) })
    const body = new TextEncoder().encode(JSON.stringify({ messages: [{ role: 'assistant', tool_calls: [{ id: 'call_0' }] }] }))
    const raw = await (await repairFetch()(`${url}/chat/completions`, { method: 'POST', body })).text()
    expect(byIndex(raw).calls[0]?.id).toMatch(/^[a-zA-Z0-9]{9}$/)
  })

  it('several choices are kept apart', async () => {
    const entry = (choice: number, index: number, path: string) =>
      `data: ${JSON.stringify({ choices: [{ index: choice, delta: { tool_calls: [first(index, `${choice}${path}`, 'read', `{"path":"${path}"}`)] }, finish_reason: null }] })}\n\n`
    const healthy = entry(0, 0, 'a') + entry(1, 0, 'b')
    const url = await start({ body: `${healthy}${entry(0, 0, 'c')}data: [DONE]\n\n` })
    const raw = await (await repairFetch()(`${url}/chat/completions`, { method: 'POST', body: '{}' })).text()
    expect(raw.startsWith(healthy)).toBe(true)
    const added = raw.slice(healthy.length).split('\n\n')
    expect(JSON.parse(added[0]?.slice(5) ?? '').choices[0].delta.tool_calls[0].index).toBe(1)
    expect(added.slice(1, 3).map((event) => JSON.parse(event.slice(5)).choices[0])).toMatchObject([
      { index: 0, finish_reason: 'tool_calls' },
      { index: 1, finish_reason: 'tool_calls' },
    ])
  })

  it('a stream that breaks off stays broken', async () => {
    const sse = chunk({ tool_calls: [first(0, 'a', ...A)] })
    const read = await streamed(await start({ body: sse }), repairFetch())
    expect(read).toMatchObject({ finish: 'error', errors: [/without a finish reason/] })
  })
})

const whole = (message: unknown, reason: string | null = 'tool_calls') => ({
  choices: [{ index: 0, message, finish_reason: reason }],
})
const call = (id: unknown, name: string, args: unknown) => ({ id, type: 'function', function: { name, arguments: args } })

describe('a whole reply, read by the provider', () => {
  const right = { calls: [{ name: 'read', input: A[1] }], finish: 'tool-calls', errors: [] }
  it.each<[string, unknown, object, string[]?]>([
    ['arguments as an object', whole({ tool_calls: [call('a', 'read', { path: 'a' })] }), right],
    ['stop with a call', whole({ tool_calls: [call('a', ...A)] }, 'stop'), right],
    ['the old function_call', whole({ function_call: { name: 'read', arguments: A[1] } }, 'function_call'), right],
    ['tool_calls without one', whole({ content: 'x' }), { calls: [], finish: 'stop' }],
    ['cut off', whole({ tool_calls: [call('a', ...A)] }, 'length'), { calls: [{ input: `${A[1]} [cut off]` }], finish: 'tool-calls' }],
    [
      'cut off in the middle',
      whole({ tool_calls: [call('a', 'read', '{"p')] }, 'length'),
      { calls: [{ input: '{"p [cut off]' }], finish: 'tool-calls' },
    ],
    ['cut off before the parameters', whole({ tool_calls: [call('a', 'read', '')] }, 'length'), { calls: [{ input: ' [cut off]' }] }],
    ['no arguments', whole({ tool_calls: [call('a', 'read', null)] }), { calls: [{ input: '{}' }] }],
  ])('%s', async (_, body, expected) => {
    const url = await start(json(body))
    expect(await generated(url)).not.toMatchObject(expected)
    expect(await generated(url, repairFetch())).toMatchObject(expected)
  })

  it('ids: missing, doubled, and of an earlier turn', async () => {
    const url = await start(json(whole({ tool_calls: ['x', 'x', 'old', ''].map((id) => call(id, ...A)) })))
    const ids = async (own?: typeof fetch) => (await generated(url, own, ['old'])).calls.map((one) => one.id)
    expect(new Set([...(await ids()), 'old']).size).toBe(3)
    const repaired = await ids(repairFetch())
    expect(repaired[0]).toBe('x')
    expect(new Set([...repaired, 'old', '']).size).toBe(6)
  })

  it('a healthy one is the very response', async () => {
    const url = await start(json(whole({ tool_calls: [call('a', ...A)] })))
    let seen: Response | undefined
    const own = repairFetch({
      fetch: async (...given) => {
        seen = await fetch(...given)
        return seen
      },
    })
    const response = await own(`${url}/chat/completions`, { method: 'POST', body: '{}' })
    expect(response).toBe(seen)
    expect(await response.json()).toEqual(whole({ tool_calls: [call('a', ...A)] }))
  })
})

describe('over a real connection', () => {
  const post = (url: string, own: typeof fetch, init: RequestInit = {}) =>
    own(`${url}/chat/completions`, { method: 'POST', body: '{"stream":true}', ...init })
  const sse = { 'content-type': 'text/event-stream' }

  it.each(['cancel', 'abort'])('%s closes it', async (how) => {
    let closed: (() => void) | undefined
    const isClosed = new Promise<void>((done) => {
      closed = done
    })
    const url = await start((_, response) => {
      response.on('close', () => closed?.())
      response.writeHead(200, sse).write(chunk({ content: 'a' }))
    })
    const abort = new AbortController()
    const response = await post(url, repairFetch(), { signal: abort.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    if (how === 'cancel') await reader?.cancel()
    else {
      const next = reader?.read()
      abort.abort()
      await expect(next).rejects.toThrow(/abort/i)
    }
    await isClosed
  })

  it('one that breaks gives the error that it gives without', async () => {
    const url = await start((_, response) => {
      response.writeHead(200, sse).write(chunk({ content: 'a' }), () => response.destroy())
    })
    const errorOf = async (own: typeof fetch) => (await post(url, own)).text().catch((error: Error) => `${error.name}: ${error.message}`)
    expect(await errorOf(fetch)).toMatch(/terminated/)
    expect(await errorOf(repairFetch())).toBe(await errorOf(fetch))
  })

  it('compressed, and cut inside a character: url and status stay, what described the old body goes', async () => {
    const body = reply([first(null, 'a', 'read', '{"path":"é😀"}')])
    const url = await start({ headers: { 'content-encoding': 'gzip' }, body: [gzipSync(body)] })
    const response = await post(url, repairFetch())
    expect([response.status, response.url, response.headers.get('content-encoding')]).toEqual([200, `${url}/chat/completions`, null])
    expect(byIndex(await response.text()).calls).toMatchObject([{ input: '{"path":"é😀"}' }])
    const bytes = new TextEncoder().encode(body)
    const pieces = Array.from({ length: Math.ceil(bytes.length / 3) }, (_, at) => bytes.slice(at * 3, at * 3 + 3))
    const read = await streamed(await start({ body: pieces }), repairFetch())
    expect(read).toMatchObject({ calls: [{ input: '{"path":"é😀"}' }], errors: [] })
  })

  it('what the request may be: a text, a URL, a Request', async () => {
    const url = await start({ body: reply([first(null, 'a', ...A)]) })
    const own = repairFetch()
    const init = { method: 'POST', body: '{}' }
    for (const input of [`${url}/chat/completions`, new URL(`${url}/chat/completions`), new Request(`${url}/chat/completions`, init)]) {
      const response = await own(input, input instanceof Request ? undefined : init)
      expect(await response.text()).toContain('"index":0,"id":"a"')
    }
  })
})
