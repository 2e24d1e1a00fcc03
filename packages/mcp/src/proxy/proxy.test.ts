import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, test } from 'vitest'
import { type Journal, openJournal } from './journal.ts'
import { manualClock, says, settled, TOOLS, talk } from './proxy.fixture.ts'

const folders: string[] = []
const journals: Journal[] = []
afterEach(() => {
  for (const journal of journals.splice(0)) journal.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function journalIn(folder = mkdtempSync(join(tmpdir(), 'mulligan-mcp-'))): Journal {
  if (!folders.includes(folder)) folders.push(folder)
  const journal = openJournal(join(folder, 'calls.db'))
  journals.push(journal)
  return journal
}

describe('what is healthy', () => {
  it('passes byte for byte, in both directions', async () => {
    const sent: string[] = []
    const lines: string[] = []
    const { createProxy } = await import('./proxy.ts')
    const answer = (id: number, result: string): string => `{ "result":${result},  "jsonrpc":"2.0","id":${id}}`
    const proxy = createProxy({
      server: 'raw',
      toClient: (line) => lines.push(line),
      open: (events) => ({
        send(line) {
          sent.push(line)
          const { id, method } = JSON.parse(line) as { id?: number; method: string }
          if (id === undefined) return
          const result =
            method === 'tools/list'
              ? `{"tools":${JSON.stringify(TOOLS)}}`
              : method === 'tools/call'
                ? '{"content":[ {"type":"text","text":"3\\u00e9"} ]}'
                : '{}'
          queueMicrotask(() => events.line(answer(id, result)))
        },
        close: async () => undefined,
      }),
    })
    const asked = [
      '{"jsonrpc":"2.0", "id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}',
      '{"method":"notifications/initialized","jsonrpc":"2.0"}',
      '{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add","arguments":{"a":1, "b":2.50}}}',
      '{"jsonrpc":"2.0","id":4,"method":"resources/list","params":{}}',
      '{"jsonrpc":"2.0","id":5,"method":"no/such","params":{"x":[1,  2]}}',
    ]
    for (const line of asked) {
      proxy.fromClient(line)
      await settled()
    }
    expect(sent).toEqual(asked)
    expect(lines).toEqual([
      answer(1, '{}'),
      answer(2, `{"tools":${JSON.stringify(TOOLS)}}`),
      answer(3, '{"content":[ {"type":"text","text":"3\\u00e9"} ]}'),
      answer(4, '{}'),
      answer(5, '{}'),
    ])
  })

  it('passes requests of the server and their answers', async () => {
    const at = await talk(() => undefined)
    at.running().send({ jsonrpc: '2.0', id: 'roots-1', method: 'roots/list' })
    await at.send({ jsonrpc: '2.0', id: 'roots-1', result: { roots: [] } })
    expect(at.lines.at(-1)).toBe('{"jsonrpc":"2.0","id":"roots-1","method":"roots/list"}')
  })

  it('passes questions and tasks in place of results', async () => {
    const question = { resultType: 'input_required', inputRequests: { a: {} } }
    const at = await talk((got) => (got.params['name'] === 'add' ? question : { task: { taskId: '1' } }))
    expect((await at.call('add', { a: 1, b: 2 }))?.result).toEqual(question)
    expect((await at.call('send_mail', { to: 'Ana' }))?.result).toEqual({ task: { taskId: '1' } })
  })
})

describe('a wrong call', () => {
  test.each<[what: string, name: string, args: unknown, sent: unknown, note: RegExp]>([
    ['numbers sent as text', 'add', { a: '1', b: 2 }, { a: 1, b: 2 }, /"a" was repaired/],
    ['arguments sent as text', 'add', '{"a":1,"b":2}', { a: 1, b: 2 }, /repaired/],
    ['a list with one item', 'read_note', { path: ['a.md'] }, { path: 'a.md' }, /"path" was repaired.*list with one item/],
    ['another case of the name', 'ReadNote', { path: 'a.md' }, { path: 'a.md' }, /"read_note"/],
    ['an unknown parameter', 'add', { a: 1, b: 2, mode: 'x' }, { a: 1, b: 2, mode: 'x' }, /no parameter "mode".*it has "a", "b"/],
    [
      'one that is named otherwise elsewhere',
      'read_note',
      { path: 'a', limit: 5 },
      { path: 'a' },
      /no parameter "limit".*did you mean "head"\?/,
    ],
  ])('is repaired, and the model is told: %s', async (_, name, args, sent, note) => {
    const at = await talk(() => says('done'))
    const reply = await at.call(name, args)
    expect(at.got.at(-1)?.params['arguments']).toEqual(sent)
    expect(at.text(reply)).toMatch(/^done\n/)
    expect(at.text(reply)).toMatch(note)
    expect(reply?.result?.isError).toBeUndefined()
  })

  test.each<[what: string, name: string, args: unknown, text: RegExp]>([
    ['an unknown tool', 'send_male', { to: 'x' }, /unknown_tool.*Did you mean send_mail\?/],
    ['a missing parameter', 'read_note', {}, /"path" is missing: it must be a string/],
    ['no arguments at all', 'read_note', undefined, /"path" is missing/],
    ['text that is no JSON', 'add', 'one and two', /malformed_call/],
  ])('that can not be repaired is answered with what to correct, and not sent: %s', async (_, name, args, text) => {
    const at = await talk(() => says('done'))
    const reply = await at.call(name, args)
    expect(reply?.result?.isError).toBe(true)
    expect(at.text(reply)).toMatch(text)
    expect(at.got.filter(({ method }) => method === 'tools/call')).toEqual([])
  })

  it('is sent as it is when it comes again, because the schema may be wrong', async () => {
    const at = await talk(() => says('done'))
    await at.call('read_note', { path: 5.5, head: 'x' })
    expect(at.text(await at.call('read_note', { path: 5.5, head: 'x' }))).toBe('done')
    expect(at.got.at(-1)?.params['arguments']).toEqual({ path: 5.5, head: 'x' })
  })

  it('is not sent as it is when no server could take it', async () => {
    const at = await talk(() => says('done'))
    await at.call('read_note', {})
    expect(at.text(await at.call('read_note', null))).toMatch(/"path" is missing/)
    expect(at.got.filter(({ method }) => method === 'tools/call')).toEqual([])
  })

  it.each([-32602, -32603, -32601])('that the server refuses by the protocol with %i reaches the model', async (code) => {
    const at = await talk(
      (got, server) => server.send({ jsonrpc: '2.0', id: got.id, error: { code, message: 'no such note' } }) as undefined,
    )
    const reply = await at.call('read_note', { path: 'x' })
    expect([reply?.result?.isError, at.text(reply)]).toEqual([true, 'no such note'])
  })

  it('control: an error that is for the client passes', async () => {
    const error = { code: -32042, message: 'Open this address.', data: { elicitations: [] } }
    const at = await talk((got, server) => server.send({ jsonrpc: '2.0', id: got.id, error }) as undefined)
    expect(await at.call('read_note', { path: 'x' })).toMatchObject({ error })
  })
})

describe('a result', () => {
  test.each<[what: string, given: object, text: RegExp, isError: boolean | undefined]>([
    ['an error that is told as a success', says('Error: no note at x'), /^Error: no note at x$/, true],
    ['a stack of Python', says('Traceback (most recent call last):\n  File "a.py"'), /^Traceback/, true],
    ['an error in structured content is data', says('Error: a', { structuredContent: { log: 'Error: a' } }), /^Error: a$/, undefined],
    ['a text that tells of errors', says('Error: a\nand more'), /^Error: a\nand more$/, undefined],
    ['nothing', { content: [] }, /returned nothing, and reported no error/, undefined],
    ['blanks', says(' \n'), /returned nothing/, undefined],
    ['a failure without a reason', { content: [], isError: true }, /failed and gave no reason/, true],
    ['binary data', says(`PNG${'\ufffd\u0000'.repeat(50)}`), /binary data/, true],
  ])('is made plain: %s', async (_, given, text, isError) => {
    const at = await talk(() => given)
    const reply = await at.call('read_note', { path: 'x' })
    expect(at.text(reply)).toMatch(text)
    expect(reply?.result?.isError).toBe(isError)
  })

  it('that fails without arguments says that the same call will not help', async () => {
    const at = await talk(() => says('EISDIR', { isError: true }), {
      tools: [{ name: 'graph', inputSchema: { type: 'object', properties: {} } }],
    })
    expect(at.text(await at.call('graph', {}))).toMatch(/EISDIR\n.*the same call will fail again/)
  })

  it('that fails without arguments that the tool has says no such thing', async () => {
    const at = await talk(() => says('Say which path.', { isError: true }), {
      tools: [{ name: 'status', inputSchema: { type: 'object', properties: { path: { type: 'string' } } } }],
    })
    expect(at.text(await at.call('status', {}))).toBe('Say which path.')
  })

  it('that is too long is shortened, and the rest can be read in pages', async () => {
    const whole = Array.from({ length: 500 }, (_, at) => `line ${at}`).join('\n')
    const at = await talk(() => says(whole), { maxOutput: 1000 })
    const reply = await at.call('read_note', { path: 'x' })
    expect(at.text(reply)).toMatch(
      /^line 0\n[\s\S]*\[The first 1000 of 4389 characters\. To read on: mulligan_read_output\(\{"output":"1","page":2\}\)/,
    )
    expect(at.lines.at(-1)).toContain('notifications/tools/list_changed')
    const listed = (await at.ask('tools/list'))?.result?.['tools'] as { name: string }[]
    expect(listed.at(-1)?.name).toBe('mulligan_read_output')
    let read = ''
    for (let page = 1; page <= 5; page++) read += (await at.call('mulligan_read_output', { output: '1', page }))?.result?.content?.[0]?.text
    expect(read).toBe(whole)
    expect(at.text(await at.call('mulligan_read_output', { output: '1', page: 6 }))).toBe('"page" must be a whole number from 1 to 5.')
    expect(at.text(await at.call('mulligan_read_output', { output: '9', page: 1 }))).toMatch(/output "9" is no longer available/)
  })

  it('with structured content still satisfies its schema when it was shortened', async () => {
    const outputSchema = {
      type: 'object',
      properties: { rows: { type: 'array', items: { type: 'object', required: ['id'] } }, total: { type: 'integer' } },
      required: ['rows', 'total'],
    }
    const structuredContent = { rows: Array.from({ length: 500 }, (_, id) => ({ id, name: `row ${id}` })), total: 500 }
    const tools = [{ name: 'rows', inputSchema: { type: 'object', properties: {} }, outputSchema }]
    const at = await talk(() => says(JSON.stringify(structuredContent), { structuredContent }), { tools, maxOutput: 1000 })
    const { structuredContent: short } = (await at.call('rows', {}))?.result as { structuredContent: typeof structuredContent }
    expect(short.total).toBe(500)
    expect(short.rows.length).toBeGreaterThan(10)
    expect(short.rows).toEqual(structuredContent.rows.slice(0, short.rows.length))
    expect(JSON.stringify(short).length).toBeLessThan(1100)
  })

  it('that can not be shortened within its schema is an error, and can be read in pages', async () => {
    const outputSchema = { type: 'object', properties: { key: { type: 'string', minLength: 5000 } } }
    const tools = [{ name: 'key', inputSchema: { type: 'object', properties: {} }, outputSchema }]
    const at = await talk(() => says('see', { structuredContent: { key: 'k'.repeat(5000) } }), { tools, maxOutput: 1000 })
    const reply = await at.call('key', {})
    expect([reply?.result?.isError, reply?.result?.['structuredContent']]).toEqual([true, undefined])
    expect(at.text(await at.call('mulligan_read_output', { output: '1', page: 1 }))).toMatch(/"key": "kkk/)
  })
})

describe('a call without an answer', () => {
  it('of a tool that only reads is given up, and may be made again', async () => {
    const at = await talk(() => undefined)
    await at.call('read_note', { path: 'x' })
    await at.advance(59_000)
    expect(at.reply(2)).toBeUndefined()
    await at.advance(1000)
    expect(at.text(at.reply(2))).toMatch(/^retry \(timeout\): .*no answer in 60 s.*may be called once more/)
    expect(at.got.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 2 } })
  })

  it('goes on while it reports progress, up to a limit', async () => {
    const at = await talk(() => undefined, { maxTime: 150 })
    await at.ask('tools/call', { name: 'read_note', arguments: { path: 'x' }, _meta: { progressToken: 'p' } })
    for (let minute = 0; minute < 5; minute++) {
      await at.advance(29_000)
      at.running().send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'p', progress: minute } })
    }
    expect(at.reply(2)).toBeUndefined()
    await at.advance(5000)
    expect(at.text(at.reply(2))).toMatch(/no answer in 150 s/)
  })

  it('waits while the server asks the person', async () => {
    const at = await talk(() => undefined)
    await at.call('read_note', { path: 'x' })
    at.running().send({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'Which?' } })
    await at.advance(300_000)
    expect(at.reply(2)).toBeUndefined()
    await at.send({ jsonrpc: '2.0', id: 'q', result: { action: 'decline' } })
    await at.advance(120_000)
    expect(at.text(at.reply(2))).toMatch(/timeout/)
  })

  it('is answered once, though the answer comes late or twice', async () => {
    const at = await talk(() => undefined)
    await at.call('read_note', { path: 'x' })
    await at.advance(60_000)
    at.running().reply(2, says('late'))
    at.running().reply(2, says('twice'))
    await settled()
    expect(at.lines.filter((line) => line.includes('"id":2'))).toHaveLength(1)
    expect(at.events.filter(({ type }) => type === 'dropped')).toHaveLength(2)
  })
})

describe('a call with effects that was cut off', () => {
  test.each<[how: string, cut: (at: Awaited<ReturnType<typeof talk>>) => Promise<void> | void]>([
    ['by a crash of the server', (at) => at.running().die()],
    ['by the timeout', (at) => at.advance(60_000)],
    ['by an answer that is too long', (at) => at.running().events.long({ bytes: 1e9, head: '{"jsonrpc":"2.0","id":2,"result"', tail: '' })],
  ])('%s is indeterminate, and is not made again, also by the next proxy', async (_, cut) => {
    const time = manualClock()
    const folder = mkdtempSync(join(tmpdir(), 'mulligan-mcp-'))
    const at = await talk(() => undefined, { journal: journalIn(folder), time })
    await at.call('send_mail', { to: 'Ana' })
    await cut(at)
    await settled()
    expect(at.text(at.reply(2))).toMatch(/^indeterminate \(\w+\): .*It may have taken effect/s)
    const next = await talk(() => says('sent'), { journal: journalIn(folder), time })
    expect(next.text(await next.call('send_mail', { to: 'Ana' }))).toMatch(/was cut off at .* not made again.*mulligan mcp resolve 1/s)
    expect(next.got.filter(({ method }) => method === 'tools/call')).toEqual([])
    expect(next.text(await next.call('send_mail', { to: 'Bob' }))).toBe('sent')
  })

  it('control: without a journal it is made twice', async () => {
    const at = await talk((_, server) => (at.starts() === 1 ? server.die() : says('sent')) as undefined)
    await at.call('send_mail', { to: 'Ana' })
    const again = at.call('send_mail', { to: 'Ana' })
    await at.advance(10_000)
    await again
    expect(at.got.filter(({ method }) => method === 'tools/call')).toHaveLength(2)
  })

  it('is unknown after a kill of the proxy, too: its row is there before it is sent', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mulligan-mcp-'))
    folders.push(folder)
    // A process that is gone has written this row.
    const dead = openJournal(join(folder, 'calls.db'), 4_000_000)
    const at = await talk(() => undefined, { journal: dead })
    await at.call('send_mail', { to: 'Ana' })
    dead.close()
    const next = await talk(() => says('sent'), { journal: journalIn(folder) })
    expect(next.text(await next.call('send_mail', { to: 'Ana' }))).toMatch(/not made again/)
  })

  it('is made again if the person says so', async () => {
    const journal = journalIn()
    const at = await talk(() => (at.starts() === 1 ? undefined : says('sent')), { journal, capabilities: { elicitation: {} } })
    await at.call('send_mail', { to: 'Ana' })
    at.running().die()
    await at.advance(10_000)
    await at.call('send_mail', { to: 'Ana' })
    const question = JSON.parse(at.lines.at(-1) as string) as { id: string; method: string; params: { message: string } }
    expect([question.method, question.params.message]).toEqual([
      'elicitation/create',
      expect.stringMatching(/send_mail was called with \{"to":"Ana"\}/),
    ])
    await at.send({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { repeat: true } } })
    await at.advance(10_000)
    expect(at.text(at.reply(3))).toBe('sent')
    expect(journal.all()).toEqual([])
  })

  it('whose result comes late is not made again: the result is given', async () => {
    const journal = journalIn()
    const at = await talk(() => undefined, { journal })
    await at.call('send_mail', { to: 'Ana' })
    await at.advance(60_000)
    at.running().reply(2, says('sent'))
    await settled()
    expect(at.text(await at.call('send_mail', { to: 'Ana' }))).toMatch(/^sent\nNote: This is the late result of the same call made earlier/)
    expect(at.got.filter(({ method }) => method === 'tools/call')).toHaveLength(1)
  })

  it('by the client is unknown as well', async () => {
    const journal = journalIn()
    const at = await talk(() => undefined, { journal })
    await at.call('send_mail', { to: 'Ana' })
    await at.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
    expect(at.got.at(-1)?.method).toBe('notifications/cancelled')
    expect(journal.all()).toMatchObject([{ tool: 'send_mail', input: '{"to":"Ana"}' }])
  })
})

describe('a server that ends', () => {
  it('is started again and told what the client had told it; reads are sent again only if the person says that is safe', async () => {
    for (const [options, expected] of [
      [{}, /^retry \(network\): .*exit code 1.*may be called once more/],
      [{ trustAnnotations: true }, /^again$/],
      [{ safe: ['read_note'] }, /^again$/],
    ] as const) {
      const at = await talk((_, server) => (at.starts() === 1 ? (server.die() as undefined) : says('again')), options)
      await at.ask('logging/setLevel', { level: 'info' })
      await at.call('read_note', { path: 'x' })
      await at.advance(10_000)
      expect(at.text(at.reply(3))).toMatch(expected)
      await at.ask('ping')
      await at.advance(10_000)
      expect(at.starts()).toBe(2)
      const second = at.got.slice(at.got.findLastIndex(({ method }) => method === 'initialize'))
      expect(second.slice(0, 3).map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized', 'logging/setLevel'])
    }
  })

  it('a call that was not sent yet when it ended is sent to the next', async () => {
    const at = await talk(() => says('sent'), { journal: journalIn() })
    at.running().die()
    await at.call('send_mail', { to: 'Ana' })
    expect(at.reply(2)).toBeUndefined()
    await at.advance(10_000)
    expect(at.text(at.reply(2))).toBe('sent')
  })

  it('again and again is left alone, and every request is answered', async () => {
    const at = await talk((_, server) => server.die('exit code 3') as undefined, { restarts: 2 })
    for (let call = 0; call < 6; call++) {
      void at.call('read_note', { path: String(call) })
      await at.advance(30_000)
    }
    expect(at.starts()).toBe(3)
    expect(at.text(at.reply(7))).toMatch(
      /^failed \(network\): The MCP server can't be reached, so read_note was not called: it ended 3 times in ten minutes.*exit code 3/,
    )
    const reply = await at.ask('tools/list')
    expect(reply?.error?.message).toMatch(/did not answer tools\/list: it ended 3 times/)
  })
})

describe('guards', () => {
  it('a call with the same result is told, and then closed for a while; one with changing results is not', async () => {
    let count = 0
    const at = await talk((got) => says(got.params['name'] === 'add' ? String(count++) : 'the same'))
    const texts: string[] = []
    for (let round = 0; round < 12; round++) {
      texts.push(at.text(await at.call('read_note', { path: 'x' })))
      await at.advance(1000)
    }
    expect(texts[3]).toBe('the same')
    expect(texts[4]).toMatch(/^the same\nNote: This call has had the same result 5 times/)
    expect(texts[10]).toMatch(/^blocked \(loop\): .*10 times in a row.*again in \d+ s/)
    await at.advance(60_000)
    expect(at.text(await at.call('read_note', { path: 'x' }))).toBe('the same')
    for (let round = 0; round < 20; round++) expect(at.text(await at.call('add', { a: 1, b: 1 }))).toBe(String(round))
  })

  it('after several faults in a row calls are not sent for a while; errors of the tool are no faults', async () => {
    let isDown = true
    const at = await talk(() => (isDown ? undefined : says('up')))
    for (let call = 0; call < 5; call++) {
      void at.call('read_note', { path: String(call) })
      await at.advance(60_000)
    }
    expect(at.text(await at.call('read_note', { path: 'a' }))).toMatch(
      /^failed \(network\): .*failed several times in a row, so read_note was not called/,
    )
    isDown = false
    await at.advance(31_000)
    expect(at.text(await at.call('read_note', { path: 'a' }))).toBe('up')
    const wrong = await talk(() => says('no', { isError: true }))
    for (let call = 0; call < 20; call++) expect(wrong.text(await wrong.call('read_note', { path: String(call) }))).toBe('no')
  })

  it('a cursor that the server has not given is refused', async () => {
    const at = await talk(() => undefined)
    expect((await at.ask('tools/list', { cursor: 'made-up' }))?.error).toMatchObject({ code: -32602 })
  })
})

it('secrets are removed from what the client gets', async () => {
  const at = await talk(() => says('the key is k-123456789'), { redact: (line) => line.replaceAll('k-123456789', '[secret]') })
  expect(at.text(await at.call('read_note', { path: 'x' }))).toBe('the key is [secret]')
})

it('observing changes nothing, and reports what would have been done', async () => {
  const at = await talk(() => says('Error: no'), { observe: true })
  await at.call('add', { a: '1', b: 2 })
  await at.call('read_note', {})
  const calls = at.got.filter(({ method }) => method === 'tools/call')
  expect(calls.map(({ params }) => params['arguments'])).toEqual([{ a: '1', b: 2 }, {}])
  expect(at.reply(2)?.result).toEqual(says('Error: no'))
  expect(at.events.filter(({ type }) => type === 'call')).toMatchObject([
    { end: 'error', repairs: [{ kind: 'type' }], mends: ['error_text', 'notes'] },
    { end: 'refused' },
    { end: 'error' },
  ])
})

test.each<[line: string, code: number]>([
  ['{not json', -32700],
  ['5', -32600],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
])('a line of the client that is no message is answered: %s', async (line, code) => {
  const at = await talk(() => undefined)
  at.proxy.fromClient(line)
  expect(JSON.parse(at.lines.at(-1) as string)).toMatchObject({ id: null, error: { code } })
})
