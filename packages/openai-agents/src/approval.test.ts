import { call, calls, say, scriptedModel } from '@mulligan/testing'
import { Agent, RunState, tool } from '@openai/agents'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agentOf, type Ran, runnerOf } from './agent.fixture.ts'
import { type MulliganOptions, mulligan } from './index.ts'

const FULL: MulliganOptions = { preset: 'full', tools: { search: { effect: 'read' } } }

describe('a call that needs approval', () => {
  it.each(['the same process', 'another process'])('runs after an approval in %s', async (where) => {
    await using server = await scriptedModel([call('SendMail', { to: 'a' }), say('Sent.')])
    const ran: Ran[] = []
    const agent = agentOf(ran)
    const runner = mulligan(runnerOf(server), FULL)
    const first = await runner.run(agent, 'Send it.')
    expect(first.interruptions.map(({ name, arguments: input }) => [name, input])).toEqual([['send_mail', '{"to":"a"}']])
    expect(ran).toEqual([])
    const restored = async () => (await RunState.fromString(agentOf(ran), first.state.toString())) as typeof first.state
    const later = where === 'the same process' ? first.state : await restored()
    for (const one of later.getInterruptions()) later.approve(one)
    const next = where === 'the same process' ? runner : mulligan(runnerOf(server), FULL)
    const { finalOutput } = await next.run(agent, later)
    expect(ran).toEqual([{ tool: 'send_mail', input: { to: 'a' } }])
    expect(finalOutput).toBe('Sent.')
    server.assertDone()
  })

  it('does not run after a rejection', async () => {
    await using server = await scriptedModel([calls(['search', { query: 'a', limit: null }], ['send_mail', { to: 'a' }]), say('I see.')])
    const ran: Ran[] = []
    const agent = agentOf(ran)
    const runner = mulligan(runnerOf(server), FULL)
    const { state } = await runner.run(agent, 'Send it.')
    for (const one of state.getInterruptions()) state.reject(one)
    expect((await runner.run(agent, state)).finalOutput).toBe('I see.')
    expect(ran.map((one) => one.tool)).toEqual(['search'])
    server.assertDone()
  })

  it('is not asked about in the gentle preset, apart from what the tool says itself', async () => {
    await using server = await scriptedModel([calls(['SendMail', { to: 'a' }], ['Own', {}]), say('Sent.')])
    const ran: Ran[] = []
    const own = tool({ name: 'own', description: 'Asks.', parameters: z.object({}), needsApproval: true, execute: () => 'done' })
    const agent = new Agent({ name: 'agent', model: 'scripted-model', tools: [...agentOf(ran).tools, own] })
    const { interruptions } = await mulligan(runnerOf(server)).run(agent, 'Send it.')
    expect(interruptions.map(({ name }) => name)).toEqual(['own'])
    expect(ran).toHaveLength(1)
  })
})

it('lets a policy deny calls, also in the gentle preset', async () => {
  await using server = await scriptedModel([call('send_mail', { to: 'a' }), say('No.')])
  const ran: Ran[] = []
  const policy: MulliganOptions['policy'] = ({ tool: name }) => ({
    decision: name === 'send_mail' ? 'deny' : 'allow',
    reason: 'no mail today',
  })
  await mulligan(runnerOf(server), { policy }).run(agentOf(ran), 'Send it.')
  expect(ran).toEqual([])
  expect(server.requests[1]?.bodyText).toMatch(/denied \(permission\): .*no mail today/)
})
