import { call, type ScriptedTurn, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { agentOf, type Ran } from './agent.fixture.ts'
import type { MulliganOptions } from './index.ts'

const LEAK = '<tool_call>\n{"name": "search", "arguments": {"query": "notes"}}\n</tool_call>'
const CALL = { name: 'search', input: { query: 'notes' } }

async function streamed(turns: readonly ScriptedTurn[], options: MulliganOptions | false = {}) {
  await using server = await scriptedModel(turns)
  const ran: Ran[] = []
  const stream = await agentOf(server, ran, options).stream('Search.', { maxSteps: 10 })
  let text = ''
  const chunks: string[] = []
  for await (const chunk of stream.fullStream) {
    if (chunk.type === 'text-delta') text += chunk.payload.text
    if (chunk.type !== chunks.at(-1)) chunks.push(chunk.type)
  }
  server.assertDone()
  return { text, chunks, ran, answer: await stream.text, usage: (await stream.totalUsage).totalTokens }
}

describe('a streamed reply', () => {
  it('has the same text as without the processor', async () => {
    const turns = [say(['  Once ', 'upon ', 'a <b>', 'time', '.'])]
    expect(await streamed(turns)).toEqual(await streamed(turns, false))
  })

  it('has the same chunks as without the processor', async () => {
    const turns = [{ text: 'I search.', calls: [{ ...CALL, id: 'call_1' }] }, say('Found.')]
    expect(await streamed(turns)).toEqual(await streamed(turns, false))
  })

  it('does not show the markup of a call, which runs', async () => {
    const turns = [say(['I search.\n', ...(LEAK.match(/.{1,7}/gs) ?? [])]), say('Found.')]
    const { text, ran } = await streamed(turns, { tools: { search: { effect: 'read' } } })
    expect(ran).toEqual([{ tool: 'search', input: CALL.input }])
    expect(text.replace(/\s+/g, ' ')).toBe('I search. Found.')
  })

  it('shows it without the processor', async () => {
    const { text, ran } = await streamed([say(LEAK)], false)
    expect(text).toBe(LEAK)
    expect(ran).toEqual([])
  })

  it('shows a repaired call only as it runs', async () => {
    const { ran, chunks } = await streamed([call('Search', { query: 'notes' }), say('Found.')])
    expect(ran).toEqual([{ tool: 'search', input: CALL.input }])
    expect(chunks.filter((type) => type === 'tool-call')).toHaveLength(1)
    expect(chunks).not.toContain('tool-error')
  })

  it('does not run a call with effects that was cut off', async () => {
    const { ran, answer } = await streamed([call('send_mail', '{"to": "ann@exa', { finish: 'length' }), say('I see.')])
    expect(ran).toEqual([])
    expect(answer).toBe('I see.')
  })

  it('goes on with a second reply if the first was empty, and counts both', async () => {
    const usage = { input: 10, output: 1 }
    const { text, usage: total } = await streamed([say('', { usage }), say('Here it is.', { usage })], { preset: 'full' })
    expect(text).toBe('Here it is.')
    expect(total).toBe(22)
  })
})
