import { call, calls, say } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { start } from '../agent.fixture.ts'

type Sent = { readonly messages: readonly { readonly role: string; readonly content: unknown }[] }
const messages = (request: { readonly body: unknown } | undefined) => (request?.body as Sent).messages

describe('a call without a name', () => {
  it.each([
    ['null', call(null, {}), 'had no tool name', 1],
    ['null, without arguments', call(null, ''), 'had no tool name', 1],
    ['empty', call('', {}), 'had no tool name', 1],
    // The provider package leaves it out: the reply is an empty one.
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

describe('what the person is shown of a fault', () => {
  it('has no part of a key, though the server’s words are cut within it', async () => {
    const secret = `sk-${'0123456789abcdef'.repeat(4)}`
    const body = { error: { message: `${'x'.repeat(340)} ${secret}` } }
    const { server, agent, events } = await start([{ fault: { status: 401, body } }], 'openai', { secrets: [secret] })
    expect((await agent.run({ prompt: 'go' })).error).toMatch(/^The model's server answered 401/)
    expect(JSON.stringify(events)).not.toContain('sk-')
    await server.close()
  })
})
