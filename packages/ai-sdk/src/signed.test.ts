/** A reply that its provider signed is sent back unchanged; the result tells the model how its call was read. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { call, type ScriptedModel, say, think } from '@mulligan/testing'
import { type ModelMessage, wrapLanguageModel } from 'ai'
import { describe, expect, it } from 'vitest'
import { MODES } from './agent.fixture.ts'
import { run, searchTool } from './mulligan.fixture.ts'

const model = (server: ScriptedModel) => createAnthropic({ baseURL: server.url, apiKey: 'none' })('claude-sonnet-4-5')

const repaired = () => think('Tea, then.', call('Search', { query: 'tea', limit: '3' }))

describe.each(MODES)('%s', (mode) => {
  it('a signed reply goes back as it came, and its result says how the call was read', async () => {
    const { tools, ran } = searchTool()
    const { told, bodies, calls } = await run(mode, tools, [repaired(), say('Done.')], { model })
    expect(ran).toEqual([{ query: 'tea', limit: 3 }])
    expect(calls[0]).toMatchObject({ toolName: 'search', input: { query: 'tea', limit: 3 } })
    expect(JSON.stringify(bodies[1]?.messages)).toContain('"name":"Search","input":{"query":"tea","limit":"3"}')
    expect(told[0]).toEqual(['{"found":["about tea"]}\nNote: Your call was read as search({"query":"tea","limit":3}).'])
  })

  it('also in the turn after, from the messages of the one before', async () => {
    const { tools, ran } = searchTool()
    const asked = await run(mode, tools, [repaired()], { model, toolApproval: { search: 'user-approval' } })
    const [{ approvalId = '' } = {}] = asked.approvals
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Go on.' },
      ...(JSON.parse(JSON.stringify(asked.messages)) as ModelMessage[]),
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] },
    ]
    // The scripted provider of this turn does not know the signatures of the previous one, so only the request is checked.
    const sent: unknown[] = []
    const looking = (server: ScriptedModel) =>
      wrapLanguageModel({
        model: model(server),
        middleware: {
          specificationVersion: 'v4',
          transformParams: async ({ params }) => {
            sent.push(params.prompt)
            throw new Error('seen')
          },
        },
      })
    await run(mode, tools, [], { messages, prompt: undefined, model: looking } as never).catch(() => undefined)
    expect(ran).toEqual([{ query: 'tea', limit: 3 }])
    expect(JSON.stringify(sent)).toMatch(/"toolName":"Search","input":\{"query":"tea","limit":"3"\}.*Your call was read as search/)
  })

  it('a reply that is not signed goes back as it was resolved', async () => {
    const { bodies } = await run(mode, searchTool().tools, [call('Search', { query: 'tea', limit: '3' }), say('Done.')], { model })
    expect(JSON.stringify(bodies[1]?.messages)).toContain('"name":"search","input":{"query":"tea","limit":3}')
  })
})
