import { call, calls, type ScriptedTurn, say, scriptedModel, think } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { agentModel, start, stores } from '../agent.fixture.ts'
import { type AgentEvent, type AgentModel, createAgent } from '../index.ts'
import { onStores } from '../stores.fixture.ts'

type Sent = { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }
const messages = (request: { readonly body: unknown } | undefined) => (request?.body as Sent).messages

onStores('a call without a name', () => {
  it.each([
    ['null', call(null, {}), 'had no tool name', 1],
    ['null, without arguments', call(null, ''), 'had no tool name', 1],
    ['empty', call('', {}), 'had no tool name', 1],
    // The provider package drops it, so the reply is empty.
    ['empty, without arguments', call('', ''), 'was empty', 2],
  ])('%s: the model is told, once, and the conversation goes on', async (_, nameless, says, first) => {
    const { server, agent } = await start([nameless, call('search', { query: 'a' }), say('Found.')])
    const outcome = await agent.run({ prompt: 'go' })
    expect(outcome).toMatchObject({ status: 'answered', answer: 'Found.', requests: first + 1, calls: [{ tool: 'search' }] })
    const [, second, third] = server.requests
    expect(JSON.stringify(messages(second).at(-1))).toContain(says)
    expect(messages(second).map(({ role }) => role)).toEqual(['system', 'user'])
    expect(JSON.stringify(messages(third))).not.toContain(says)
    server.assertDone()
    await server.close()
  })

  it('does not take the calls beside it along', async () => {
    const { server, agent } = await start([calls(['search', { query: 'a' }], ['', {}]), say('Found.')])
    expect(await agent.run({ prompt: 'go' })).toMatchObject({ status: 'answered', calls: [{ tool: 'search' }] })
    server.assertDone()
    await server.close()
  })
})

onStores('what the person is shown of a fault', () => {
  it('has no part of a key, though the server’s words are cut within it', async () => {
    const secret = `sk-${'0123456789abcdef'.repeat(4)}`
    const body = { error: { message: `${'x'.repeat(340)} ${secret}` } }
    const { server, agent, events } = await start([{ fault: { status: 401, body } }], 'openai', { secrets: [secret] })
    expect((await agent.run({ prompt: 'go' })).error).toMatch(/^The model's server answered 401/)
    expect(JSON.stringify(events)).not.toContain('sk-')
    await server.close()
  })
})

async function startWith(script: readonly ScriptedTurn[], more: Partial<AgentModel>) {
  const server = await scriptedModel(script)
  const events: AgentEvent[] = []
  const agent = createAgent({
    model: { ...agentModel(server, 'openai'), ...more },
    tools: [],
    store: await stores.open(),
    cwd: '/',
    onEvent: (event) => events.push(event),
  })
  return { server, agent, events }
}

onStores('thinking that goes on and on', () => {
  const long = think(Array.from({ length: 2000 }, (_, n) => `thought ${n} `).join(''), say('After all.'))

  it('is cut off and asked for once more, to come to the point', async () => {
    const { server, agent, events } = await startWith([long, say('Forty.')], { maxThinking: 1000 })
    expect(await agent.run({ prompt: 'How much?' })).toMatchObject({ status: 'answered', answer: 'Forty.', requests: 1 })
    expect(JSON.stringify(messages(server.requests[1]).at(-1))).toMatch(/How much.*Do not think any further/)
    expect(events).toContainEqual(expect.objectContaining({ type: 'message.discarded', why: expect.stringContaining('1,000 tokens') }))
    await server.close()
  })

  it('a second time ends the turn, with what to do', async () => {
    const { server, agent } = await startWith([long, long], { maxThinking: 1000 })
    const { status, error } = await agent.run({ prompt: 'How much?' })
    expect([status, error]).toEqual(['failed', expect.stringMatching(/thought for more than 1,000 tokens, twice.*allow it more/)])
    await server.close()
  })

  it('is let be where there is no limit', async () => {
    const { server, agent } = await startWith([long], {})
    expect(await agent.run({ prompt: 'How much?' })).toMatchObject({ answer: 'After all.' })
    await server.close()
  })
})

it('sampling goes with every request, and only what is given', async () => {
  const { server, agent } = await startWith([say('Hi.')], { sampling: { temperature: 0.6, topP: 0.95 } })
  await agent.run({ prompt: 'Hi' })
  expect(server.requests[0]?.body).toMatchObject({ temperature: 0.6, top_p: 0.95 })
  expect(server.requests[0]?.body).not.toHaveProperty('presence_penalty')
  await server.close()
})

onStores('what the person can do about a request that failed', () => {
  const fault: ScriptedTurn = { fault: { status: 401, body: { error: { message: 'bad key' } } } }

  it.each<[string, AgentModel['advise'], string]>([
    [
      'is told with it',
      async ({ status }) => `Status ${status}: set THE_KEY.`,
      "The model's server answered 401: bad key. Status 401: set THE_KEY.",
    ],
    ['is left out where it fails', () => Promise.reject(new Error('no')), "The model's server answered 401: bad key"],
  ])('%s', async (_, advise, says) => {
    const { server, agent } = await startWith([fault], advise ? { advise } : {})
    expect((await agent.run({ prompt: 'Hi' })).error).toBe(says)
    await server.close()
  })
})
