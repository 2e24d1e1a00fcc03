import { Mastra } from '@mastra/core'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { call, calls, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agentOf, type Ran, run, toldIn, toolsFor } from './agent.fixture.ts'
import type { MulliganOptions } from './index.ts'

const FULL: MulliganOptions = { preset: 'full', tools: { search: { effect: 'read' } } }

/** An agent whose runs can be suspended. */
async function asking(script: Parameters<typeof scriptedModel>[0], options: MulliganOptions = FULL, more: object = {}) {
  const server = await scriptedModel(script)
  const ran: Ran[] = []
  const agent = agentOf(server, ran, options, more)
  new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false })
  return { server, ran, agent, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

describe('a call that needs approval', () => {
  it('runs after an approval', async () => {
    await using it = await asking([call('SendMail', { to: 'a' }), say('Sent.')])
    const asked = await it.agent.generate('Send it.')
    expect(asked.finishReason).toBe('suspended')
    expect(asked.suspendPayload).toMatchObject({ toolName: 'send_mail', args: { to: 'a' } })
    expect(it.ran).toEqual([])
    const { text } = await it.agent.approveToolCallGenerate({ runId: asked.runId ?? '', toolCallId: asked.suspendPayload?.toolCallId })
    expect(it.ran).toEqual([{ tool: 'send_mail', input: { to: 'a' } }])
    expect(text).toBe('Sent.')
    it.server.assertDone()
  })

  it('does not run after a rejection', async () => {
    await using it = await asking([call('send_mail', { to: 'a' }), say('I see.')])
    const asked = await it.agent.generate('Send it.')
    await it.agent.declineToolCallGenerate({ runId: asked.runId ?? '', toolCallId: asked.suspendPayload?.toolCallId })
    expect(it.ran).toEqual([])
    it.server.assertDone()
  })

  it('is asked about also if the agent asks about every call', async () => {
    await using it = await asking([call('search', { query: 'a' }), say('Found.')])
    const asked = await it.agent.generate('Search.', { requireToolApproval: true })
    expect(asked.finishReason).toBe('suspended')
    expect(it.ran).toEqual([])
  })

  it('is asked about also if only its tool says so', async () => {
    const search = Object.assign(toolsFor([]).search, { requireApproval: true })
    await using it = await asking([call('search', { query: 'a' }), say('Found.')], FULL, { tools: { search } })
    expect((await it.agent.generate('Search.')).finishReason).toBe('suspended')
  })

  it('does not make other calls of its reply ask', async () => {
    await using it = await asking([calls(['search', { query: 'a' }], ['send_mail', { to: 'a' }]), say('Done.')])
    await it.agent.generate('Send it.')
    expect(it.ran).toEqual([{ tool: 'search', input: { query: 'a' } }])
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

it.each(['gentle', 'full'] as const)('lets a tool suspend itself and go on (%s)', async (preset) => {
  const pick = createTool({
    id: 'pick',
    description: 'Asks.',
    inputSchema: z.object({}),
    suspendSchema: z.object({ question: z.string() }),
    resumeSchema: z.object({ answer: z.string() }),
    execute: async (_, { agent }) =>
      agent?.resumeData ? `picked ${agent.resumeData.answer}` : void (await agent?.suspend({ question: 'Which one?' })),
  })
  await using it = await asking([call('pick', {}), say('Thanks.')], { preset, defaults: { effect: 'read' } }, { tools: { pick } })
  const asked = await it.agent.generate('Pick.')
  expect(asked.suspendPayload).toMatchObject({ suspendPayload: { question: 'Which one?' } })
  const { text } = await it.agent.resumeGenerate({ answer: 'the red one' }, { runId: asked.runId ?? '' })
  expect(text).toBe('Thanks.')
  expect(it.server.requests[1]?.bodyText).toContain('picked the red one')
})
