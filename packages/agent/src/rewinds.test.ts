/** Rewinds and branches, on each store, against a strict model server. */
import { call, say } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { start } from './agent.fixture.ts'
import {
  branchSession,
  createAgent,
  type RecordedFiles,
  RewindConflict,
  type Store,
  takenBack,
  UnknownSession,
  UnknownTurn,
} from './index.ts'
import { onStores } from './stores.fixture.ts'

type Sent = { readonly body: unknown }
const sent = (request: Sent | undefined): string => JSON.stringify((request?.body as { messages?: unknown }).messages)

onStores('a rewind', () => {
  it('takes the conversation back, keeps it in the store, and tells the model once', async () => {
    const { server, agent, events } = await start([
      say('One.'),
      call('save', { path: 'b.md', text: 'b' }),
      say('Two.'),
      say('Three.'),
      say('Four.'),
    ])
    const { sessionId } = await agent.run({ prompt: 'first' })
    await agent.run({ sessionId, prompt: 'second' })
    const report = await agent.rewind(sessionId, { from: `${sessionId}/2` })
    expect(report).toEqual({ prompt: 'second', turns: 1, undone: [], left: [], effects: ['save b.md'] })
    expect(events.at(-1)).toMatchObject({ type: 'session.rewound', from: `${sessionId}/2`, scope: 'both' })
    const { turnId } = await agent.run({ sessionId, prompt: 'other' })
    expect(turnId).toBe(`${sessionId}/3`)
    const request = sent(server.requests.at(-1))
    expect(request).toMatch(
      /first.*One\..*I have taken our conversation back.*What else you did after it was not undone: save b\.md\..*other/,
    )
    expect(request).not.toContain('second')
    await agent.run({ sessionId, prompt: 'last' })
    expect(sent(server.requests.at(-1)).match(/taken our conversation back/g)).toHaveLength(1)
    await server.close()
  })

  it('of the files undoes turns from the latest on, and leaves the conversation', async () => {
    const order: string[] = []
    const files: RecordedFiles = {
      changes: async (id) => [1, 2, 3].map((turn) => ({ turn: `${id}/${turn}`, paths: [`${turn}.md`] })),
      conflicts: async () => [],
      undo: async (turn) => {
        order.push(turn)
        return []
      },
    }
    const { server, agent } = await start([say('One.'), say('Two.'), say('Three.'), say('Four.')], 'openai', { files })
    const { sessionId } = await agent.run({ prompt: 'first' })
    for (const prompt of ['second', 'third']) await agent.run({ sessionId, prompt })
    const { undone } = await agent.rewind(sessionId, { from: `${sessionId}/2`, scope: 'files' })
    expect([undone, order]).toEqual([order, [`${sessionId}/3`, `${sessionId}/2`]])
    await agent.run({ sessionId, prompt: 'on' })
    expect(sent(server.requests.at(-1))).toMatch(/second.*third.*on/)
    await server.close()
  })
})

onStores('a message that replaces a turn', () => {
  const NEVER = new Promise<never>(() => undefined)

  async function twoTurns() {
    const set = await start([say('One.'), say('Two.'), say('Three.'), say('Four.')])
    const { sessionId } = await set.agent.run({ prompt: 'first' })
    await set.agent.run({ sessionId, prompt: 'second' })
    const types = async () => (await set.store.events({ sessionId })).map(({ type }) => type)
    /** Runs the turn again in a process that ends where `change` says. */
    const cutOff = async (change: (store: Store) => Store, died: Promise<unknown>) => {
      const dying = createAgent({ ...set.options, store: change(set.store), onEvent: () => undefined })
      void dying.run({ sessionId, prompt: 'second', replaces: `${sessionId}/2` })
      await died
      return types()
    }
    return { ...set, sessionId, types, cutOff }
  }

  it('is stored with the rewind or not at all, so that a process that ends before loses nothing and one that ends after repeats nothing', async () => {
    const { server, agent, store, sessionId, types, cutOff, events } = await twoTurns()
    const before = await types()
    const early = Promise.withResolvers<void>()
    const never: Store['startTurn'] = async () => {
      early.resolve()
      return NEVER
    }
    expect(await cutOff((one) => ({ ...one, startTurn: never }), early.promise)).toEqual(before)
    const late = Promise.withResolvers<void>()
    const noReply: Store['startTurn'] = async (...args) => {
      await store.startTurn(...args)
      late.resolve()
      return NEVER
    }
    expect(await cutOff((one) => ({ ...one, startTurn: noReply, claim: (id) => one.claim(id, { takeOver: true }) }), late.promise)).toEqual(
      [...before, 'session.rewound'],
    )
    expect((await store.turns(sessionId)).map(({ status }) => status)).toEqual(['answered', 'answered', 'running'])
    expect(await agent.resume(sessionId, { takeOver: true })).toMatchObject({ turnId: `${sessionId}/3`, answer: 'Three.' })
    expect(sent(server.requests.at(-1))).toMatch(/first.*One\..*I have taken our conversation back.*second/)
    expect(sent(server.requests.at(-1))).not.toContain('Two.')
    const { turnId } = await agent.run({ sessionId, prompt: 'fourth', replaces: `${sessionId}/3` })
    expect(turnId).toBe(`${sessionId}/4`)
    expect(events.filter(({ turnId }) => turnId === `${sessionId}/3`).at(-1)).toMatchObject({ type: 'session.rewound' })
    await expect(agent.run({ sessionId, prompt: 'x', replaces: `${sessionId}/3` })).rejects.toThrow(UnknownTurn)
    await server.close()
  })

  it('control: in two steps, a process that ends in between loses the message', async () => {
    const { server, agent, store, sessionId } = await twoTurns()
    await agent.rewind(sessionId, { from: `${sessionId}/2`, scope: 'conversation' })
    const isGone = takenBack(await store.rewinds(sessionId))
    expect((await store.turns(sessionId)).filter(({ id }) => !isGone(id)).map(({ prompt }) => prompt)).toEqual(['first'])
    await expect(agent.run({ sessionId, prompt: 'second', replaces: `${sessionId}/2` })).rejects.toThrow(UnknownTurn)
    await server.close()
  })
})

onStores('a rewind that can not be made', () => {
  it('is refused, and nothing is recorded', async () => {
    const blockedFiles: RecordedFiles = {
      changes: async (id) => [{ turn: `${id}/1`, paths: ['a.md'] }],
      conflicts: async () => [{ path: 'a.md', why: 'it was changed since' }],
      undo: async () => expect.unreachable(),
    }
    const { server, agent, events, store } = await start([say('One.')], 'openai', { files: blockedFiles })
    const { sessionId } = await agent.run({ prompt: 'first' })
    const before = events.length
    await expect(agent.rewind(sessionId, { from: `${sessionId}/1` })).rejects.toThrow(RewindConflict)
    await expect(agent.rewind(sessionId, { from: `${sessionId}/7` })).rejects.toThrow(UnknownTurn)
    await expect(agent.rewind('none', { from: 'none/1' })).rejects.toThrow(UnknownSession)
    await expect(branchSession(store, sessionId, { before: `${sessionId}/1` })).rejects.toThrow(UnknownTurn)
    expect(events).toHaveLength(before)
    await server.close()
  })
})

onStores('a rewind cut off before its files were restored', () => {
  it('is completed by the next turn', async () => {
    let store: Store | undefined
    let undone: string[] = []
    const files: RecordedFiles = {
      changes: async (id) => [{ turn: `${id}/2`, paths: undone.length > 0 ? [] : ['b.md'] }],
      conflicts: async () => [],
      undo: async (turn) => {
        undone = [...undone, turn]
        return []
      },
    }
    const { server, agent, ...set } = await start([say('One.'), say('Two.'), say('Three.')], 'openai', { files })
    const { sessionId } = await agent.run({ prompt: 'first' })
    await agent.run({ sessionId, prompt: 'second' })
    // The process ends between the intent and the files.
    const dead: RecordedFiles = { ...files, undo: () => new Promise(() => undefined) }
    store = set.store
    const cutOff = createAgent({ ...set.options, store, files: dead, onEvent: () => undefined })
    void cutOff.rewind(sessionId, { from: `${sessionId}/2` }).catch(() => undefined)
    await expect.poll(async () => (await (store as Store).rewinds(sessionId)).map(({ type }) => type)).toEqual(['session.rewound'])
    const next = createAgent({ ...set.options, store, files })
    await next.run({ sessionId, prompt: 'other', takeOver: true })
    expect(undone).toEqual([`${sessionId}/2`])
    expect((await store.rewinds(sessionId)).map(({ type }) => type)).toEqual(['session.rewound', 'session.restored'])
    expect(sent(server.requests.at(-1))).not.toMatch(/second|still contain/)
    await server.close()
  })
})

onStores('a branch', () => {
  it('is a session of its own with the conversation up to a message; the old one stays', async () => {
    const { server, agent, store } = await start([
      call('save', { path: 'a.md', text: 'a' }),
      say('One.'),
      say('Two.'),
      say('Three.'),
      say('Four.'),
    ])
    const { sessionId } = await agent.run({ prompt: 'first' })
    await agent.run({ sessionId, prompt: 'second' })
    const id = await branchSession(store, sessionId, { before: `${sessionId}/2` })
    expect(id).not.toBe(sessionId)
    expect(await store.session(id)).toMatchObject({ id, cwd: '/home/ann/notes', title: 'first', turns: 1 })
    expect(JSON.stringify([await store.history(id), await store.events({ sessionId: id }), await store.lastTurn(id)])).not.toContain(
      sessionId,
    )
    expect(await agent.run({ sessionId: id, prompt: 'other' })).toMatchObject({ turnId: `${id}/2`, answer: 'Three.' })
    expect(sent(server.requests.at(-1))).toMatch(/first.*a\.md.*One\..*other/)
    expect(sent(server.requests.at(-1))).not.toContain('second')
    await agent.run({ sessionId, prompt: 'on' })
    expect(sent(server.requests.at(-1))).toMatch(/first.*second.*Two\..*on/)
    server.assertDone()
    await server.close()
  })
})
