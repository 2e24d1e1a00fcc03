import { describe, expect, it } from 'vitest'
import { openAIBody, openAIResult, openAITools, openAIUse, post } from './requests.fixture.ts'
import { scriptedModel } from './scripted-model.ts'
import { say } from './turn.ts'

const user = { role: 'user', content: 'hi' }
const asks = (...list: unknown[]): object => ({ role: 'assistant', content: null, tool_calls: list })
const withMessages = (...messages: unknown[]): object => openAIBody({ messages })

const healthy: readonly (readonly [string, object])[] = [
  ['a call and its result', openAIBody()],
  [
    'parallel calls, results in another order',
    withMessages(user, asks(openAIUse('a'), openAIUse('b')), openAIResult('b'), openAIResult('a')),
  ],
  ['the same id in two messages', withMessages(user, asks(openAIUse('a')), openAIResult('a'), asks(openAIUse('a')), openAIResult('a'))],
  ['a result in parts', withMessages(user, asks(openAIUse('a')), openAIResult('a', [{ type: 'text', text: 'x' }]))],
  ['an empty result', withMessages(user, asks(openAIUse('a')), openAIResult('a', ''))],
  ['system and developer', withMessages({ role: 'system', content: 's' }, { role: 'developer', content: 'd' }, user)],
  ['tool_choice none', openAIBody({ tool_choice: 'none' })],
  ['tool_choice by name', openAIBody({ tool_choice: { type: 'function', function: { name: 'read_file' } } })],
  ['no tools, no calls', { model: 'm', messages: [user] }],
]

const broken: readonly (readonly [string, unknown, RegExp])[] = [
  ['no JSON', '{"model":', /could not parse/],
  ['no model', openAIBody({ model: undefined }), /model parameter/],
  ['no messages', { model: 'm' }, /'messages'/],
  ['empty messages', withMessages(), /empty array/],
  ['an unknown role', withMessages({ role: 'robot', content: 'x' }), /Supported values/],
  ['a message without content', withMessages({ role: 'user' }), /content/],
  ['an assistant that says nothing', withMessages(user, { role: 'assistant', content: null }), /content or tool_calls/],
  ['an assistant with empty text', withMessages(user, { role: 'assistant', content: '' }, user), /content or tool_calls/],
  ['an empty list of calls', withMessages(user, { role: 'assistant', content: 'x', tool_calls: [] }), /minimum length 1/],
  ['a result to no call', withMessages(user, openAIResult('c1')), /must be a response/],
  ['a result with another id', withMessages(user, asks(openAIUse('a')), openAIResult('b')), /'b' is none/],
  [
    'a result to an older message',
    withMessages(user, asks(openAIUse('a')), openAIResult('a'), { role: 'assistant', content: 'x' }, openAIResult('a')),
    /must be a response/,
  ],
  ['an orphan at the end', withMessages(user, asks(openAIUse('a'))), /did not have response messages: a/],
  ['an orphan before a user message', withMessages(user, asks(openAIUse('a')), user), /did not have response messages: a/],
  ['one of two results missing', withMessages(user, asks(openAIUse('a'), openAIUse('b')), openAIResult('a')), /messages: b$/],
  ['a doubled result', withMessages(user, asks(openAIUse('a')), openAIResult('a'), openAIResult('a')), /already has a response/],
  ['doubled ids', withMessages(user, asks(openAIUse('a'), openAIUse('a')), openAIResult('a')), /Duplicate/],
  ['a call without id', withMessages(user, asks(openAIUse('')), openAIResult('')), /id/],
  ['arguments as object', withMessages(user, asks(openAIUse('a', { path: 'a' })), openAIResult('a')), /expected a string/],
  ['arguments that are not JSON', withMessages(user, asks(openAIUse('a', '{"path":')), openAIResult('a')), /holds a JSON object/],
  ['arguments that are an array', withMessages(user, asks(openAIUse('a', '[1]')), openAIResult('a')), /holds a JSON object/],
  ['arguments that are a JSON string', withMessages(user, asks(openAIUse('a', '"{}"')), openAIResult('a')), /holds a JSON object/],
  ['a bad function name', withMessages(user, asks(openAIUse('a', '{}', 'read file')), openAIResult('a')), /pattern/],
  ['a message that is not an object', withMessages('hi'), /expected an object/],
  ['an assistant whose content is an object', withMessages(user, { role: 'assistant', content: {} }, user), /messages\[1\]\.content/],
  ['calls in a user message', withMessages({ ...user, tool_calls: [openAIUse('a')] }), /only allowed for role 'assistant'/],
  ['a result without id', withMessages(user, { role: 'tool', content: 'x' }), /tool_call_id'\.$/],
  ['a call of another type', withMessages(user, asks({ ...openAIUse('a'), type: 'custom' }), openAIResult('a')), /tool_calls\[0\]\.type/],
  ['a tool of another type', openAIBody({ tools: [{ ...openAITools[0], type: 'web' }] }), /tools\[0\]\.type/],
  ['no function name', withMessages(user, asks(openAIUse('a', '{}', null)), openAIResult('a')), /pattern/],
  ['a name of 65 characters', withMessages(user, asks(openAIUse('a', '{}', 'x'.repeat(65))), openAIResult('a')), /pattern/],
  ['a result that is an object', withMessages(user, asks(openAIUse('a')), openAIResult('a', { x: 1 })), /content/],
  ['a result without content', withMessages(user, asks(openAIUse('a')), openAIResult('a', null)), /content/],
  ['an image as result', withMessages(user, asks(openAIUse('a')), openAIResult('a', [{ type: 'image_url' }])), /text parts only/],
  ['calls in the history without tools', openAIBody({ tools: undefined }), /'tools' is missing/],
  ['empty tools', openAIBody({ tools: [] }), /'tools'/],
  [
    'a tool with a bad name',
    openAIBody({ tools: [{ type: 'function', function: { name: 'a.b', parameters: { type: 'object' } } }] }),
    /pattern/,
  ],
  [
    'a tool whose schema is not an object',
    openAIBody({ tools: [{ type: 'function', function: { name: 'a', parameters: {} } }] }),
    /type: "object"/,
  ],
  ['tool_choice without tools', { model: 'm', messages: [user], tool_choice: 'auto' }, /only allowed when 'tools'/],
  ['tool_choice of no tool', openAIBody({ tool_choice: { type: 'function', function: { name: 'nope' } } }), /no tool named 'nope'/],
  ['stream_options without stream', openAIBody({ stream_options: { include_usage: true } }), /stream_options/],
]

describe('an OpenAI request', () => {
  it.each(healthy)('passes: %s', async (_, body) => {
    await using model = await scriptedModel([say('fine')])
    const response = await post(model, 'openai', body)
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'fine' } }] })
    expect(response.status).toBe(200)
    model.assertDone()
  })

  it.each(broken)('is refused: %s', async (_, body, message) => {
    await using model = await scriptedModel()
    const response = await post(model, 'openai', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: { message: expect.stringMatching(message), type: 'invalid_request_error', param: null, code: null },
    })
    expect(model.violations).toEqual([{ request: 1, message: expect.stringMatching(/^refused with 400/) }])
    expect(() => model.assertDone()).toThrow(message)
  })

  it('may hold calls without tools when that is switched off', async () => {
    await using model = await scriptedModel([say('fine'), say('fine')], { toolsRequired: false })
    expect((await post(model, 'openai', openAIBody({ tools: undefined }))).status).toBe(200)
    expect((await post(model, 'openai', openAIBody({ tools: openAITools }))).status).toBe(200)
  })
})
