import { call, type ScriptedTurn, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { agentOf, type Ran, runnerOf } from './agent.fixture.ts'
import { type MulliganOptions, mulligan } from './index.ts'

const LEAK = '<tool_call>\n{"name": "search", "arguments": {"query": "notes", "limit": 3}}\n</tool_call>'
const CALL = { name: 'search', input: { query: 'notes', limit: 3 } }

async function streamed(turns: readonly ScriptedTurn[], options: MulliganOptions | false = {}) {
  await using server = await scriptedModel(turns)
  const ran: Ran[] = []
  const plain = runnerOf(server)
  const runner = options === false ? plain : mulligan(plain, options)
  const result = await runner.run(agentOf(ran), 'Search.', { stream: true })
  let text = ''
  const items: string[] = []
  for await (const event of result) {
    if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') text += event.data.delta
    if (event.type === 'run_item_stream_event') items.push(event.name)
  }
  await result.completed
  server.assertDone()
  return { text, items, ran, answer: result.finalOutput, usage: result.state.usage.totalTokens > 0 }
}

describe('a streamed reply', () => {
  it('has the same text as without the engine', async () => {
    const turns = [say(['  Once ', 'upon ', 'a <b>', 'time', '.'])]
    expect(await streamed(turns)).toEqual(await streamed(turns, false))
  })

  it('has the same items as without the engine', async () => {
    const turns = [{ text: 'I search.', calls: [{ ...CALL, id: 'call_1' }] }, say('Found.')]
    expect(await streamed(turns)).toEqual(await streamed(turns, false))
  })

  it('does not show the markup of a call, which runs', async () => {
    const pieces = LEAK.match(/.{1,7}/gs) ?? []
    const { text, items, ran, answer } = await streamed([say(['I search.\n', ...pieces]), say('Found.')], {
      tools: { search: { effect: 'read' } },
    })
    expect(ran).toEqual([{ tool: 'search', input: CALL.input }])
    expect(text.replace(/\s+/g, ' ')).toBe('I search. Found.')
    expect(items).toEqual(['message_output_created', 'tool_called', 'tool_output', 'message_output_created'])
    expect(answer).toBe('Found.')
  })

  it('shows it without the engine', async () => {
    const { text, ran } = await streamed([say(LEAK)], false)
    expect(text).toBe(LEAK)
    expect(ran).toEqual([])
  })

  it('repairs a call, and refuses one with effects that was cut off', async () => {
    const cut = call('send_mail', '{"to": "ann@exa', { finish: 'length' })
    const { ran, answer } = await streamed([call('Search', { query: 'notes', limit: '3' }), cut, say('I see.')])
    expect(ran).toEqual([{ tool: 'search', input: CALL.input }])
    expect(answer).toBe('I see.')
  })

  it('goes on with a second reply if the first was empty, and counts both', async () => {
    const { text, answer } = await streamed([say(''), say('Here it is.')], { preset: 'full' })
    expect(text).toBe('Here it is.')
    expect(answer).toBe('Here it is.')
  })
})
