/** Turns that are parked until a person answers. */
import { defineTool } from '@mulligan/core'
import { call, calls, lastToolResults, type Script, say } from '@mulligan/testing'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { STORES, search, start, stores } from './agent.fixture.ts'
import { type AgentOptions, createAgent, openStore, type Store } from './index.ts'
import { POSTGRES, stopPostgres } from './store/dialects.fixture.ts'
import { hasPostgres } from './store/postgres.fixture.ts'
import { taskOf } from './tasks/task-result.ts'
import { byTask, EXPLORE, GENERAL } from './tasks/tasks.fixture.ts'

const EACH = [
  ...STORES,
  ...(hasPostgres ? [['PostgreSQL', async () => openStore(await POSTGRES.place(''))] as const] : []),
] as const satisfies readonly (readonly [string, () => Promise<Store>])[]
afterAll(stopPostgres)

const asksAll: AgentOptions['policy'] = ({ tool }) => ({ decision: tool === 'task' ? 'allow' : 'ask', reason: '' })

describe.each(EACH)('a turn that needs approval, in %s', (_, open) => {
  beforeEach(() => {
    stores.open = open
  })

  /** @returns a parked turn, and the texts that were sent */
  async function parked(script: Script, options: Partial<AgentOptions> = {}) {
    const sent: string[] = []
    const send = defineTool({
      name: 'send',
      description: 'Sends.',
      effect: 'external',
      input: z.object({ text: z.string() }),
      target: ({ text }) => text,
      execute: ({ text }) => {
        sent.push(text)
        return { sent: text }
      },
    })
    const approve: AgentOptions['approve'] = async (request, __, given) => given ?? { question: { target: request.target } }
    const run = await start(script, 'openai', { tools: [search, send], approve, ...options })
    const outcome = await run.agent.run({ prompt: 'go' })
    const { sessionId } = outcome
    const pending = () => run.store.approvals({ sessionId, status: 'pending' })
    /** The agent of another process. */
    const other = (more: Partial<AgentOptions> = {}) => createAgent({ ...run.options, ...more })
    const end = async (): Promise<void> => {
      expect(run.server.violations).toEqual([])
      await run.server.close()
      await run.store.close()
    }
    return { ...run, outcome, sessionId, sent, pending, other, end }
  }

  it('waits in the store and holds nothing; another process goes on where it was', async () => {
    const { outcome, sessionId, sent, store, server, pending, other, end } = await parked([call('send', { text: 'a' }), say('Sent.')])
    expect(outcome).toMatchObject({ status: 'waiting', stoppedBy: 'approval' })
    expect([await store.claimed(sessionId), (await store.lastTurn(sessionId))?.status, sent]).toEqual([undefined, 'waiting', []])
    const [asked] = await pending()
    expect(asked).toMatchObject({
      kind: 'approval',
      callId: `${sessionId}/1/1/0`,
      question: { target: 'a' },
      hash: expect.stringMatching(/^\w{64}$/),
    })
    expect(await store.answer(asked?.id ?? '', { answer: 'once' })).toBe(true)
    expect(await other().resume(sessionId)).toMatchObject({ status: 'answered', answer: 'Sent.', requests: 2 })
    expect([sent, server.requests.length, (await store.lastTurn(sessionId))?.status]).toEqual([['a'], 2, 'answered'])
    const types = (await store.events({ sessionId })).map(({ type }) => type)
    expect(types.filter((type) => /approval|waiting|started|ended/.test(type))).toEqual([
      ...['turn.started', 'tool.approval.required', 'turn.waiting', 'turn.started', 'tool.approval.resolved', 'tool.started', 'turn.ended'],
    ])
    await end()
  })

  it('resumed without an answer, it waits for the same question', async () => {
    const { sessionId, sent, pending, other, end } = await parked([call('send', { text: 'a' }), say('Sent.')])
    const before = await pending()
    expect(await other().resume(sessionId)).toMatchObject({ status: 'waiting' })
    expect([await pending(), sent]).toEqual([before, []])
    await end()
  })

  it('a denial reaches the model with its reason', async () => {
    const { sessionId, sent, store, server, pending, other, end } = await parked([call('send', { text: 'a' }), say('All right.')])
    const [asked] = await pending()
    await store.answer(asked?.id ?? '', { answer: 'no', reason: 'too early' })
    expect(await other().resume(sessionId)).toMatchObject({ status: 'answered', calls: [{ result: { status: 'denied' } }] })
    expect(lastToolResults(server.requests.at(-1) as never)[0]?.text).toContain('The user said no. Reason: too early')
    expect(sent).toEqual([])
    await end()
  })

  it('of many answers at once the first one counts', async () => {
    const { sessionId, sent, store, pending, other, end } = await parked([call('send', { text: 'a' }), say('Sent.')])
    const [asked] = await pending()
    const given = await Promise.all(Array.from({ length: 10 }, () => store.answer(asked?.id ?? '', { answer: 'once' })))
    expect(given.filter(Boolean)).toEqual([true])
    const resumed = await Promise.allSettled(Array.from({ length: 5 }, () => other().resume(sessionId)))
    expect(resumed.some((one) => one.status === 'fulfilled' && one.value?.status === 'answered')).toBe(true)
    expect([sent, await store.answer(asked?.id ?? '', { answer: 'no' }), await store.answer('unknown', { answer: 'once' })]).toEqual([
      ['a'],
      false,
      false,
    ])
    await end()
  })

  it('an answer is for the effect that was shown: a question about another one is asked again', async () => {
    const { sessionId, sent, store, pending, other, end } = await parked([call('send', { text: 'a' }), say('Sent.')])
    const [asked] = await pending()
    await store.answer(asked?.id ?? '', { answer: 'once' })
    const changed: Store = {
      ...store,
      approvals: async (filter) => (await store.approvals(filter)).map((row) => ({ ...row, hash: 'of another' })),
    }
    expect(await other({ store: changed }).resume(sessionId)).toMatchObject({ status: 'waiting' })
    expect([sent, (await pending()).map(({ id }) => id === asked?.id)]).toEqual([[], [false]])
    await end()
  })

  it('a new message declines it; the model learns why, and a late answer is refused', async () => {
    const { sessionId, sent, store, server, pending, other, end } = await parked([
      calls(['search', { query: 'x' }], ['send', { text: 'a' }], ['send', { text: 'b' }]),
      say('Instead.'),
    ])
    const [asked] = await pending()
    expect(await other().run({ sessionId, prompt: 'do something else' })).toMatchObject({ status: 'answered', answer: 'Instead.' })
    const results = lastToolResults({ ...(server.requests.at(-1) as object) } as never).map(({ text }) => text)
    const all = JSON.stringify(server.requests.at(-1)?.body)
    expect(all).toContain('The user sent another message instead of approving it.')
    expect([sent, results.length, await store.answer(asked?.id ?? '', { answer: 'once' }), await pending()]).toEqual([
      [],
      results.length,
      false,
      [],
    ])
    expect((await store.turns(sessionId)).map(({ status }) => status)).toEqual(['cancelled', 'answered'])
    await end()
  })

  it('it can be cancelled', async () => {
    const { sessionId, sent, pending, other, end } = await parked([call('send', { text: 'a' })])
    expect(await other().cancel(sessionId)).toMatchObject({ status: 'cancelled' })
    expect([sent, await pending(), await other().cancel(sessionId), await other().resume(sessionId)]).toEqual([
      [],
      [],
      undefined,
      undefined,
    ])
    await end()
  })

  it('cancelled just when it ended: what came after it is left alone', async () => {
    const { sessionId, store, pending, other, end } = await parked([call('send', { text: 'a' }), say('Sent.'), call('send', { text: 'b' })])
    const late: Store = {
      ...store,
      claim: async (...args) => {
        const [asked] = await pending()
        await store.answer(asked?.id ?? '', { answer: 'once' })
        await other().resume(sessionId)
        await other().run({ sessionId, prompt: 'and b' })
        return store.claim(...args)
      },
    }
    expect(await other({ store: late }).cancel(sessionId)).toMatchObject({ status: 'cancelled', turnId: `${sessionId}/2` })
    expect((await store.turns(sessionId)).map(({ status }) => status)).toEqual(['answered', 'cancelled'])
    await end()
  })

  it('questions of reads side by side are asked together, and the turn goes on after the last answer', async () => {
    const policy: AgentOptions['policy'] = ({ input }) => ({ decision: input['query'] === 'free' ? 'allow' : 'ask', reason: 'all ask' })
    const { sessionId, store, pending, other, end } = await parked(
      [calls(['search', { query: 'one' }], ['search', { query: 'free' }], ['search', { query: 'two' }]), say('Found.')],
      { policy },
    )
    const [first, second] = await pending()
    await store.answer(second?.id ?? '', { answer: 'once' })
    expect(await other().resume(sessionId)).toMatchObject({ status: 'waiting' })
    expect(await pending()).toEqual([first])
    await store.answer(first?.id ?? '', { answer: 'no' })
    const outcome = await other().resume(sessionId)
    expect(outcome?.calls.map(({ result }) => (result.ok ? 'ok' : result.status))).toEqual(['denied', 'ok', 'ok'])
    await end()
  })

  it('where nobody can answer, it is denied at once, as before', async () => {
    const { outcome, pending, sent, end } = await parked([call('send', { text: 'a' }), say('Not sent.')], {
      approve: async () => ({ answer: 'nobody' }),
    })
    expect([outcome.status, await pending(), sent]).toEqual(['needs_approval', [], []])
    await end()
  })

  describe('because of a task', () => {
    const tasks = [EXPLORE, GENERAL]
    const task = (agent: string, text: string): readonly [string, object] => ['task', { agent, task: text }]
    const WORK = byTask({
      go: [calls(task('general', 'A: send a')), say('All is done.')],
      'A:': [calls(['search', { query: 'x' }], ['send', { text: 'a' }]), say('a is sent.')],
    })
    const asks: AgentOptions['approve'] = async ({ agent, target }, _, given) => given ?? { question: { agent, target } }

    it('waits for its person with who asks, and another process goes on where the task was', async () => {
      const { outcome, sessionId, sent, store, server, pending, other, end } = await parked(WORK, { tasks, approve: asks })
      expect(outcome).toMatchObject({ status: 'waiting', calls: [] })
      const [row, ...more] = await pending()
      expect(row).toMatchObject({
        turnId: `${sessionId}/1`,
        callId: `${sessionId}/1/1/0/1/1/1`,
        question: { agent: 'general', target: 'a' },
      })
      expect([more, sent, await store.claimed(`${sessionId}/1/1/0`)]).toEqual([[], [], undefined])
      expect(await other().resume(sessionId)).toMatchObject({ status: 'waiting' })
      expect(await pending()).toEqual([row])
      await store.answer(row?.id ?? '', { answer: 'once' })
      const done = await other().resume(sessionId)
      expect(done).toMatchObject({ status: 'answered', answer: 'All is done.', requests: 4, ledger: { changed: [{ target: 'a' }] } })
      expect(done?.calls.map((record) => taskOf(record)?.answer)).toEqual(['a is sent.'])
      expect([sent, server.requests.length]).toEqual([['a'], 4])
      const results = (await store.events({ sessionId: `${sessionId}/1/1/0` })).filter(({ type }) => type === 'tool.result')
      expect(results).toHaveLength(2)
      await end()
    })

    it('those that read ask together; one that changes something waits for the one before it', async () => {
      const model = byTask({
        go: [calls(task('explore', 'A: look'), task('general', 'B: send b'), task('general', 'C: send c')), say('All is done.')],
        'A:': [call('search', { query: 'x' }), say('x is there.')],
        'B:': [call('send', { text: 'b' }), say('b is sent.')],
        'C:': [call('send', { text: 'c' }), say('c is sent.')],
      })
      const { sessionId, sent, store, server, pending, other, end } = await parked(model, { tasks, approve: asks, policy: asksAll })
      const answerAll = async () => {
        const rows = await pending()
        for (const { id } of rows) await store.answer(id, { answer: 'once' })
        return rows.map(({ question }) => (question as { target: string }).target)
      }
      expect(await answerAll()).toEqual(['{"query":"x"}', 'b'])
      expect(await other().resume(sessionId)).toMatchObject({ status: 'waiting' })
      expect([await answerAll(), sent]).toEqual([['c'], ['b']])
      expect(await other().resume(sessionId)).toMatchObject({ status: 'answered', answer: 'All is done.' })
      expect([sent, server.requests.length]).toEqual([['b', 'c'], 8])
      await end()
    })

    it('a denial reaches the task with its reason; a new message ends both', async () => {
      const model = byTask({
        go: [calls(task('general', 'A: send a')), calls(task('general', 'B: send b')), say('Fine.'), say('Fine.')],
        'A:': [call('send', { text: 'a' }), say('It was denied.')],
        'B:': [call('send', { text: 'b' })],
      })
      const { sessionId, sent, store, server, pending, other, end } = await parked(model, { tasks, approve: asks })
      const [first] = await pending()
      await store.answer(first?.id ?? '', { answer: 'no', reason: 'not today' })
      expect(await other().resume(sessionId)).toMatchObject({ status: 'waiting' })
      expect(JSON.stringify(server.requests.map(({ body }) => body))).toContain('not today')
      const [second] = await pending()
      const after = await other().run({ sessionId, prompt: 'instead' })
      expect([after.answer, sent, await store.answer(second?.id ?? '', { answer: 'once' })]).toEqual(['Fine.', [], false])
      expect((await store.lastTurn(`${sessionId}/1/2/0`))?.status).toBe('interrupted')
      await end()
    })
  })

  it('a deleted session takes its questions with it', async () => {
    const { sessionId, store, pending, end } = await parked([call('send', { text: 'a' })])
    const [asked] = await pending()
    expect(await store.deleteSession(sessionId)).toEqual({})
    expect([await store.approval(asked?.id ?? ''), await store.answer(asked?.id ?? '', { answer: 'once' })]).toEqual([undefined, false])
    await end()
  })
})
