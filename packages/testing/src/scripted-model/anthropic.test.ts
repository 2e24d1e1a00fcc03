import { describe, expect, it } from 'vitest'
import { anthropicBody, anthropicHeaders, anthropicResult, anthropicUse, post } from './requests.fixture.ts'
import { scriptedModel } from './scripted-model.ts'
import { say } from './turn.ts'

const user = (...content: unknown[]): object => ({ role: 'user', content: content.length > 0 ? content : 'hi' })
const assistant = (...content: unknown[]): object => ({ role: 'assistant', content })
const text = (value: unknown): object => ({ type: 'text', text: value })
const withMessages = (...messages: unknown[]): object => anthropicBody({ messages })
const use = anthropicUse
const result = anthropicResult

const redacted = { type: 'redacted_thinking', data: 'x' }
const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'tea' } }
const found = { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] }

const healthy: readonly (readonly [string, object])[] = [
  ['a call and its result', anthropicBody()],
  [
    'parallel calls and text after the results',
    withMessages(user(), assistant(text('I read.'), use('a'), use('b')), user(result('b'), result('a'), text('go'))),
  ],
  ['a failed result', withMessages(user(), assistant(use('a')), user(result('a', { is_error: true })))],
  ['a result without content', withMessages(user(), assistant(use('a')), user(result('a', { content: undefined })))],
  ['two user messages', withMessages(user(), user())],
  ['system blocks', anthropicBody({ system: [text('s')] })],
  ['tool_choice', anthropicBody({ tool_choice: { type: 'tool', name: 'read_file' } })],
  ['a tool of the provider', { ...withMessages(user()), tools: [{ type: 'bash_20250124', name: 'bash' }] }],
  ['redacted thinking', withMessages(user(), assistant(redacted, text('Hm.')), user())],
  ['a search of the server', withMessages(user(), assistant(search, found, text('Found.')), user())],
  ['a search that goes on in the next message', withMessages(user(), assistant(search), assistant(found), user())],
]

const broken: readonly (readonly [string, unknown, RegExp])[] = [
  ['no JSON', '{', /not valid JSON/],
  ['no model', anthropicBody({ model: undefined }), /model/],
  ['no max_tokens', anthropicBody({ max_tokens: undefined }), /max_tokens: Field required/],
  ['max_tokens 0', anthropicBody({ max_tokens: 0 }), /max_tokens/],
  ['no messages', anthropicBody({ messages: undefined }), /messages: Field required/],
  ['empty messages', withMessages(), /at least one/],
  ['an assistant first', withMessages(assistant(text('hi'))), /first message/],
  ['a role system', withMessages(user(), { role: 'system', content: 'x' }), /Unexpected role "system"/],
  ['a role tool', withMessages(user(), { role: 'tool', content: 'x' }), /Unexpected role "tool"/],
  ['empty content', withMessages({ role: 'user', content: '' }), /non-empty/],
  ['no blocks', withMessages({ role: 'user', content: [] }), /non-empty/],
  ['an empty text block', withMessages(user(text(''))), /text content blocks must be non-empty/],
  ['a blank text block', withMessages(user(text(' \n'))), /non-whitespace/],
  ['an empty text in a result', withMessages(user(), assistant(use('a')), user(result('a', { content: [text('')] }))), /must be non-empty/],
  [
    'an empty failed result',
    withMessages(user(), assistant(use('a')), user(result('a', { is_error: true, content: '' }))),
    /cannot be empty/,
  ],
  ['empty system text', anthropicBody({ system: [text('')] }), /system/],
  ['a blank message', withMessages({ role: 'user', content: ' ' }), /non-whitespace/],
  ['content that is an object', withMessages({ role: 'user', content: {} }), /content: Field required/],
  ['a text block without text', withMessages(user({ type: 'text' })), /text\.text: Field required/],
  ['a result with a bad id', withMessages(user(result('a.b'))), /tool_use_id: String should match/],
  ['a flag that is not a boolean', withMessages(user(), assistant(use('a')), user(result('a', { is_error: 'no' }))), /valid boolean/],
  ['a result that is an object', withMessages(user(), assistant(use('a')), user(result('a', { content: {} }))), /valid list/],
  [
    'an unknown block in a result',
    withMessages(user(), assistant(use('a')), user(result('a', { content: [{ type: 'x' }] }))),
    /result\.content\.0/,
  ],
  [
    'thinking without text',
    withMessages(user(), assistant({ type: 'thinking', signature: 'x' }), user()),
    /thinking\.thinking: Field required/,
  ],
  ['system that is an object', anthropicBody({ system: {} }), /system: Input should be a valid list/],
  ['system with an image', anthropicBody({ system: [{ type: 'image' }] }), /system: Input should be text/],
  ['tools that are an object', { ...withMessages(user()), tools: {} }, /tools: Input should be a valid list/],
  ['a tool with a bad name', anthropicBody({ tools: [{ name: 'a.b', input_schema: { type: 'object' } }] }), /custom\.name/],
  ['an unknown tool_choice', anthropicBody({ tool_choice: { type: 'required' } }), /tool_choice: Input should be one of/],
  ['an unknown block', withMessages(user({ type: 'video' })), /expected tags/],
  ['a call by the user', withMessages(user(use('a'))), /expected tags/],
  ['a result by the assistant', withMessages(user(), assistant(use('a')), assistant(result('a'))), /expected tags/],
  ['an orphan at the end', withMessages(user(), assistant(use('a'))), /immediately after: a\./],
  ['an orphan before text', withMessages(user(), assistant(use('a')), user()), /immediately after: a\./],
  ['one of two results missing', withMessages(user(), assistant(use('a'), use('b')), user(result('a'))), /immediately after: b\./],
  [
    'results in two messages',
    withMessages(user(), assistant(use('a'), use('b')), user(result('a')), user(result('b'))),
    /unexpected|immediately after: b\./,
  ],
  ['a result after text', withMessages(user(), assistant(use('a')), user(text('here'), result('a'))), /must come first/],
  ['a result to no call', withMessages(user(result('a'))), /unexpected `tool_use_id`/],
  ['a doubled result', withMessages(user(), assistant(use('a')), user(result('a'), result('a'))), /single result/],
  ['doubled ids in one message', withMessages(user(), assistant(use('a'), use('a')), user(result('a'))), /ids must be unique/],
  [
    'doubled ids in two messages',
    withMessages(user(), assistant(use('a')), user(result('a')), assistant(use('a')), user(result('a'))),
    /ids must be unique/,
  ],
  ['input as text', withMessages(user(), assistant(use('a', '{}')), user(result('a'))), /valid dictionary/],
  ['input as array', withMessages(user(), assistant(use('a', [])), user(result('a'))), /valid dictionary/],
  ['no input', withMessages(user(), assistant(use('a', null)), user(result('a'))), /valid dictionary/],
  ['a bad id', withMessages(user(), assistant(use('a.b')), user(result('a.b'))), /\.id: String should match/],
  ['a bad name', withMessages(user(), assistant(use('a', {}, 'read file')), user(result('a'))), /\.name: String should match/],
  ['calls in the history without tools', anthropicBody({ tools: undefined }), /must define tools/],
  ['a tool without schema', anthropicBody({ tools: [{ name: 'a' }] }), /input_schema/],
  ['two tools of one name', anthropicBody({ tools: ['a', 'a'].map((name) => ({ name, input_schema: { type: 'object' } })) }), /unique/],
  ['tool_choice without tools', { ...withMessages(user()), tools: undefined, tool_choice: { type: 'auto' } }, /while providing tools/],
  ['tool_choice of no tool', anthropicBody({ tool_choice: { type: 'tool', name: 'nope' } }), /not found/],
  [
    'thinking with a forced call',
    anthropicBody({ thinking: { type: 'enabled', budget_tokens: 50 }, tool_choice: { type: 'any' } }),
    /forces tool use/,
  ],
  ['a budget over max_tokens', anthropicBody({ thinking: { type: 'enabled', budget_tokens: 100 } }), /budget_tokens/],
  ['a search without its result', withMessages(user(), assistant(search), user()), /`srv_1` was found without/],
  ['the result of no search', withMessages(user(), assistant(found), user()), /unexpected `tool_use_id`/],
  [
    'thinking at the end of a message',
    withMessages(user(), assistant(text('Hm.'), redacted), user()),
    /final block .* cannot be `thinking`/,
  ],
]

describe('an Anthropic request', () => {
  it.each(healthy)('passes: %s', async (_, body) => {
    await using model = await scriptedModel([say('fine')])
    const response = await post(model, 'anthropic', body)
    expect(await response.json()).toMatchObject({ content: [{ type: 'text', text: 'fine' }] })
    model.assertDone()
  })

  it.each(broken)('is refused: %s', async (_, body, message) => {
    await using model = await scriptedModel()
    const response = await post(model, 'anthropic', body)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringMatching(message) },
    })
    expect(() => model.assertDone()).toThrow(message)
  })

  it.each([
    ['x-api-key', 401, 'authentication_error'],
    ['anthropic-version', 400, 'invalid_request_error'],
  ] as const)('is refused without %s', async (name, status, type) => {
    await using model = await scriptedModel([say('fine')])
    const headers: Record<string, string> = { ...anthropicHeaders }
    delete headers[name]
    const response = await post(model, 'anthropic', anthropicBody(), { headers })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ type: 'error', error: { type } })
    expect(model.violations).toHaveLength(1)
    expect((await post(model, 'anthropic', anthropicBody())).status).toBe(200)
  })

  it('may hold calls without tools when that is switched off', async () => {
    await using model = await scriptedModel([say('fine')], { toolsRequired: false })
    expect((await post(model, 'anthropic', anthropicBody({ tools: undefined }))).status).toBe(200)
  })
})
