import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lastToolResults } from './protocols.ts'
import { post, responsesBody, responsesResult, responsesTools, responsesUse } from './requests.fixture.ts'
import { type ScriptedModel, scriptedModel } from './scripted-model.ts'
import { call, calls, say, think } from './turn.ts'

const user = { role: 'user', content: 'hi' }
const input = (...items: unknown[]): object => responsesBody({ input: items })
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] }
const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] }

const healthy: readonly (readonly [string, object])[] = [
  ['a call and its output', responsesBody()],
  [
    'parallel calls, outputs in another order',
    input(user, responsesUse('a'), responsesUse('b'), responsesResult('b'), responsesResult('a')),
  ],
  ['reasoning and its call', input(user, reasoning, responsesUse('a'), responsesResult('a'))],
  ['an output in parts', input(user, responsesUse('a'), responsesResult('a', [{ type: 'input_text', text: 'x' }]))],
  ['a text', { model: 'm', input: 'hi' }],
  ['tool_choice none', responsesBody({ tool_choice: 'none' })],
  ['tool_choice by name', responsesBody({ tool_choice: { type: 'function', name: 'read_file' } })],
  ['a search after reasoning', input(user, reasoning, { type: 'web_search_call', id: 'ws_1', status: 'completed' }, said, user)],
  ['a tool that the server runs', responsesBody({ tools: [...responsesTools, { type: 'web_search' }] })],
]

const broken: readonly (readonly [string, unknown, RegExp])[] = [
  ['no JSON', '{"model":', /could not parse/],
  ['no model', responsesBody({ model: undefined }), /model parameter/],
  ['no input', { model: 'm' }, /'input'/],
  ['an empty input', input(), /Invalid|Supported/],
  ['a call without output', input(user, responsesUse('a')), /No tool output found for function call a/],
  ['a call without output before a user message', input(user, responsesUse('a'), user, responsesResult('a')), /No tool output found/],
  ['an output without call', input(user, responsesResult('a')), /No tool call found .* a\.$/],
  ['an output before its call', input(user, responsesResult('a'), responsesUse('a')), /No tool call found/],
  ['two outputs', input(user, responsesUse('a'), responsesResult('a'), responsesResult('a')), /No tool call found/],
  ['doubled call ids', input(user, responsesUse('a'), responsesUse('a'), responsesResult('a')), /Duplicate 'call_id'/],
  ['doubled items', input(user, { ...said, id: 'msg_1' }, { ...said, id: 'msg_1' }), /Duplicate item/],
  ['a call without id', input(user, responsesUse(''), responsesResult('')), /input\[1\]\.call_id/],
  ['arguments that are not JSON', input(user, responsesUse('a', '{"path":'), responsesResult('a')), /holds a JSON object/],
  ['arguments as object', input(user, responsesUse('a', {}), responsesResult('a')), /input\[1\]\.arguments/],
  ['a bad name', input(user, responsesUse('a', '{}', 'read file'), responsesResult('a')), /pattern/],
  ['an output that is an object', input(user, responsesUse('a'), responsesResult('a', { x: 1 })), /input\[2\]\.output/],
  ['an empty message of the model', input(user, { role: 'assistant', content: '' }, user), /input\[1\]\.content/],
  ['a message in the form of the user', input(user, { ...said, content: [{ type: 'input_text', text: 'x' }] }), /output_text/],
  ['an unknown item', input(user, { type: 'robot' }), /Supported values/],
  ['an unknown role', input({ role: 'robot', content: 'x' }), /Supported values/],
  ['reasoning without what followed it', input(user, reasoning, user), /without its required following item/],
  ['calls without tools', responsesBody({ tools: [] }), /'tools' is missing/],
  ['a tool in the form of chat completions', responsesBody({ tools: [{ type: 'function', function: responsesTools[0] }] }), /tools\[0\]/],
  ['tool_choice of no tool', responsesBody({ tool_choice: { type: 'function', name: 'nope' } }), /'nope' not found/],
]

describe('a request of the Responses API', () => {
  it.each(healthy)('passes: %s', async (_, body) => {
    await using model = await scriptedModel([say('fine')])
    const response = await post(model, 'responses', body)
    expect(await response.json()).toMatchObject({ status: 'completed', output: [{ type: 'message', content: [{ text: 'fine' }] }] })
    model.assertDone()
  })

  it.each(broken)('is refused: %s', async (_, body, message) => {
    await using model = await scriptedModel()
    const response = await post(model, 'responses', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { message: expect.stringMatching(message), type: 'invalid_request_error' } })
    expect(() => model.assertDone()).toThrow(message)
  })

  it('is refused: a call without the reasoning that preceded it', async () => {
    await using model = await scriptedModel([think('Hm.', call('read_file', { path: 'a' })), say('fine')])
    const first = (await (await post(model, 'responses', { ...responsesBody(), input: [user] })).json()) as {
      output: { call_id?: string }[]
    }
    const output = responsesResult(String(first.output[1]?.call_id))
    const body = input(user, ...first.output.slice(1), output)
    expect(await (await post(model, 'responses', body)).json()).toMatchObject({
      error: { message: expect.stringMatching(/required 'reasoning'/) },
    })
    expect((await post(model, 'responses', input(user, ...first.output, output))).status).toBe(200)
  })
})

describe('through the AI SDK', () => {
  const tools = { read_file: tool({ inputSchema: z.object({ path: z.string() }), execute: ({ path }) => `text of ${path}` }) }
  const settings = (server: ScriptedModel) => ({
    model: createOpenAI({ baseURL: server.url, apiKey: 'key' }).responses('gpt-5'),
    tools,
    prompt: 'Read.',
    stopWhen: isStepCount(5),
    maxRetries: 0,
    providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } },
  })
  const turns = [{ ...calls(['read_file', { path: 'a' }], ['read_file', { path: 'b' }]), text: 'Two.' }, say('All read.')]

  it('is read in a stream', async () => {
    await using server = await scriptedModel(turns)
    const result = streamText(settings(server))
    expect(await result.text).toBe('All read.')
    expect((await result.steps)[0]).toMatchObject({ text: 'Two.', finishReason: 'tool-calls' })
    server.assertDone()
  })

  it('is read whole', async () => {
    await using server = await scriptedModel([...turns, say('cut', { finish: 'length' })])
    const { text, steps } = await generateText(settings(server))
    expect([text, steps.length]).toEqual(['All read.', 2])
    expect(server.requests[1] && lastToolResults(server.requests[1]).map(({ name, text }) => [name, text])).toEqual([
      ['read_file', 'text of a'],
      ['read_file', 'text of b'],
    ])
    expect((await generateText(settings(server))).finishReason).toBe('length')
    server.assertDone()
  })
})
