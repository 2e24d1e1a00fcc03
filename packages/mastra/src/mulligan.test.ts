import { createTool } from '@mastra/core/tools'
import { call, calls, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { barrier, HEALTHY, OK } from '../../core/src/adapter/healthy.fixture.ts'
import { agentOf, run, toldIn } from './agent.fixture.ts'
import { mulligan, type TurnEvent } from './index.ts'

describe('a healthy agent', () => {
  it.each(HEALTHY)('is not changed: %s', async (_, script) => {
    const [plain, adopted] = [await run(script, false), await run(script)]
    expect(adopted).toEqual(plain)
  })

  it('keeps the concurrency of its tools', async () => {
    const together = barrier(2)
    const wait = createTool({
      id: 'wait',
      description: 'Waits.',
      inputSchema: z.object({ n: z.int() }),
      execute: () => together().then(() => 'done'),
    })
    await using server = await scriptedModel([calls(['wait', { n: 1 }], ['wait', { n: 2 }]), say('Done.')])
    await agentOf(server, [], {}, { tools: { wait } }).generate('Wait.')
    expect(server.requests).toHaveLength(2)
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
    expect(seen.requests.join()).not.toContain('refused_call')
  })

  it('names the nearest tool', async () => {
    const seen = await run([call('find_notes_by_words', OK), say('I see.')])
    expect(toldIn(seen)).toMatch(/^retry \(unknown_tool\): There is no tool named "find_notes_by_words"/)
    expect(seen.answer).toBe('I see.')
  })

  it('gets an id of its own if the server uses one twice', async () => {
    const { ran, answer } = await run([calls(['search', OK, 'call_0']), calls(['search', { query: 'more' }, 'call_0']), say('Found.')])
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
    expect(toldIn(seen)).not.toMatch(/ at |\.ts:/)
    expect(logged).toHaveLength(1)
  })

  it('shows them without the processor', async () => {
    const seen = await run([call('fails', {}), say('It failed.')], false)
    expect(seen.requests.join()).toContain('hunter2')
  })

  it('is cut off after the timeout that is set, and its signal is aborted', async () => {
    let isAborted = false
    const hang = createTool({
      id: 'hang',
      description: 'Hangs.',
      inputSchema: z.object({}),
      execute: (_, { abortSignal }) =>
        new Promise<string>((_, reject) => {
          abortSignal?.addEventListener('abort', () => {
            isAborted = true
            reject(abortSignal.reason)
          })
        }),
    })
    await using server = await scriptedModel([call('hang', {}), say('It hangs.')])
    await agentOf(server, [], { tools: { hang: { effect: 'read', timeout: 0.05 } } }, { tools: { hang } }).generate('Wait.')
    expect(toldIn({ requests: server.requests.map(({ bodyText }) => bodyText) })).toMatch(/^failed \(timeout\)/)
    expect(isAborted).toBe(true)
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

  it('counts each run of an agent apart, also two at once', async () => {
    await using server = await scriptedModel(({ bodyText }) => (/three notes/.test(bodyText) ? say('Found.') : call('search', OK)))
    const agent = agentOf(server, [], { preset: 'full', defaults: { effect: 'read' }, limits: { calls: 1 } })
    const answers = await Promise.all([1, 2, 3].map(() => agent.generate('Search.')))
    expect(answers.map(({ text }) => text)).toEqual(['Found.', 'Found.', 'Found.'])
  })
})

it('reports options that are invalid at once', () => {
  expect(() => mulligan({ preset: 'strict' as never })).toThrow('there is no preset "strict"')
  expect(() => mulligan({ tools: { search: { timeout: 60_000 } } })).toThrow(TypeError)
})
