import { call, calls, say, scriptedModel } from '@mulligan/testing'
import { Agent, Runner, tool } from '@openai/agents'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { HEALTHY, OK } from '../../core/src/adapter/healthy.fixture.ts'
import { agentOf, type Ran, run, runnerOf, toldIn } from './agent.fixture.ts'
import { mulligan, type TurnEvent } from './index.ts'

describe('a healthy agent', () => {
  it.each(HEALTHY)('is not changed: %s', async (_, script) => {
    const [plain, adopted] = [await run(script, false), await run(script)]
    expect(adopted).toEqual(plain)
  })

  it('keeps the settings that the SDK has for a model of this name', async () => {
    const bodies: unknown[] = []
    for (const adopt of [(one: Runner) => one, (one: Runner) => mulligan(one)]) {
      await using server = await scriptedModel([say('Hi.')])
      await adopt(runnerOf(server)).run(new Agent({ name: 'agent' }), 'Hi')
      bodies.push(server.requests[0]?.body)
    }
    expect(bodies[1]).toEqual(bodies[0])
  })

  it('hands off, and the other agent has the engine too', async () => {
    await using server = await scriptedModel([call('TransferToNotes', {}), call('Search', OK), say('Found.')])
    const ran: Ran[] = []
    const notes = agentOf(ran)
    notes.name = 'notes'
    const agent = new Agent({ name: 'triage', model: 'scripted-model', handoffs: [notes] })
    const { finalOutput, lastAgent } = await mulligan(runnerOf(server)).run(agent, 'Search.')
    expect({ finalOutput, ran, last: lastAgent?.name }).toEqual({
      finalOutput: 'Found.',
      ran: [{ tool: 'search', input: OK }],
      last: 'notes',
    })
  })

  it('runs agents that are used as tools as before', async () => {
    const turns = [call('AskNotes', { input: 'tea?' }), call('search', OK), say('In tea.md.'), say('It is in tea.md.')]
    await using server = await scriptedModel(turns)
    const ran: Ran[] = []
    const notes = agentOf(ran).asTool({ toolName: 'ask_notes', toolDescription: 'Asks the notes.' })
    const agent = new Agent({ name: 'agent', model: 'scripted-model', tools: [notes] })
    const { finalOutput } = await mulligan(runnerOf(server), { preset: 'full', defaults: { effect: 'read' } }).run(agent, 'Where is tea?')
    expect({ finalOutput, ran }).toEqual({ finalOutput: 'It is in tea.md.', ran: [{ tool: 'search', input: OK }] })
  })

  it('does not have the engine in another runner', async () => {
    await using server = await scriptedModel([say('One.'), call('Search', OK)])
    const agent = agentOf([])
    await mulligan(runnerOf(server)).run(agent, 'Search.')
    await expect(runnerOf(server).run(agent, 'Search.')).rejects.toThrow('Tool Search not found')
    expect(server.requests[1]?.bodyText).not.toContain('refused_call')
  })
})

describe('a wrong call', () => {
  it('is repaired where its meaning is clear', async () => {
    const { ran, requests } = await run([call('Search', '{"query": "notes", "limit": "3",}'), say('Found.')])
    expect(ran).toEqual([{ tool: 'search', input: OK }])
    expect(requests).toHaveLength(2)
  })

  it('comes back with what to fix, under the name that the model used, and does not run', async () => {
    const seen = await run([call('search', { limit: 3 }), say('I see.')])
    expect(seen.ran).toEqual([])
    expect(toldIn(seen)).toMatch(/^retry \(validation\): "query" is missing/)
    expect(toldIn(seen)).not.toMatch(/tries left/)
    expect(seen.requests[1]).toContain('"name":"search"')
    expect(seen.requests.join()).not.toContain('refused_call')
  })

  it('names the nearest tool', async () => {
    const seen = await run([call('find_notes_by_words', OK), say('I see.')])
    expect(toldIn(seen)).toMatch(/^retry \(unknown_tool\): There is no tool named "find_notes_by_words"/)
  })

  it('ends the run without the engine', async () => {
    await expect(run([call('find_notes_by_words', OK), say('I see.')], false)).rejects.toThrow('not found in agent')
  })

  it('does not hand off if it is refused', async () => {
    await using server = await scriptedModel([call('transfer_to_other', '{"reason": "cut', { finish: 'length' }), say('I stay.')])
    const agent = new Agent({ name: 'triage', model: 'scripted-model', handoffs: [new Agent({ name: 'other' })] })
    const { lastAgent } = await mulligan(runnerOf(server)).run(agent, 'Search.')
    expect(lastAgent?.name).toBe('triage')
  })

  it('gets an id of its own if the server uses one twice', async () => {
    const { ran, answer } = await run([
      calls(['search', OK, 'call_0']),
      calls(['search', { ...OK, query: 'more' }, 'call_0']),
      say('Found.'),
    ])
    expect(ran).toHaveLength(2)
    expect(answer).toBe('Found.')
  })
})

describe('full', () => {
  it('closes a tool after its retries', async () => {
    const events: TurnEvent[] = []
    const { ran } = await run([...Array.from({ length: 3 }, () => call('search', {})), say('I give up.')], {
      preset: 'full',
      tools: { search: { effect: 'read', retries: 1 } },
      onEvent: (event) => void events.push(event),
    })
    expect(ran).toEqual([])
    expect(events.map(({ type }) => type)).toContain('tool.closed')
  })

  it('has a last request without calls', async () => {
    const { requests, answer } = await run([call('search', OK), say('That is all.')], {
      preset: 'full',
      defaults: { effect: 'read' },
      limits: { requests: 2 },
    })
    expect(answer).toBe('That is all.')
    expect(requests[1]).toMatch(/"tool_choice":"none"/)
    expect(requests[1]).toMatch(/This is the last request of this turn/)
  })

  it('counts each run apart, also two at once', async () => {
    await using server = await scriptedModel(({ bodyText }) => (/three notes/.test(bodyText) ? say('Found.') : call('search', OK)))
    const runner = mulligan(runnerOf(server), { preset: 'full', defaults: { effect: 'read' }, limits: { calls: 1 } })
    const agent = agentOf([])
    const answers = await Promise.all([1, 2, 3].map(() => runner.run(agent, 'Search.')))
    expect(answers.map(({ finalOutput }) => finalOutput)).toEqual(['Found.', 'Found.', 'Found.'])
  })
})

it.each([
  ['ignores its signal', false, /failed \(timeout\)/],
  ['obeys its signal', true, /An error occurred while running the tool/],
])('cuts off a tool that %s after the timeout that is set', async (_, obeys, told) => {
  const hang = tool({
    name: 'hang',
    description: 'Hangs.',
    parameters: z.object({}),
    execute: (_, __, details) =>
      new Promise<string>((_, reject) => {
        if (obeys) details?.signal?.addEventListener('abort', () => reject(new Error('aborted')))
      }),
  })
  await using server = await scriptedModel([call('hang', {}), say('It hangs.')])
  const runner = mulligan(runnerOf(server), { graceMs: 100, tools: { hang: { effect: 'read', timeout: 0.05 } } })
  await runner.run(new Agent({ name: 'agent', model: 'scripted-model', tools: [hang] }), 'Wait.')
  expect(server.requests[1]?.bodyText).toMatch(told)
})

it.each([
  ['its errorFunction', (_: unknown, error: unknown) => `Sorry: ${(error as Error).message}`, /Sorry: no route/],
  ['none, which ends the run', null, /no route/],
])('leaves what a tool throws to %s', async (_, errorFunction, says) => {
  const fails = tool({
    name: 'fails',
    description: 'Fails.',
    parameters: z.object({}),
    errorFunction,
    execute: () => Promise.reject(new Error('no route')),
  })
  await using server = await scriptedModel([call('fails', {}), say('It failed.')])
  const agent = new Agent({ name: 'agent', model: 'scripted-model', tools: [fails] })
  const ended = await mulligan(runnerOf(server))
    .run(agent, 'Go.')
    .then(
      () => server.requests[1]?.bodyText,
      (error: unknown) => String(error),
    )
  expect(ended).toMatch(says)
})

it('reports what it does not support at once', () => {
  expect(() => mulligan(new Runner(), { preset: 'strict' as never })).toThrow('there is no preset "strict"')
  expect(() => mulligan(new Runner(), { tools: { search: { timeout: 60_000 } } })).toThrow(TypeError)
  expect(() => mulligan({ config: {} } as never)).toThrow('requires @openai/agents 0.20')
})
