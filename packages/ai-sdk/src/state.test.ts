/** State belongs to a turn: concurrent turns share none, and an agent has new state for each call. */
import { call, type ScriptedModel, say, scriptedModel } from '@mulligan/testing'
import { generateText, type ModelMessage, streamText, ToolLoopAgent, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { MODES } from './agent.fixture.ts'
import { mulligan, type TurnEvent } from './index.ts'
import { modelOf, searchTool } from './mulligan.fixture.ts'

/** A model that repeatedly makes wrong calls. */
const stubborn = () => scriptedModel((_, n) => (n <= 3 ? call('search', { query: n }) : say('I give up.')))
const lastLines = ({ requests }: ScriptedModel): readonly unknown[] =>
  ((requests.at(-1)?.body as { messages: { role: string; content: string }[] }) ?? { messages: [] }).messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content.split('\n').at(-1))

const ONCE = [
  'One try left: the next wrong call closes this tool.',
  'That was the last try: this tool is closed now.',
  'Finish without it.',
]

describe.each(MODES)('%s', (mode) => {
  it('two turns of one engine at once, each with its own budget', async () => {
    const engine = mulligan(searchTool().tools, { preset: 'full' })
    await using a = await stubborn()
    await using b = await stubborn()
    const texts = await Promise.all(
      [a, b].map(async (server) => {
        const settings = engine.turn({ model: modelOf(server), prompt: 'Go on.' })
        return mode === 'stream' ? streamText(settings).text : (await generateText(settings)).text
      }),
    )
    expect(texts).toEqual(['I give up.', 'I give up.'])
    expect([lastLines(a), lastLines(b)]).toEqual([ONCE, ONCE])
  })

  it('settings that are used twice share their state: the second has no tries left', async () => {
    const engine = mulligan(searchTool().tools, { preset: 'full' })
    await using a = await stubborn()
    await using b = await stubborn()
    const settings = engine.turn({ model: modelOf(a), prompt: 'Go on.' })
    await (mode === 'stream' ? streamText(settings).text : generateText(settings))
    const again = { ...settings, model: modelOf(b) }
    await (mode === 'stream' ? streamText(again).text : generateText(again))
    expect(lastLines(b)[0]).toBe('Finish without it.')
  })

  it('an agent of a module: fresh state for each call, also of two at once', async () => {
    await using a = await stubborn()
    await using b = await stubborn()
    await using c = await stubborn()
    const events: TurnEvent[] = []
    const agent = new ToolLoopAgent(
      mulligan(searchTool().tools, { preset: 'full', onEvent: (event) => void events.push(event) }).agent({
        model: modelOf(a),
        instructions: 'Be brief.',
        prepareCall: ({ messages, prompt, ...rest }) => ({
          ...rest,
          prompt: `${prompt as string}!`,
          model: modelOf({ one: a, two: b, three: c }[prompt as string] ?? a),
        }),
      }),
    )
    const ask = async (prompt: string) =>
      mode === 'stream' ? (await agent.stream({ prompt })).text : (await agent.generate({ prompt })).text
    expect(await Promise.all([ask('one'), ask('two')])).toEqual(['I give up.', 'I give up.'])
    expect(await ask('three')).toBe('I give up.')
    expect([a, b, c].map(lastLines)).toEqual([ONCE, ONCE, ONCE])
    expect(JSON.stringify(a.requests[0]?.body)).toMatch(/Be brief.*one!/)
    expect(new Set(events.flatMap((event) => ('callId' in event ? [event.callId.split('/')[0]] : []))).size).toBe(3)
  })

  it('an agent has the tools that one of its calls adds', async () => {
    const ran: string[] = []
    const named = (name: string) => tool({ inputSchema: z.object({ n: z.int() }), execute: ({ n }) => void ran.push(`${name} ${n}`) })
    await using server = await scriptedModel([call('Extra', { n: '1' }), call('Own', { n: '2' }), say('Done.')])
    const agent = new ToolLoopAgent(
      mulligan({ own: named('own') }, { tools: { own: { effect: 'read' } } }).agent({
        model: modelOf(server),
        prepareCall: (given) => ({ ...given, tools: { ...given.tools, extra: named('extra') } as never }),
      }),
    )
    expect(
      await (mode === 'stream' ? (await agent.stream({ prompt: 'Go on.' })).text : (await agent.generate({ prompt: 'Go on.' })).text),
    ).toBe('Done.')
    expect(ran).toEqual(['extra 1', 'own 2'])
  })

  it('an agent has no tools in a call that takes them away', async () => {
    const own = tool({ inputSchema: z.object({}), execute: () => undefined })
    await using server = await scriptedModel([say('Done.')])
    const agent = new ToolLoopAgent(
      mulligan({ own }).agent({ model: modelOf(server), prepareCall: ({ tools: _, ...given }) => given as never }),
    )
    await (mode === 'stream' ? (await agent.stream({ prompt: 'Go on.' })).text : agent.generate({ prompt: 'Go on.' }))
    expect(server.requests[0]?.body).not.toHaveProperty('tools')
  })

  it('an agent asks, and runs the call once after a yes', async () => {
    const sent: unknown[] = []
    const send = tool({ inputSchema: z.object({ to: z.string() }), execute: async (input) => void sent.push(input) })
    await using server = await scriptedModel([call('Send', { to: 'ann' }), say('Done.')])
    const agent = new ToolLoopAgent(
      mulligan({ send }, { preset: 'full' }).agent({ model: modelOf(server), toolApproval: { send: 'user-approval' } }),
    )
    const ask = async (messages: ModelMessage[]) => {
      const result = mode === 'stream' ? await agent.stream({ messages }) : await agent.generate({ messages })
      return { messages: await result.responseMessages, content: await result.content }
    }
    const user: ModelMessage = { role: 'user', content: 'Go' }
    const asked = await ask([user])
    expect(sent).toEqual([])
    const request = asked.content.find((part) => part.type === 'tool-approval-request')
    const yes = { type: 'tool-approval-response' as const, approvalId: request?.approvalId ?? '', approved: true }
    await ask([user, ...asked.messages, { role: 'tool', content: [yes] }])
    expect(sent).toEqual([{ to: 'ann' }])
  })

  it('an agent that is stopped stops its tools', async () => {
    const stop = new AbortController()
    const statuses: string[] = []
    const hangs = tool({
      inputSchema: z.object({}),
      execute: () => {
        stop.abort()
        return new Promise<string>(() => undefined)
      },
    })
    await using server = await scriptedModel([call('hangs', {})])
    const onEvent = (event: TurnEvent) => void (event.type === 'tool.result' && !event.result.ok && statuses.push(event.result.status))
    const agent = new ToolLoopAgent(
      mulligan({ hangs }, { preset: 'full', onEvent, graceMs: 1 }).agent({ model: modelOf(server), onError: () => undefined }),
    )
    const given = { prompt: 'Go', abortSignal: stop.signal }
    await (mode === 'stream' ? (await agent.stream(given)).consumeStream() : agent.generate(given).catch(() => undefined))
    await expect.poll(() => statuses).toEqual(['indeterminate'])
  })

  it('an agent ends in words at the limit of requests, where the SDK alone ends without', async () => {
    await using server = await scriptedModel(({ body }, n) =>
      (body as { tool_choice?: unknown }).tool_choice === 'none' ? say('So far.') : call('search', { query: `tea ${n}` }),
    )
    const agent = new ToolLoopAgent(mulligan(searchTool().tools, { limits: { requests: 3 } }).agent({ model: modelOf(server) }))
    expect(mode === 'stream' ? await (await agent.stream({ prompt: 'Go' })).text : (await agent.generate({ prompt: 'Go' })).text).toBe(
      'So far.',
    )
    const bare = new ToolLoopAgent({ model: modelOf(server), tools: searchTool().tools })
    expect((await bare.generate({ prompt: 'Go' })).text).toBe('')
  })
})
