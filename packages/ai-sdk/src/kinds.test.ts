/** All kinds of tools of the AI SDK. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { call, calls, type ScriptedModel, say, type TurnFunction } from '@mulligan/testing'
import { dynamicTool, jsonSchema, type ModelMessage, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { MODES } from './agent.fixture.ts'
import { run } from './mulligan.fixture.ts'

const done = say('Done.')
const anthropic = (server: ScriptedModel) => createAnthropic({ baseURL: server.url, apiKey: 'none' })

describe.each(MODES)('%s', (mode) => {
  it('a tool that the provider executes is left alone: its call, its result, and the next request', async () => {
    const model = (server: ScriptedModel) => anthropic(server)('claude-sonnet-4-5')
    const search = createAnthropic({ apiKey: 'none' }).tools.webSearch_20250305()
    const bare = await run(mode, { web_search: search }, [webSearch], { model, bare: true })
    const ours = await run(mode, { web_search: search }, [webSearch], { model })
    expect(ours.results).toEqual(bare.results)
    expect(JSON.stringify(ours.results)).toContain('https://example.org')
    expect([ours.text, ours.bodies, ours.events]).toEqual([bare.text, bare.bodies, []])
  })

  it('a tool without execute is the client’s: a healthy call ends the turn as it did, and a wrong one says what to fix', async () => {
    const ask = tool({ inputSchema: z.object({ question: z.string() }), outputSchema: z.string() })
    const healthy = await run(mode, { ask }, [call('ask', { question: 'When?' })])
    expect([healthy.calls, healthy.results]).toEqual([[{ toolName: 'ask', input: { question: 'When?' }, invalid: false }], []])
    const wrong = await run(mode, { ask }, [call('ask', { query: 1 }), call('ask', { question: 'When?' })])
    expect(wrong.told[0]?.[0]).toMatch(/^retry \(validation\): "question" is missing/)
    const denied = await run(mode, { ask }, [call('ask', { question: 'When?' }), done], {
      engine: { policy: () => ({ decision: 'deny', reason: 'No questions.' }) },
    })
    expect(JSON.stringify(denied.bodies[1])).toContain('denied (permission): No questions.')
  })

  it('what a client answers is bounded too', async () => {
    const ask = tool({ inputSchema: z.object({}), outputSchema: z.string() })
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Ask.' },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'ask', input: {} }] },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'ask', output: { type: 'text', value: 'word '.repeat(4000) } }],
      },
    ]
    const { bodies } = await run(mode, { ask }, [done], { messages, prompt: undefined, engine: { maxResultTokens: 100 } } as never)
    expect(JSON.stringify(bodies[0]?.messages).length).toBeLessThan(1000)
  })

  it('a dynamic tool stays one, and has the engine', async () => {
    const lookup = dynamicTool({
      description: 'Looks up.',
      inputSchema: jsonSchema({ type: 'object', properties: { id: { type: 'integer' } }, required: ['id'], additionalProperties: false }),
      execute: async (input) => ({ got: input }),
    })
    const { results, told, calls: made } = await run(mode, { lookup }, [call('lookup', { id: '7' }), call('lookup', {}), done])
    expect([results, told[1]?.[0]]).toEqual([[{ got: { id: 7 } }], expect.stringMatching(/^retry \(validation\): "id" is missing/)])
    expect(made[0]).toEqual({ toolName: 'lookup', input: { id: 7 }, invalid: false })
  })

  it('a tool made by an MCP client: its result and its conversion are as before, its error is an error', async () => {
    let isError = false
    const mcp = {
      ...dynamicTool({
        description: 'Reads.',
        inputSchema: jsonSchema({ type: 'object', properties: {} }),
        execute: async () => ({ content: [{ type: 'text', text: 'no such file' }], isError }),
        toModelOutput: ({ output }) => ({ type: 'content', value: (output as { content: { type: 'text'; text: string }[] }).content }),
      }),
      metadata: { from: 'files' },
    }
    const ours = await run(mode, { files_read: mcp }, [call('files_read', {}), done])
    const bare = await run(mode, { files_read: mcp }, [call('files_read', {}), done], { bare: true })
    expect([ours.results, ours.told]).toEqual([bare.results, bare.told])
    isError = true
    expect((await run(mode, { files_read: mcp }, [call('files_read', {}), done])).told[0]?.[0]).toMatch(
      /^failed \(execution\): no such file/,
    )
  })

  it('a generator shows what it yields as it comes, and the last is the result', async () => {
    const count = (fails: boolean) =>
      tool({
        inputSchema: z.object({ to: z.int() }),
        async *execute({ to }) {
          for (let n = 1; n <= to; n++) yield { n }
          if (fails) throw new Error('password=hunter2')
        },
      })
    const shown: unknown[] = []
    const onChunk = ({ chunk }: { readonly chunk: { readonly type: string; readonly output?: unknown; readonly preliminary?: boolean } }) =>
      void (chunk.type === 'tool-result' && shown.push([chunk.output, chunk.preliminary === true]))
    const { results } = await run(mode, { count: count(false) }, [call('count', { to: '2' }), done], { onChunk } as never)
    expect(results).toEqual([{ n: 2 }])
    expect(shown).toEqual(
      mode === 'stream'
        ? [
            [{ n: 1 }, true],
            [{ n: 2 }, true],
            [{ n: 2 }, false],
          ]
        : [],
    )
    const failed = await run(mode, { count: count(true) }, [call('count', { to: 1 }), call('count', {}), done])
    expect([failed.told[0]?.[0], failed.told[1]?.[0]]).toEqual([
      expect.stringMatching(/^failed \(internal\): count failed: password=\[secret\]/),
      expect.stringMatching(/^retry \(validation\): "to" is missing/),
    ])
  })

  it('an iterable of another making is read to its end, and shown where that is declared', async () => {
    const values = async function* () {
      yield 'a'
      yield 'b'
    }
    const iterable = tool({ inputSchema: z.object({}), execute: () => values() })
    for (const streams of [true, false]) {
      const { results } = await run(mode, { iterable }, [call('iterable', {}), done], { engine: { tools: { iterable: { streams } } } })
      expect(results).toEqual(['b'])
    }
  })

  it('a generator that never ends is cut off', async () => {
    const endless = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 1
        await new Promise(() => undefined)
      },
    })
    const { told } = await run(mode, { endless }, [call('endless', {}), done], {
      engine: { graceMs: 1, tools: { endless: { timeout: 0.05 } } },
    })
    expect(told[0]?.[0]).toMatch(/^indeterminate \(timeout\)/)
  })

  it('schemas of every kind are checked by the engine', async () => {
    const execute = async () => 'ran'
    const tools = {
      lazy: tool({
        inputSchema: () => jsonSchema<{ a: number }>({ type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }),
        execute,
      }),
      later: tool({
        inputSchema: jsonSchema<{ a: number }>(Promise.resolve({ type: 'object', properties: { a: { type: 'number' } }, required: ['a'] })),
        execute,
      }),
      own: tool({
        inputSchema: jsonSchema<{ a: number }>(
          { type: 'object', properties: { a: { type: 'number' } } },
          {
            validate: (value) =>
              (value as { a?: number }).a === 1
                ? { success: true, value: { a: 1 } }
                : { success: false, error: new Error('a must be one') },
          },
        ),
        execute,
      }),
      unchecked: tool({ inputSchema: jsonSchema({ type: 'object', properties: { b: { type: 'string', pattern: '^(b+)+$' } } }), execute }),
    }
    const { told } = await run(mode, tools, [calls(['lazy', {}], ['later', {}], ['own', { a: 2 }], ['unchecked', { b: 1 }]), done])
    expect(told[0]?.map((one) => one.split('\n')[0])).toEqual([
      'retry (validation): "a" is missing: it must be a number.',
      'retry (validation): "a" is missing: it must be a number.',
      expect.stringMatching(/^retry \(validation\): .*a must be one/),
      'ran',
    ])
  })
})

/** Two blocks of the provider's own search, and an answer. */
const webSearch: TurnFunction = ({ body }) => {
  const found = { type: 'web_search_result', url: 'https://example.org', title: 'Example', encrypted_content: 'x', page_age: null }
  const content = [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'tea' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [found] },
    { type: 'text', text: 'Found.' },
  ]
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'x',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  if ((body as { readonly stream?: boolean }).stream !== true)
    return { raw: JSON.stringify({ ...message, content, stop_reason: 'end_turn' }), contentType: 'application/json' }
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...content.flatMap((block, index) => [
      {
        type: 'content_block_start',
        index,
        content_block: block.type === 'server_tool_use' ? { ...block, input: {} } : block.type === 'text' ? { ...block, text: '' } : block,
      },
      ...(block.type === 'server_tool_use'
        ? [{ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '{"query":"tea"}' } }]
        : []),
      ...(block.type === 'text' ? [{ type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'Found.' } }] : []),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  return { raw: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('') }
}
