/** Tasks for other agents: turns within a turn, on each store, against a strict model server. */
import { defineTool, ToolFailure } from '@mulligan/core'
import { call, calls, say } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { save, search, start } from '../agent.fixture.ts'
import type { AgentEvent, AgentOptions } from '../index.ts'
import { onStores } from '../stores.fixture.ts'
import { taskOf } from './task-result.ts'
import { byTask, EXPLORE, GENERAL, messagesOf } from './tasks.fixture.ts'

const tasks = [EXPLORE, GENERAL]
const task = (agent: string, text: string): readonly [string, object] => ['task', { agent, task: text }]

/** Fetches from outside the machine. */
const fetchPage = defineTool({
  name: 'fetch_page',
  description: 'Fetches a page.',
  effect: 'read',
  untrusted: true,
  readsWorkspace: false,
  sends: 'query',
  input: z.object({ page: z.string() }),
  execute: ({ page }) => `the page ${page}`,
})
const post = defineTool({
  name: 'post',
  description: 'Posts a text.',
  input: z.object({ text: z.string() }),
  target: ({ text }) => text,
  execute: () => 'posted',
})
const post_allowed: AgentOptions['policy'] = () => ({ decision: 'allow', reason: '' })

onStores('tasks', () => {
  it('three that read at once and one that writes: one ledger, one sum, and each has a context of its own', async () => {
    const model = byTask({
      'the work': [
        calls(task('explore', 'A: look for a'), task('explore', 'B: look for b'), task('explore', 'C: look for c')),
        calls(task('general', 'D: write d')),
        say('All is done.'),
      ],
      'A:': [call('search', { query: 'a' }), say('a is there.')],
      'B:': [call('search', { query: 'b' }), say('b is there.')],
      'C:': [say('No need to look.')],
      'D:': [call('save', { path: 'd.md', text: 'd' }), say('d is written.')],
    })
    const { server, agent, events, store } = await start(model, 'openai', { tasks })
    const outcome = await agent.run({ prompt: 'do the work' })
    expect(outcome).toMatchObject({ status: 'answered', answer: 'All is done.', requests: 10 })
    expect(outcome.ledger).toEqual({
      changed: [{ callId: `${outcome.turnId}/2/0/1/1/0`, tool: 'save', effect: 'write', target: 'd.md' }],
      failed: [],
      unknown: [],
    })
    expect(outcome.calls.map((record) => [record.tool, taskOf(record)?.answer])).toEqual([
      ['task', 'a is there.'],
      ['task', 'b is there.'],
      ['task', 'No need to look.'],
      ['task', 'd is written.'],
    ])
    // A task knows nothing of the conversation, and the conversation nothing of the task but its answer.
    const ofTask = server.requests.filter((request) => JSON.stringify(messagesOf(request)).includes('D: write d'))
    expect(ofTask.some((request) => JSON.stringify(messagesOf(request)).includes('do the work') && messagesOf(request).length < 4)).toBe(
      false,
    )
    const last = server.requests.at(-1)
    expect(JSON.stringify(last && messagesOf(last))).toContain('d is written.\\nChanged: save d.md.')
    const nested = events.flatMap((event) => (event.type === 'task.event' ? [[event.agent, event.event.type]] : []))
    expect(nested).toContainEqual(['explore', 'tool.result'])
    expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(1)
    expect(outcome.usage.inputTokens).toBe(
      (await Promise.all([outcome.sessionId, ...outcome.calls.map(({ id }) => id)].map((sessionId) => store.events({ sessionId }))))
        .flat()
        .reduce((sum, event) => sum + (event.type === 'usage' ? event.usage.inputTokens : 0), 0),
    )
    expect((await store.sessions()).map(({ id }) => id)).toEqual([outcome.sessionId])
    await store.deleteSession(outcome.sessionId)
    expect(await store.session(`${outcome.turnId}/2/0`)).toBeUndefined()
    await server.close()
  })

  it('has no tool that the agent that gave it does not have, and gives no tasks itself', async () => {
    const model = byTask({
      'the work': [calls(task('general', 'D: write d')), say('Done.')],
      'D:': [call('save', { path: 'd.md', text: 'd' }), say('I could not.')],
    })
    const role = { name: 'plan', withholds: EXPLORE.role.withholds as NonNullable<AgentOptions['role']>['withholds'] & object }
    const { server, agent } = await start(model, 'openai', { tasks, role })
    const outcome = await agent.run({ prompt: 'do the work' })
    expect(outcome.ledger.changed).toEqual([])
    const request = server.requests.find((one) => JSON.stringify(messagesOf(one)).includes('D: write d'))
    expect((request?.body as { tools: { function: { name: string } }[] }).tools.map((tool) => tool.function.name)).toEqual(['search'])
    await server.close()
  })

  it('approvals reach the person, with who asks; a task that nobody approves makes the turn wait for approval', async () => {
    const model = byTask({
      'the work': [calls(task('general', 'D: write d')), say('Done.')],
      'D:': [call('save', { path: 'd.md', text: 'd' }), say('d.')],
    })
    const asked: unknown[] = []
    const { server, agent } = await start(model, 'openai', {
      tasks,
      approve: async ({ agent, tool, target }) => {
        asked.push([agent, tool, target])
        return { answer: 'nobody' }
      },
    })
    expect(await agent.run({ prompt: 'do the work' })).toMatchObject({ status: 'needs_approval' })
    expect(asked).toEqual([['general', 'save', 'd.md']])
    await server.close()
  })

  it('what a task has read from outside makes effects of its turn need a person, and the other way round', async () => {
    const model = byTask({
      'outside first': [calls(task('explore', 'A: fetch')), call('post', { text: 'one' }), say('Done.')],
      'A:': [call('fetch_page', { page: 'x' }), say('x.')],
      'inside first': [call('fetch_page', { page: 'y' }), calls(task('general', 'B: post')), say('Done.')],
      'B:': [call('post', { text: 'two' }), say('y.')],
      'nothing read': [calls(task('explore', 'C: look')), call('post', { text: 'three' }), say('Done.')],
      'C:': [call('search', { query: 'c' }), say('c.')],
    })
    const asked: string[] = []
    const options: Partial<AgentOptions> = {
      ...{ tasks, tools: [search, save, fetchPage, post], policy: post_allowed },
      approve: async ({ target }) => {
        asked.push(target)
        return { answer: 'no' }
      },
    }
    const { server, agent } = await start(model, 'openai', options)
    for (const prompt of ['outside first', 'inside first', 'nothing read']) await agent.run({ prompt })
    expect(asked).toEqual(['one', 'two'])
    await server.close()
  })
})

onStores('the limits of a turn', () => {
  const work = (count: number) => calls(...Array.from({ length: count }, (_, at) => task('explore', `T${at}: look`)))
  const script = (count: number) => ({
    'the work': [work(count), work(count), work(count), say('Done.')],
    ...Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`T${at}:`, Array.from({ length: 30 }, (__, n) => call('search', { query: `${at} ${n}` }))]),
    ),
  })

  it.each([
    ['requests', { requests: 12 }, 3],
    ['calls', { requests: 100, calls: 20 }, 3],
    ['tokens', { requests: 100, tokens: 30_000 }, 2],
  ] as const)('hold for all of its tasks together: %s', async (_, limits, count) => {
    const { server, agent, events } = await start(byTask(script(count)), 'openai', { tasks, limits })
    const outcome = await agent.run({ prompt: 'do the work' })
    const made = events
      .flatMap((event: AgentEvent) => (event.type === 'task.event' ? [event.event] : [event]))
      .filter(({ type }) => type === 'tool.result')
    expect(server.requests.length).toBeLessThanOrEqual(limits.requests)
    expect(outcome.requests).toBe(server.requests.length)
    if ('calls' in limits)
      expect(made.filter((event) => event.type === 'tool.result' && event.attempts > 0).length).toBeLessThanOrEqual(limits.calls)
    if ('tokens' in limits) expect(outcome.usage.inputTokens + outcome.usage.outputTokens).toBeLessThanOrEqual(limits.tokens)
    expect(outcome.answer).not.toBe('')
    await server.close()
  })
})

it('of those that change something, one works at a time', async () => {
  const running: string[] = []
  let most = 0
  const touch = defineTool({
    name: 'touch',
    description: 'Touches a file.',
    effect: 'write',
    input: z.object({ path: z.string() }),
    execute: async ({ path }) => {
      most = Math.max(most, running.push(path))
      await new Promise((resolve) => setImmediate(resolve))
      running.pop()
      return path
    },
  })
  const model = byTask({
    'the work': [calls(task('general', 'A: touch'), task('general', 'B: touch')), say('Done.')],
    'A:': [calls(['touch', { path: 'a1' }], ['touch', { path: 'a2' }]), say('a.')],
    'B:': [calls(['touch', { path: 'b1' }], ['touch', { path: 'b2' }]), say('b.')],
  })
  const { server, agent, events } = await start(model, 'openai', { tasks, tools: [touch] })
  await agent.run({ prompt: 'do the work' })
  const order = events.flatMap((event) =>
    event.type === 'task.event' && event.event.type === 'turn.ended'
      ? ['end']
      : event.type === 'task.event' && event.event.type === 'turn.started'
        ? ['start']
        : [],
  )
  expect([most, order]).toEqual([1, ['start', 'end', 'start', 'end']])
  await server.close()
})

it('what may have taken effect in a task needs a person in its turn, and the other way round', async () => {
  const cut = defineTool({
    name: 'cut',
    description: 'Writes, and is cut off.',
    effect: 'write',
    input: z.object({ to: z.string() }),
    target: ({ to }) => to,
    execute: ({ to }) => {
      throw new ToolFailure('It was cut off.', { errorType: 'network', status: 'indeterminate', details: { to } })
    },
  })
  const model = byTask({
    'task first': [calls(task('general', 'A: cut')), call('cut', { to: 'x' }), say('Done.')],
    'A:': [call('cut', { to: 'x' }), say('a.')],
    'turn first': [call('cut', { to: 'y' }), calls(task('general', 'B: cut')), say('Done.')],
    'B:': [call('cut', { to: 'y' }), say('b.')],
    'nothing before': [call('cut', { to: 'z' }), say('Done.')],
  })
  const asked: string[] = []
  const { server, agent } = await start(model, 'openai', {
    ...{ tasks, tools: [cut], policy: post_allowed },
    approve: async ({ target }) => {
      asked.push(target)
      return { answer: 'no' }
    },
  })
  for (const prompt of ['task first', 'turn first', 'nothing before']) await agent.run({ prompt })
  expect(asked).toEqual(['x', 'y'])
  await server.close()
})

it('stopping a turn stops its tasks', async () => {
  const stop = new AbortController()
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    effect: 'read',
    input: z.object({}),
    execute: async (_, { signal }) => {
      queueMicrotask(() => stop.abort())
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  const model = byTask({ 'the work': [calls(task('explore', 'A: wait'))], 'A:': [call('wait', {})] })
  const { server, agent } = await start(model, 'openai', { tasks, tools: [wait] })
  expect(await agent.run({ prompt: 'do the work', signal: stop.signal })).toMatchObject({ status: 'cancelled' })
  await server.close()
})

it('without agents for tasks there is no such tool', async () => {
  const { server, agent } = await start([call('task', { agent: 'explore', task: 'x' }), say('Done.')])
  expect((await agent.run({ prompt: 'x' })).calls[0]?.result).toMatchObject({ ok: false, errorType: 'unknown_tool' })
  await server.close()
})
