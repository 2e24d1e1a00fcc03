/** Replies that are unusual, but that servers and SDKs produce: nothing is lost, and nothing is sent back that the server refuses. */
import { describe, expect, it } from 'vitest'
import { startTurn } from '../loop/start-turn.ts'
import { ok } from '../result.ts'
import { defineTool } from '../tool.ts'
import { anthropicMessages } from './anthropic-messages.ts'
import type { Api } from './api.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'

const look = defineTool({ name: 'look', description: 'Looks.', effect: 'read', input: { type: 'object' }, execute: () => ok('seen') })

async function* stream(...chunks: readonly object[]) {
  yield* chunks
}

// biome-ignore lint/suspicious/noExplicitAny: replies of three formats
const step = async (api: Api<any, any, any, any>, reply: object, onText?: (text: string) => void) =>
  startTurn({ api, tools: [look] }).reply(reply, onText && { onText })

describe('chat completions', () => {
  const called = (more: object) => ({ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}', ...more } })
  const chunk = (delta: object, index = 0) => ({ choices: [{ index, delta }] })

  it('a refusal is the answer', async () => {
    const message = { role: 'assistant', content: null, refusal: 'I can’t help with that.' }
    const answer = { done: true, text: message.refusal, messages: [{ role: 'assistant', content: message.refusal }] }
    expect(await step(openaiChat, { message, finish_reason: 'stop' })).toEqual({ ...answer, results: [] })
    const said: string[] = []
    const chunks = stream(chunk({ refusal: 'I can’t ' }), chunk({ refusal: 'help with that.' }))
    expect(await step(openaiChat, chunks, (text) => said.push(text))).toMatchObject(answer)
    expect(said).toEqual(['I can’t ', 'help with that.'])
  })

  it('what the SDK parsed is not sent back', async () => {
    const message = { role: 'assistant', content: '{}', parsed: {}, tool_calls: [called({ parsed_arguments: {} })] }
    expect(JSON.stringify((await step(openaiChat, { message })).messages)).not.toContain('parsed')
  })

  it('only the first of several choices is read', async () => {
    const chunks = stream(chunk({ content: 'One.' }), chunk({ content: 'Two.' }, 1))
    expect(await step(openaiChat, chunks)).toMatchObject({ text: 'One.' })
  })

  it('an id with a signature in it is kept', async () => {
    const id = `call_1__thought__${'A'.repeat(2000)}`
    const { messages } = await step(openaiChat, { message: { tool_calls: [{ ...called({}), id }] } })
    expect(messages).toMatchObject([{ tool_calls: [{ id }] }, { tool_call_id: id }])
  })
})

describe('responses', () => {
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'look', arguments: '{ }' }
  const added = (output_index: number, item: object) => ({ type: 'response.output_item.added', output_index, item })
  const text = (output_index: number, delta: string) => ({ type: 'response.output_text.delta', output_index, delta })

  it('what the SDK parsed is not sent back, and the items stay what they were', async () => {
    const said = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: '{}', annotations: [] }] }
    const parsed = { ...said, content: [{ ...said.content[0], parsed: {} }] }
    const { messages } = await step(openaiResponses, { output: [parsed, { ...call, parsed_arguments: {} }] })
    expect(messages.slice(0, 2)).toEqual([said, call])
  })

  it('a stream that was cut off in the text has the text', async () => {
    const chunks = stream(added(0, { type: 'message', id: 'msg_1', content: [] }), text(0, 'Half '), text(0, 'an'))
    const messages = [{ type: 'message', role: 'assistant', content: 'Half an' }]
    expect(await step(openaiResponses, chunks)).toMatchObject({ done: true, stoppedBy: 'cut', text: 'Half an', messages })
  })

  it('a call that was cut off in a stream does not run', async () => {
    const delta = { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{' }
    const { results } = await step(openaiResponses, stream(added(0, { ...call, arguments: '' }), delta))
    expect(results).toMatchObject([{ attempts: 0, result: { status: 'retry', errorType: 'malformed_call' } }])
  })
})

describe('Anthropic messages', () => {
  const start = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
  const end = { type: 'message_delta', delta: { stop_reason: 'tool_use' } }
  const use = { type: 'tool_use', id: 'c1', name: 'look' }

  it('the input of a call may come with its start', async () => {
    const empty = { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '' } }
    const { results } = await step(anthropicMessages, stream(start(0, { ...use, input: { at: 'a' } }), empty, end))
    expect(results).toMatchObject([{ input: { at: 'a' }, attempts: 1 }])
  })

  it('blocks may be numbered from anywhere', async () => {
    const { results } = await step(anthropicMessages, stream(start(7, { ...use, input: {} }), end))
    expect(results).toHaveLength(1)
  })

  it('thinking and searches without a result are not sent back at the end of a reply', async () => {
    const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }
    const content = [{ type: 'text', text: 'Well.', parsed_output: null }, search, { type: 'thinking', thinking: 'Hm', signature: '' }]
    const { messages } = await step(anthropicMessages, { content, stop_reason: 'max_tokens' })
    expect(messages).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'Well.' }] }])
  })

  it('a reply that the provider paused is not sent back half if the turn ends', async () => {
    const content = [
      { type: 'text', text: 'I search.' },
      { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} },
    ]
    const turn = startTurn({ api: anthropicMessages, tools: [look], limits: { requests: 1 } })
    const { messages, stoppedBy } = await turn.reply({ content, stop_reason: 'pause_turn' })
    expect([stoppedBy, messages]).toEqual(['requests', [{ role: 'assistant', content: 'I search.' }]])
  })
})
