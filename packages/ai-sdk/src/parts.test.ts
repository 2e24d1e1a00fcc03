/** The parts of a stream: which are passed on, when, and in which order. */
import { createAnthropic } from '@ai-sdk/anthropic'
import type { LanguageModelV4, LanguageModelV4Content } from '@ai-sdk/provider'
import { calls, type ScriptedTurn, say, scriptedModel, think } from '@mulligan/testing'
import { wrapLanguageModel } from 'ai'
import { describe, expect, it } from 'vitest'
import { glm, plainModel } from './agent.fixture.ts'
import { repairToolCalls } from './index.ts'
import { brief, finish, joined, model, PARAMS, type Part, search, streamed, text, through, USAGE } from './parts.fixture.ts'

const HEALTHY: readonly Part[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'response-metadata', id: 'r', modelId: 'm' },
  { type: 'reasoning-start', id: 'r0', providerMetadata: { a: { b: 1 } } },
  { type: 'reasoning-delta', id: 'r0', delta: 'Hm.' },
  { type: 'reasoning-end', id: 'r0', providerMetadata: { a: { signature: 's' } } },
  { type: 'text-start', id: 't0', providerMetadata: { a: { itemId: 'x' } } },
  { type: 'raw', rawValue: { n: 1 } },
  { type: 'text-delta', id: 't0', delta: 'Two' },
  { type: 'text-delta', id: 't0', delta: ' searches.', providerMetadata: { a: { c: 1 } } },
  { type: 'text-delta', id: 't0', delta: '' },
  { type: 'text-end', id: 't0', citations: [] },
  { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' },
  { type: 'tool-input-start', id: 'c1', toolName: 'search' },
  { type: 'tool-input-delta', id: 'c1', delta: '{"query":"a"}' },
  { type: 'tool-input-end', id: 'c1' },
  search('c1', '{"query":"a"}', { providerMetadata: { a: { thoughtSignature: 's' } } }),
  search('p1', 'anything', { toolName: 'web', providerExecuted: true, dynamic: true }),
  { type: 'tool-result', toolCallId: 'p1', toolName: 'web', result: { ok: true } },
  search('b1', '{"command":"ls",}', { toolName: 'bash' }),
  search('c2', '{ "query" : "b" }'),
  { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AA==' } },
  { type: 'text-start', id: 't0' },
  { type: 'text-end', id: 't0' },
  { type: 'ping' },
  { type: 'error', error: 'overloaded' },
  { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_use' }, usage: USAGE, providerMetadata: { a: {} } },
]

describe('a healthy reply', () => {
  it('goes on as it is, part by part', async () => {
    expect(await through(HEALTHY)).toEqual(HEALTHY)
  })

  it.each(['openai', 'anthropic'] as const)('of a real provider too: %s', async (protocol) => {
    const turn: ScriptedTurn = {
      ...think('Hm.', calls(['search', { query: 'a' }], ['search', { query: 'b' }])),
      text: ['Two ', 'searches.'],
    }
    const [plain, repaired] = await Promise.all(
      [false, true].map(async (isWrapped) => {
        await using server = await scriptedModel([turn, say('Nothing found, `a < b` and {so} on.\n\n- [x] done')])
        const anthropic = createAnthropic({ baseURL: server.anthropicUrl, apiKey: 'key' })
        const base = protocol === 'openai' ? plainModel(server) : anthropic('claude-scripted')
        const used = isWrapped ? wrapLanguageModel({ model: base, middleware: repairToolCalls() }) : base
        const params = { ...PARAMS, tools: PARAMS.tools?.slice(0, 1) ?? [] }
        return [joined(await streamed(used, params)), (await used.doGenerate(params)).content] as const
      }),
    )
    const stable = (value: unknown) =>
      JSON.stringify(value).replace(/(call|toolu|chatcmpl|msg|sig)[-_][\w-]+|"(timestamp|signature)":"[^"]*"/g, 'id')
    expect(stable(repaired)).toBe(stable(plain))
  })

  it('is left alone where there are no tools, or none may be called', async () => {
    const parts = [...text('t', glm('search', { query: 'a' })), finish()]
    const { tools, ...none } = PARAMS
    expect(await through(parts, {}, none)).toEqual(parts)
    expect(await through(parts, {}, { ...none, tools: tools?.slice(1) ?? [] })).toEqual(parts)
    expect(await through(parts, {}, { ...PARAMS, toolChoice: { type: 'none' } })).toEqual(parts)
  })
})

describe('a stream', () => {
  it('shows text as it comes, and the rest before the calls', async () => {
    const markup = glm('search', { query: 'a' })
    const parts = [...text('t', 'Let ', 'me look. ', markup.slice(0, 20), markup.slice(20), ' Wait.'), finish()]
    expect(brief(await through(parts, { effects: 'read' }))).toEqual([
      'text-start',
      'text-delta Let ',
      'text-delta me look. ',
      'text-delta  Wait.',
      'text-end',
      'tool-input-start',
      'tool-input-delta {"query":"a"}',
      'tool-input-end',
      'call search({"query":"a"})',
      'finish tool-calls',
    ])
  })

  it('does not wait for the end to show text', async () => {
    let read = 0
    const source = new ReadableStream<Part>(
      {
        pull: (controller) =>
          controller.enqueue(read++ === 0 ? { type: 'text-start', id: 't' } : { type: 'text-delta', id: 't', delta: 'word.' }),
      },
      { highWaterMark: 0 },
    )
    const endless = { ...model([]), doStream: async () => ({ stream: source }) }
    const { stream } = await wrapLanguageModel({ model: endless, middleware: repairToolCalls() }).doStream(PARAMS)
    const reader = stream.getReader()
    const first = [await reader.read(), await reader.read()].map(({ value }) => value)
    expect(first).toEqual([
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'word.' },
    ])
    expect(read).toBeLessThan(6)
    await reader.cancel()
  })

  it('thinking in the text is before the text, in a part of its own', async () => {
    const parts = [...text('t', '<think>Hm', 'm.</th', 'ink>Tee', ' it is.'), finish()]
    const repaired = await through(parts)
    expect(brief(repaired)).toEqual([
      'reasoning-start',
      'reasoning-delta Hm',
      'reasoning-delta m.',
      'reasoning-end',
      'text-start',
      'text-delta Tee',
      'text-delta  it is.',
      'text-end',
      'finish stop',
    ])
    expect(brief(await through([...text('t', 'Hmm.</think>Tee'), finish()], { opensInReasoning: true }))).toEqual([
      'reasoning-start',
      'reasoning-delta Hmm.',
      'reasoning-end',
      'text-start',
      'text-delta Tee',
      'text-end',
      'finish stop',
    ])
    expect(
      brief(await through([...text('t', 'Tee'), finish()], { opensInReasoning: true })).filter((one) => one.startsWith('text')),
    ).toEqual(['text-start', 'text-delta Tee', 'text-end'])
  })

  it('only what comes first opens in the reasoning', async () => {
    const parts = await through([...text('t', 'Hm.</think>One.'), ...text('u', 'Two.'), finish()], { opensInReasoning: true })
    expect(brief(parts).filter((one) => one.startsWith('reasoning-delta'))).toEqual(['reasoning-delta Hm.'])
  })

  it('what a piece of text carries besides continues though the text is held', async () => {
    const providerMetadata = { a: { thoughtSignature: 's' } }
    const [start, end] = text('t') as [Part, Part]
    const delta: Part = { type: 'text-delta', id: 't', delta: glm('search', { query: 'a' }), providerMetadata }
    expect(await through([start, delta, end, finish()])).toContainEqual({ ...delta, delta: '' })
  })

  it('a call to repair and those after it keep their order, and what is not a call does not wait', async () => {
    const parts = [
      search('c1', '{"query":"a"}'),
      search('c2', '{"query":"b","limit":"2"}'),
      search('c3', '{"query":"c"}'),
      { type: 'ping' } as const,
    ]
    expect(brief(await through([...parts, finish('tool-calls')]))).toEqual([
      'call search({"query":"a"})',
      'ping',
      'call search({"query":"b","limit":2})',
      'call search({"query":"c"})',
      'finish tool-calls',
    ])
  })

  it.each([
    ['stop', 'stop', 'a reported call', [search('c1', '{"query":"a"}')]],
    ['stop', 'tool-calls', 'a call in the text', text('t', glm('search', { query: 'a' }))],
    ['other', 'tool-calls', 'a reported call', [search('c1', '{"query":"a"}')]],
    ['other', 'tool-calls', 'a call in the text', text('t', glm('search', { query: 'a' }))],
  ] as const)('"%s" is "%s" after %s', async (reason, expected, _, parts) => {
    expect(brief(await through([...parts, finish(reason)])).at(-1)).toBe(`finish ${expected}`)
  })

  it.each(['error', 'content-filter', 'interrupted'] as const)('"%s" stays, and no call of it can run', async (reason) => {
    const last = brief(await through([...text('t', glm('search', { query: 'a' })), finish(reason)])).slice(-2)
    expect(last).toEqual(['call search({"query":"a"} [cut off])', `finish ${reason}`])
  })

  it('under "length" the last reported call is as it came, and one before it is repaired', async () => {
    const parts = [search('c1', '{"query":"a","limit":"1"}'), search('c2', '{"query":"b","limit":"2"}'), finish('length')]
    expect(brief(await through(parts))).toEqual([
      'call search({"query":"a","limit":1})',
      'call search({"query":"b","limit":"2"})',
      'finish length',
    ])
  })

  it('that breaks off shows what was held', async () => {
    expect(
      brief(
        await through([
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: 'a <tool_c' },
        ]),
      ),
    ).toEqual(['text-start', 'text-delta a ', 'text-delta <tool_c'])
  })

  it('gives a call that names its own id a fresh one all the same', async () => {
    const markup =
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query":"a"}<|tool_call_end|><|tool_calls_section_end|>'
    const [one] = (await through([...text('t', markup), finish()])).filter((part) => part.type === 'tool-call')
    expect(one?.toolCallId).toMatch(/^call_[\w-]{36}$/)
  })
})

describe('without a stream', () => {
  const generated = async (content: LanguageModelV4Content[]) =>
    (await wrapLanguageModel({ model: model([], content), middleware: repairToolCalls() }).doGenerate(PARAMS)).content

  it('a healthy reply goes on as it is', async () => {
    const content: LanguageModelV4Content[] = [
      { type: 'reasoning', text: 'Hm.', providerMetadata: { a: { signature: 's' } } },
      { type: 'text', text: 'One. ', citations: [], providerMetadata: { a: { itemId: 'x' } } },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: '{"query":"a"}' },
      { type: 'text', text: 'Two.' },
    ]
    expect(await generated(content)).toEqual(content)
  })

  it('text keeps what belongs to it', async () => {
    const content = await generated([
      { type: 'text', text: `Let me look. ${glm('search', { query: 'a' })}`, providerMetadata: { a: { itemId: 'x' } } },
    ])
    expect(content).toEqual([
      { type: 'text', text: 'Let me look. ', providerMetadata: { a: { itemId: 'x' } } },
      { type: 'tool-call', toolCallId: expect.stringMatching(/^call_/), toolName: 'search', input: '{"query":"a"}' },
    ])
  })
})

it('refuses models of a specification that it does not know', async () => {
  const { wrapStream } = repairToolCalls()
  const older = { ...model([]), specificationVersion: 'v3' } as unknown as LanguageModelV4
  const asked = wrapStream?.({
    model: older,
    params: PARAMS,
    doStream: () => older.doStream(PARAMS),
    doGenerate: () => older.doGenerate(PARAMS),
  })
  await expect(asked).rejects.toThrow('AI SDK 7 (specification v4); this model uses v3')
})
