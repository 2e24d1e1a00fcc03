import { Command, interrupt, MemorySaver } from '@langchain/langgraph'
import { call, calls, say, scriptedModel } from '@mulligan/testing'
import { createAgent, type HITLRequest, humanInTheLoopMiddleware, tool } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { modelOf, type Ran, run, toldIn, toolsFor } from './agent.fixture.ts'
import { type MulliganOptions, mulligan } from './index.ts'

const FULL: MulliganOptions = { preset: 'full', tools: { search: { effect: 'read' } } }
const config = { configurable: { thread_id: 'one' } }
const asked = (state: unknown) =>
  (state as { readonly __interrupt__?: readonly { readonly id?: string; readonly value: HITLRequest }[] }).__interrupt__ ?? []

/** Agents that share a checkpointer, as two processes do. */
async function asking(script: Parameters<typeof scriptedModel>[0]) {
  const server = await scriptedModel(script)
  const checkpointer = new MemorySaver()
  const ran: Ran[] = []
  const agent = () => createAgent({ model: modelOf(server), tools: toolsFor(ran), middleware: [mulligan(FULL)], checkpointer })
  return { server, ran, agent, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

describe('a call that needs approval', () => {
  it.each(['the same process', 'another process'])('runs after an approval in %s', async (where) => {
    await using it = await asking([call('SendMail', { to: 'a' }), say('Sent.')])
    const first = it.agent()
    const [question] = asked(await first.invoke({ messages: 'Send it.' }, config))
    expect(question?.value.actionRequests).toEqual([
      { name: 'send_mail', args: { to: 'a' }, description: expect.stringContaining('leaves this machine') },
    ])
    expect(it.ran).toEqual([])
    const next = where === 'the same process' ? first : it.agent()
    const { messages } = await next.invoke(new Command({ resume: { decisions: [{ type: 'approve' }] } }), config)
    expect(it.ran).toEqual([{ tool: 'send_mail', input: { to: 'a' } }])
    expect(messages.at(-1)?.text).toBe('Sent.')
  })

  it('does not run after a rejection, whose reason the model reads', async () => {
    await using it = await asking([call('send_mail', { to: 'a' }), say('I see.')])
    const agent = it.agent()
    await agent.invoke({ messages: 'Send it.' }, config)
    const { messages } = await agent.invoke(new Command({ resume: { decisions: [{ type: 'reject', message: 'Wrong person.' }] } }), config)
    expect(it.ran).toEqual([])
    expect(messages.at(-2)?.text).toMatch(/^denied \(permission\): .*Wrong person\./)
    it.server.assertDone()
  })

  it('is asked about beside others, which run', async () => {
    await using it = await asking([calls(['search', { query: 'a' }], ['send_mail', { to: 'a' }], ['send_mail', { to: 'b' }]), say('Done.')])
    const agent = it.agent()
    const questions = asked(await agent.invoke({ messages: 'Send it.' }, config))
    expect(questions.map(({ value }) => value.actionRequests[0]?.args)).toEqual([{ to: 'a' }, { to: 'b' }])
    expect(it.ran).toEqual([{ tool: 'search', input: { query: 'a' } }])
    const [yes, no] = questions.map(({ id = '' }) => id) as [string, string]
    const resume = { [yes]: { decisions: [{ type: 'approve' }] }, [no]: { decisions: [{ type: 'reject' }] } }
    await agent.invoke(new Command({ resume }), config)
    expect(it.ran).toEqual([
      { tool: 'search', input: { query: 'a' } },
      { tool: 'send_mail', input: { to: 'a' } },
    ])
    it.server.assertDone()
  })

  it('is refused if there is nobody to ask', async () => {
    const seen = await run([call('send_mail', { to: 'a' }), say('I could not.')], FULL)
    expect(seen.ran).toEqual([])
    expect(toldIn(seen)).toMatch(/Nobody refused it/)
  })

  it('runs without one in the gentle preset', async () => {
    const { ran } = await run([call('send_mail', { to: 'a' }), say('Sent.')])
    expect(ran).toHaveLength(1)
  })
})

it('lets a policy deny calls, also in the gentle preset', async () => {
  const seen = await run([call('send_mail', { to: 'a' }), say('No.')], {
    policy: ({ tool: name }) => ({ decision: name === 'send_mail' ? 'deny' : 'allow', reason: 'no mail today' }),
  })
  expect(seen.ran).toEqual([])
  expect(toldIn(seen)).toMatch(/^denied \(permission\): .*no mail today/)
})

describe('the interruptions of LangChain', () => {
  it('works with its human-in-the-loop middleware, which sees repaired calls', async () => {
    await using server = await scriptedModel([call('SendMail', { to: 'a' }), say('Sent.')])
    const ran: Ran[] = []
    // LangChain's own types of it do not allow for `exactOptionalPropertyTypes`.
    const hitl = humanInTheLoopMiddleware({ interruptOn: { send_mail: true } } as never) as unknown as ReturnType<typeof mulligan>
    const agent = createAgent({
      model: modelOf(server),
      tools: toolsFor(ran),
      middleware: [hitl, mulligan()],
      checkpointer: new MemorySaver(),
    })
    const [question] = asked(await agent.invoke({ messages: 'Send it.' }, config))
    expect(question?.value.actionRequests[0]?.name).toBe('send_mail')
    await agent.invoke(
      new Command({ resume: { decisions: [{ type: 'edit', editedAction: { name: 'send_mail', args: { to: 'b' } } }] } }),
      config,
    )
    expect(ran).toEqual([{ tool: 'send_mail', input: { to: 'b' } }])
  })

  it.each(['gentle', 'full'] as const)('passes on an interruption by the tool itself (%s)', async (preset) => {
    const pick = tool(async () => `picked ${interrupt('Which one?')}`, { name: 'pick', description: 'Asks.', schema: z.object({}) })
    await using server = await scriptedModel([call('pick', {}), say('Thanks.')])
    const middleware = [mulligan({ preset, defaults: { effect: 'read' } })]
    const agent = createAgent({ model: modelOf(server), tools: [pick], middleware, checkpointer: new MemorySaver() })
    expect(asked(await agent.invoke({ messages: 'Pick.' }, config)).map(({ value }) => value)).toEqual(['Which one?'])
    const { messages } = await agent.invoke(new Command({ resume: 'the red one' }), config)
    expect(messages.at(-2)?.text).toBe('picked the red one')
  })
})
