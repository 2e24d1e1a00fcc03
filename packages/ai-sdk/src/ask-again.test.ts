/** If a call was seen or announced in a reply, and none ran, the model is asked once, in the same stream. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { call, say } from '@mulligan/testing'
import { wrapLanguageModel } from 'ai'
import { describe, expect, it } from 'vitest'
import { MODES } from './agent.fixture.ts'
import { type RepairToolCallsOptions, repairToolCalls } from './index.ts'
import { run, searchTool } from './mulligan.fixture.ts'
import { brief, finish, model, PARAMS, type Part, search, streamed, text } from './parts.fixture.ts'

const FENCED = 'Search for the plans:\n```json\n{"name": "search", "arguments": {"query": "plans"}}\n```'

/** A model that replies with one list of parts after another. */
function replies(...each: readonly (readonly Part[])[]) {
  const asked: LanguageModelV4CallOptions[] = []
  const said: LanguageModelV4 = {
    ...model([]),
    doStream: async (params) => {
      asked.push(params)
      return model(each[asked.length - 1] ?? [finish()]).doStream(params)
    },
  }
  const parts = (options: RepairToolCallsOptions = {}) =>
    streamed(wrapLanguageModel({ model: said, middleware: repairToolCalls({ effects: 'read', ...options }) }), PARAMS)
  return { asked, parts }
}

describe.each(MODES)('the engine, %s', (mode) => {
  it.each([
    ['announced', 'Ich werde jetzt die Notizen durchsuchen.', 'called no tool'],
    ['in a fence', FENCED, 'was not run (in a code fence)'],
  ])('asks for a call that is %s', async (_, words, told) => {
    const { tools, ran } = searchTool()
    const done = await run(mode, tools, [say(words), call('search', { query: 'plans' }), say('Two.')])
    expect(ran).toEqual([{ query: 'plans' }])
    expect(done.text).toBe('Two.')
    expect(JSON.stringify(done.bodies[1])).toContain(told)
    expect(JSON.stringify(done.bodies[2])).not.toContain(told)
    expect(done.events.filter(({ type }) => type === 'message.quoted')).toMatchObject([{ asked: true }])
  })

  it('asks once: what is said then stands', async () => {
    const { tools } = searchTool()
    const done = await run(mode, tools, [say('Let me search for it.'), say('Let me search for it.')])
    expect(done.bodies).toHaveLength(2)
    expect(done.events.filter(({ type }) => type === 'message.quoted')).toMatchObject([{ asked: true }, { asked: false }])
  })

  it.each([
    ['with the answer', {}, 'I searched, and found two.'],
    ['when told not to', { asks: false }, 'Let me search for it.'],
    ['when it only looks on', { mode: 'observe' }, 'Let me search for it.'],
    ['in the last request', { limits: { requests: 1 } }, 'Let me search for it.'],
  ] as const)('does not ask %s', async (_, engine, words) => {
    const { tools } = searchTool()
    expect((await run(mode, tools, [say(words)], { engine })).bodies).toHaveLength(1)
  })

  it('tells the model of what was not run beside a call that was', async () => {
    const { search: one } = searchTool()
    const markup = (name: string) => `<tool_call>{"name": "${name}", "arguments": {"query": "plans"}}</tool_call>`
    const words = `${markup('send')}\nIt is sent.\n${markup('search')}`
    const engine = { tools: { search: { effect: 'read' as const } } }
    const done = await run(mode, { search: one, send: one }, [say(words), say('Two.')], { engine })
    expect(done.calls.map(({ toolName }) => toolName)).toEqual(['search'])
    expect(JSON.stringify(done.bodies[1])).toContain('another call in the same reply was not run')
  })
})

describe('the middleware', () => {
  const USED = { inputTokens: { total: 2 }, outputTokens: { total: 2 } }

  it('goes on with the second reply in the same stream, under ids of its own', async () => {
    const { asked, parts } = replies(
      [{ type: 'stream-start', warnings: [] }, ...text('0', 'Let me search.'), finish()],
      [{ type: 'stream-start', warnings: [] }, ...text('0', 'Here:'), search('c1', '{"query":"a"}'), finish('tool-calls')],
    )
    const said = await parts()
    expect(said.filter(({ type }) => type === 'finish')).toMatchObject([{ finishReason: { unified: 'tool-calls' }, usage: USED }])
    expect(said.filter(({ type }) => type === 'stream-start')).toHaveLength(1)
    expect(said.flatMap((part) => (part.type === 'text-start' ? [part.id] : []))).toEqual(['0', 'again-0'])
    expect(brief(said).join()).toContain('search')
    expect(JSON.stringify(asked[1]?.prompt)).toContain('called no tool')
    expect(asked).toHaveLength(2)
  })

  it.each<readonly [string, readonly Part[]]>([
    ['the provider ran a tool itself', [search('p1', '{}', { toolName: 'web', providerExecuted: true }), ...text('0', 'Let me search.')]],
    [
      'the reply is signed',
      [
        { type: 'reasoning-start', id: 'r', providerMetadata: { a: { signature: 's' } } },
        { type: 'reasoning-end', id: 'r' },
        ...text('0', 'Let me search.'),
      ],
    ],
  ])('does not ask where %s', async (_, said) => {
    const { asked, parts } = replies([...said, finish()])
    await parts()
    expect(asked).toHaveLength(1)
  })

  it.each(['length', 'content-filter', 'error'] as const)('nor after a reply that ended by %s', async (reason) => {
    const { asked, parts } = replies([...text('0', 'Let me search.'), finish(reason)])
    await parts()
    expect(asked).toHaveLength(1)
  })

  it('tells what was seen, and a listener that throws breaks nothing', async () => {
    const told: unknown[] = []
    const { parts } = replies([...text('0', FENCED), finish()])
    await parts({
      onQuoted: (quoted, asked) => {
        told.push([quoted.map(({ why }) => why), asked])
        throw new Error('no')
      },
    })
    expect(told).toEqual([[['in a code fence'], true]])
  })
})
