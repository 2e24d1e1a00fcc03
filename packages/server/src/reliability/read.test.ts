/** What is read of a store for the figures. */
import { type AgentEvent, openStore, type Store } from '@mulligan/agent'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createReliabilityReader, readReliability } from './read.ts'

const DAY = 86_400_000
const NOW = 1_790_000_000_000

let store: Store
beforeEach(async () => {
  // Only the date: stored times come from it.
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  store = await openStore(':memory:')
})
afterEach(async () => {
  vi.useRealTimers()
  await store.close()
})

const ids = new Map<string, number>()
beforeEach(() => ids.clear())

/** Adds a turn with one call, some days ago. */
async function turn(sessionId: string, days: number, tool: string, number = 1): Promise<void> {
  vi.setSystemTime(NOW - days * DAY)
  if (number === 1) await store.createSession({ id: sessionId, cwd: sessionId.startsWith('b') ? '/b' : '/a', title: 'x' })
  const turnId = `${sessionId}/${number}`
  await store.startTurn({ id: turnId, sessionId, prompt: 'x', model: 'm' }, { role: 'user', id: `${turnId}/0`, turnId, text: 'x' })
  const outcome = { sessionId, turnId, status: 'answered', answer: 'secret words', requests: 1 } as const
  const whole = { ...outcome, usage: { inputTokens: 1, outputTokens: 1 }, ledger: { changed: [], failed: [], unknown: [] } }
  const about = { callId: `${turnId}/1/0`, step: 1, ordinal: 0, tool, effect: 'read' as const }
  await add(sessionId, turnId, { type: 'turn.started', prompt: 'x', model: 'm', where: 'here', resumed: false })
  await add(sessionId, turnId, { type: 'tool.call', ...about, input: {} })
  const result = { ok: true as const, data: 'secret words' }
  await add(sessionId, turnId, { type: 'tool.result', ...about, inputKey: '{}', attempts: 1, durationMs: 5, result })
  const record = { ...about, id: about.callId, target: '', input: {}, attempts: 1, repairs: [], durationMs: 5, result }
  await store.saveCall(sessionId, turnId, record)
  await store.endTurn(whole)
  await add(sessionId, turnId, { type: 'turn.ended', outcome: whole })
  vi.setSystemTime(NOW)
}

async function add(sessionId: string, turnId: string, event: object): Promise<void> {
  const id = (ids.get(sessionId) ?? 0) + 1
  ids.set(sessionId, id)
  await store.append([{ ...event, id, sessionId, turnId, at: Date.now() } as unknown as AgentEvent], false)
}

/** The store, with the sessions whose events were read. */
function watched() {
  const read: string[] = []
  const events: Store['events'] = (filter) => {
    read.push(filter.sessionId)
    return store.events(filter)
  }
  return { read, store: { ...store, events } }
}

describe('the figures of a period', () => {
  it('are by default those of the last 30 days, of which alone events are read', async () => {
    await turn('old', 100, 'grep')
    await turn('a', 60, 'old_tool')
    await turn('a', 2, 'bash', 2)
    await turn('a/2/1/0', 2, 'task_tool')
    await turn('b', 1, 'git_log')
    const { read, store: seen } = watched()
    const tools = async (query = {}) => (await readReliability(seen, query)).tools.map(({ tool }) => tool).toSorted()
    expect(await tools()).toEqual(['bash', 'git_log', 'task_tool'])
    expect(read.toSorted()).toEqual(['a', 'a/2/1/0', 'b'])
    expect(await tools({ cwd: '/b' })).toEqual(['git_log'])
    expect(await tools({ session: 'a' })).toEqual(['bash', 'old_tool', 'task_tool'])
    expect(await tools({ since: 0 })).toEqual(['bash', 'git_log', 'grep', 'old_tool', 'task_tool'])
    expect(await tools({ until: NOW - 50 * DAY })).toEqual(['old_tool'])
    // Of a session, turns that ended before the period are not read.
    expect((await store.events({ sessionId: 'a', since: NOW - 30 * DAY })).map(({ turnId }) => turnId)).not.toContain('a/1')
  })

  it('are those of every event, whatever is kept', async () => {
    for (const [at, id] of ['a', 'b', 'c'].entries()) await turn(id, at, `tool_${id}`)
    const reader = createReliabilityReader(store)
    const none = createReliabilityReader(store, 0)
    for (const query of [{}, { since: 0 }, { since: NOW - 1.5 * DAY }, { tool: 'tool_a' }, {}]) {
      const whole = await readReliability(store, query)
      expect([await reader(query), await none(query)]).toEqual([whole, whole])
    }
  })

  it('are read again only for sessions that have changed', async () => {
    await turn('a', 2, 'bash')
    await turn('b', 1, 'grep')
    const { read, store: seen } = watched()
    const reader = createReliabilityReader(seen)
    await reader()
    expect(read.splice(0).toSorted()).toEqual(['a', 'b'])
    expect((await reader({ tool: 'bash' })).total.calls).toBe(1)
    expect(read).toEqual([])
    await turn('b', 0, 'grep', 2)
    expect((await reader()).total.calls).toBe(3)
    expect(read.splice(0)).toEqual(['b'])
    // More of the past is needed.
    await reader({ since: 0 })
    expect(read.splice(0).toSorted()).toEqual(['a', 'b'])
    await reader()
    expect(read).toEqual([])
  })
})
