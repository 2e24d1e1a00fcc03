import { MemorySaver } from '@langchain/langgraph'
import { call, calls, say, scriptedModel } from '@mulligan/testing'
import { createAgent, type ToolMessage, tool, toolStrategy } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { barrier, HEALTHY, OK } from '../../core/src/adapter/healthy.fixture.ts'
import { modelOf, type Ran, run, toldIn, toolsFor } from './agent.fixture.ts'
import { mulligan, type TurnEvent } from './index.ts'

describe('a healthy agent', () => {
  it.each(HEALTHY)('is not changed: %s', async (_, script) => {
    const [plain, adopted] = [await run(script, false), await run(script)]
    expect(adopted).toEqual(plain)
  })

  it('keeps the concurrency of its tools', async () => {
    const together = barrier(2)
    const wait = tool(
      async () => {
        await together()
        return 'done'
      },
      { name: 'wait', description: 'Waits.', schema: z.object({ n: z.int() }) },
    )
    await using server = await scriptedModel([calls(['wait', { n: 1 }], ['wait', { n: 2 }]), say('Done.')])
    await createAgent({ model: modelOf(server), tools: [wait], middleware: [mulligan()] }).invoke({ messages: 'Wait.' })
    expect(server.requests).toHaveLength(2)
  })

  it('has the same steps', async () => {
    const steps: string[][] = []
    for (const middleware of [[], [mulligan()]]) {
      await using server = await scriptedModel([call('search', OK), say('Found.')])
      const agent = createAgent({ model: modelOf(server), tools: toolsFor([]), middleware })
      const updates: string[] = []
      for await (const update of await agent.stream({ messages: 'Search.' }, { streamMode: 'updates' }))
        updates.push(...Object.keys(update))
      steps.push(updates)
    }
    expect(steps[1]).toEqual(steps[0])
  })

  it('keeps its structured response', async () => {
    await using server = await scriptedModel((request, n) => {
      const { tools } = request.body as { readonly tools: readonly { readonly function: { readonly name: string } }[] }
      const names = tools.map((one) => one.function.name)
      return n === 1 ? call('search', OK) : call(names.find((name) => name.startsWith('extract')) ?? '', { city: 'Lisbon' })
    })
    const agent = createAgent({
      model: modelOf(server),
      tools: toolsFor([]),
      middleware: [mulligan({ preset: 'full', defaults: { effect: 'read' } })],
      responseFormat: toolStrategy(z.object({ city: z.string() })),
    })
    const { structuredResponse } = await agent.invoke({ messages: 'Where?' })
    expect(structuredResponse).toEqual({ city: 'Lisbon' })
    expect(server.requests).toHaveLength(2)
  })
})

describe('a wrong call', () => {
  it('is repaired where its meaning is clear', async () => {
    const { ran, requests } = await run([call('Search', '{"query": "notes", "limit": "3",}'), say('Found.')])
    expect(ran).toEqual([{ tool: 'search', input: OK }])
    expect(requests).toHaveLength(2)
  })

  it('comes back with what to fix, and does not run', async () => {
    const seen = await run([call('search', { limit: 3 }), say('I see.')])
    expect(seen.ran).toEqual([])
    expect(toldIn(seen)).toMatch(/^retry \(validation\): "query" is missing/)
    expect(toldIn(seen)).not.toMatch(/tries left/)
  })

  it('names the nearest tool', async () => {
    const seen = await run([call('find_notes_by_words', OK), say('I see.')])
    expect(toldIn(seen)).toMatch(/^retry \(unknown_tool\): There is no tool named "find_notes_by_words"/)
    expect(toldIn(seen)).not.toContain('Please fix')
  })

  it('has a failure as its artifact', async () => {
    await using server = await scriptedModel([call('search', {}), say('I see.')])
    const agent = createAgent({ model: modelOf(server), tools: toolsFor([]), middleware: [mulligan()] })
    const { messages } = await agent.invoke({ messages: 'Search.' })
    const message = messages.find(({ type }) => type === 'tool') as ToolMessage
    expect(message).toMatchObject({ status: 'error', artifact: { ok: false, status: 'retry', errorType: 'validation' } })
  })

  it('gets an id of its own if the server uses one twice', async () => {
    const twice = [calls(['search', OK, 'call_0']), calls(['search', { query: 'more' }, 'call_0']), say('Found.')]
    const { ran, answer } = await run(twice)
    expect(ran).toHaveLength(2)
    expect(answer).toBe('Found.')
  })
})

describe('a failing tool', () => {
  it('does not show its secrets to the model, and the log has the exception', async () => {
    const logged: unknown[] = []
    const seen = await run([call('fails', {}), say('It failed.')], { log: ({ error }) => void logged.push(error) })
    expect(seen.requests.join()).not.toContain('hunter2')
    expect(toldIn(seen)).toMatch(/^failed \(internal\)/)
    expect(logged).toEqual([expect.objectContaining({ message: expect.stringContaining('hunter2') })])
  })

  it('shows them without the middleware', async () => {
    const seen = await run([call('fails', {}), say('It failed.')], false)
    expect(seen.requests.join()).toContain('hunter2')
  })

  it('is cut off after the timeout that is set, and its signal is aborted', async () => {
    let isAborted = false
    const hang = tool(
      (_, { signal }) =>
        new Promise((_, reject) =>
          signal?.addEventListener('abort', () => {
            isAborted = true
            reject(signal.reason)
          }),
        ),
      {
        name: 'hang',
        description: 'Hangs.',
        schema: z.object({}),
      },
    )
    await using server = await scriptedModel([call('hang', {}), say('It hangs.')])
    const agent = createAgent({
      model: modelOf(server),
      tools: [hang],
      middleware: [mulligan({ tools: { hang: { effect: 'read', timeout: 0.05 } } })],
    })
    const { messages } = await agent.invoke({ messages: 'Wait.' })
    expect(messages.at(-2)?.text).toMatch(/^failed \(timeout\)/)
    expect(isAborted).toBe(true)
  })
})

describe('full', () => {
  it('closes a tool after its retries, and ends in words', async () => {
    const wrong = Array.from({ length: 3 }, () => call('search', {}))
    const events: TurnEvent[] = []
    const { ran } = await run([...wrong, say('I give up.')], {
      preset: 'full',
      tools: { search: { effect: 'read', retries: 1 } },
      onEvent: (event) => void events.push(event),
    })
    expect(ran).toEqual([])
    expect(events.map(({ type }) => type)).toContain('tool.closed')
  })

  it('counts across the steps of a turn that has a checkpointer', async () => {
    await using server = await scriptedModel(({ body }) =>
      (body as { readonly tool_choice?: unknown }).tool_choice === 'none' ? say('I found no more.') : call('search', OK),
    )
    const ran: Ran[] = []
    const middleware = [mulligan({ preset: 'full', defaults: { effect: 'read' } })]
    const agent = createAgent({ model: modelOf(server), tools: toolsFor(ran), middleware, checkpointer: new MemorySaver() })
    for (const turn of [1, 2]) {
      const { messages } = await agent.invoke({ messages: 'Search.' }, { configurable: { thread_id: 'one' }, recursionLimit: 50 })
      expect(messages.at(-1)?.text).toBe('I found no more.')
      expect(ran).toHaveLength(3 * turn)
    }
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

  it('counts each turn of an agent apart, also two at once', async () => {
    await using server = await scriptedModel(({ bodyText }) => (/three notes/.test(bodyText) ? say('Found.') : call('search', OK)))
    const agent = createAgent({
      model: modelOf(server),
      tools: toolsFor([]),
      middleware: [mulligan({ preset: 'full', defaults: { effect: 'read' }, limits: { requests: 3, calls: 1 } })],
    })
    const answers = await Promise.all([1, 2, 3].map(() => agent.invoke({ messages: 'Search.' })))
    expect(answers.map(({ messages }) => messages.at(-1)?.text)).toEqual(['Found.', 'Found.', 'Found.'])
  })
})

it('reports options that are invalid at once', () => {
  expect(() => mulligan({ preset: 'strict' as never })).toThrow('there is no preset "strict"')
  expect(() => mulligan({ tools: { search: { timeout: 60_000 } } })).toThrow(TypeError)
})
