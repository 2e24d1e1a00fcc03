import type { BaseMessage } from '@langchain/core/messages'
import { call, type ScriptedModel, type ScriptedTurn, say, scriptedModel } from '@mulligan/testing'
import { createAgent, initChatModel, modelRetryMiddleware } from 'langchain'
import { describe, expect, it } from 'vitest'
import { modelOf, type Ran, toolsFor } from './agent.fixture.ts'
import { type MulliganOptions, mulligan } from './index.ts'

const LEAK = '<tool_call>\n{"name": "search", "arguments": {"query": "notes"}}\n</tool_call>'

type ModelFor = (server: ScriptedModel) => ReturnType<typeof modelOf> | Promise<ReturnType<typeof modelOf>>

async function streamed(turns: readonly ScriptedTurn[], options: MulliganOptions | false = {}, modelFor: ModelFor = modelOf) {
  await using server = await scriptedModel(turns)
  const ran: Ran[] = []
  const middleware = options === false ? [] : [mulligan(options)]
  const agent = createAgent({ model: await modelFor(server), tools: toolsFor(ran), middleware })
  let text = ''
  let state: { readonly messages?: readonly BaseMessage[] } = {}
  for await (const [mode, part] of await agent.stream({ messages: 'Search.' }, { streamMode: ['messages', 'values'] })) {
    if (mode === 'values') state = part as typeof state
    else if (part[0].type === 'ai') text += part[0].text
  }
  server.assertDone()
  return { text, ran, messages: (state.messages ?? []).map(({ type, text: said }) => `${type}: ${said}`) }
}

describe('a streamed reply', () => {
  it('has the same text as without the middleware', async () => {
    const turns = [say(['  Once ', 'upon ', 'a <b>', 'time', '.'])]
    expect(await streamed(turns)).toEqual(await streamed(turns, false))
  })

  it('streams calls as without the middleware', async () => {
    const turns = [{ text: 'I search.', calls: [{ name: 'search', input: { query: 'notes' }, id: 'call_1' }] }, say('Found.')]
    expect(await streamed(turns)).toEqual(await streamed(turns, false))
  })

  it('does not show the markup of a call, which runs', async () => {
    const { text, ran, messages } = await streamed([say(['I search.\n', ...(LEAK.match(/.{1,7}/gs) ?? [])]), say('Found.')], {
      tools: { search: { effect: 'read' } },
    })
    expect(ran).toEqual([{ tool: 'search', input: { query: 'notes' } }])
    expect(text.replace(/\s+/g, ' ')).toBe('I search. Found.')
    expect(messages.map((one) => one.trim())).toEqual(['human: Search.', 'ai: I search.', 'tool: three notes', 'ai: Found.'])
  })

  it('shows it without the middleware', async () => {
    const { text, ran } = await streamed([say(LEAK)], false)
    expect(text).toBe(LEAK)
    expect(ran).toEqual([])
  })

  it('does not run a call with effects that was cut off', async () => {
    const cut = call('send_mail', '{"to": "ann@exa', { finish: 'length' })
    const { ran, messages } = await streamed([cut, say('I see.')])
    expect(ran).toEqual([])
    expect(messages.join()).toMatch(/tool: retry \(malformed_call\)/)
  })

  it('goes on with a second reply if the first was empty', async () => {
    const { text, messages } = await streamed([say(''), say('Here it is.')], { preset: 'full' })
    expect(text).toBe('Here it is.')
    expect(messages).toEqual(['human: Search.', 'ai: Here it is.'])
  })

  it('is repaired also for a model that is given by name', async () => {
    const modelFor: ModelFor = ({ url }) => initChatModel('openai:any', { apiKey: 'none', configuration: { baseURL: url } }) as never
    const { text, ran } = await streamed([say(LEAK), say('Found.')], { tools: { search: { effect: 'read' } } }, modelFor)
    expect(ran).toHaveLength(1)
    expect(text).toBe('Found.')
  })

  it('makes a call once if the stream broke after it and was begun again', async () => {
    await using server = await scriptedModel([say([LEAK, ' And'], { fault: { cut: 2 } }), say(LEAK), say('Found.')])
    const ran: Ran[] = []
    const middleware = [mulligan({ tools: { search: { effect: 'read' } } }), modelRetryMiddleware({ initialDelayMs: 1 }) as never]
    const agent = createAgent({ model: modelOf(server), tools: toolsFor(ran), middleware })
    for await (const _ of await agent.stream({ messages: 'Search.' }, { streamMode: 'messages' }));
    server.assertDone()
    expect(ran).toHaveLength(1)
  })
})
