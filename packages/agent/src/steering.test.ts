/** Messages that join a running turn. */
import { ok } from '@mulligan/core'
import { call, lastToolResults, type RecordedRequest, say } from '@mulligan/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { PROTOCOLS, STORES, search, start, stores } from './agent.fixture.ts'
import { createAgent, type Message, memoryStore, type Steer } from './index.ts'

const EACH = PROTOCOLS.flatMap((protocol) => STORES.map(([store, open]) => [protocol, store, open] as const))

/** A person who says each text once, when the turn listens for it. */
function person(...said: readonly (readonly Steer[])[]) {
  const left = [...said]
  return { steering: () => left.shift() ?? [], left }
}

const messagesIn = ({ body }: RecordedRequest) => (body as { readonly messages: readonly { role: string; content: unknown }[] }).messages
const lastOf = (request: RecordedRequest): string => JSON.stringify(messagesIn(request).at(-1))
const rolesOf = (history: readonly Message[]): readonly string[] => history.map(({ role }) => role)

describe.each(EACH)('a message that joins a turn over %s, in %s', (protocol, _, open) => {
  beforeEach(() => {
    stores.open = open
  })

  it('is sent with the results of the calls before it, and is part of the conversation from then on', async () => {
    const { server, agent, store, events } = await start(
      [call('search', { query: 'a' }), call('search', { query: 'b' }), say('Done.'), say('Next.')],
      protocol,
    )
    const { steering } = person([{ text: 'only the newest' }, { text: 'and in English', mentions: ['.env'] }])
    const outcome = await agent.run({ prompt: 'find', steering })
    expect(outcome).toMatchObject({ status: 'answered', answer: 'Done.', requests: 3 })
    expect(messagesIn(server.requests[0] as RecordedRequest)).not.toContain('newest')
    expect(lastOf(server.requests[1] as RecordedRequest)).toContain('only the newest\\n\\nand in English')
    expect(lastToolResults(server.requests[2] as never)[0]?.text).toBe('found b')
    await agent.run({ sessionId: outcome.sessionId, prompt: 'next' })
    expect(JSON.stringify(messagesIn(server.requests[3] as RecordedRequest))).toContain('only the newest')
    const history = await store.history(outcome.sessionId)
    expect(rolesOf(history)).toEqual(['user', 'assistant', 'results', 'user', 'assistant', 'results', 'assistant', 'user', 'assistant'])
    expect(history[3]).toMatchObject({ step: 2, mentions: ['.env'], turnId: outcome.turnId })
    expect(events.filter(({ type }) => type === 'turn.steered')).toMatchObject([{ step: 2, text: 'only the newest\n\nand in English' }])
    expect(server.violations).toEqual([])
    await server.close()
  })

  it('is left where no request follows: after the answer, at a limit, and when the turn is stopped', async () => {
    const { server, agent } = await start([say('Done.'), call('search', { query: 'a' }), say('Found one.')], protocol)
    const after = person([{ text: 'too late' }])
    await agent.run({ prompt: 'go', steering: after.steering })
    expect(after.left).toHaveLength(1)
    const limited = createAgent({
      ...(await start([call('search', { query: 'a' }), say('Found.')], protocol)).options,
      limits: { requests: 2 },
    })
    const last = person([{ text: 'too late' }])
    expect(await limited.run({ prompt: 'go', steering: last.steering })).toMatchObject({ stoppedBy: 'requests' })
    expect(last.left).toHaveLength(1)
    await server.close()
  })

  it('is an address that the person gave, and names files', async () => {
    const asked: string[] = []
    const opened: string[] = []
    const fetch = {
      ...search,
      name: 'fetch',
      sends: 'address' as const,
      inputSchema: { type: 'object', properties: { url: { type: 'string' } } } as const,
      target: ({ url }: { url?: unknown }) => String(url),
      secrets: () => ['.env'],
      execute: async (_: unknown, { secrets = [] }: { readonly secrets?: readonly string[] }) => {
        opened.push(...secrets)
        return ok('page')
      },
    }
    const { server, agent } = await start(
      [call('search', { query: 'a' }), call('fetch', { url: 'https://docs.example/a' }), say('Done.')],
      protocol,
      {
        tools: [search, fetch as never],
        approve: async ({ target }) => {
          asked.push(target)
          return { answer: 'no' }
        },
      },
    )
    const { steering } = person([{ text: 'it is at https://docs.example/a', mentions: ['.env'] }])
    await agent.run({ prompt: 'look it up', steering })
    expect(asked).toEqual([])
    expect(opened).toEqual(['.env'])
    await server.close()
  })
})

it('a resumed turn sends it at the same place, even if its reply is older than its step', async () => {
  const store = memoryStore({ strict: true })
  const { server, agent, options } = await start(
    [call('search', { query: 'a' }), say('x', { fault: { hang: true } }), say('Done.')],
    'openai',
    {
      store,
    },
  )
  const stop = new AbortController()
  const { steering } = person([{ text: 'be brief' }])
  const dying = { ...store, endTurn: () => new Promise<never>(() => undefined), saveMessage: store.saveMessage }
  const first = createAgent({
    ...options,
    store: dying,
    onEvent: ({ type }) => type === 'turn.steered' && setTimeout(() => stop.abort(), 20),
  })
  void first.run({ prompt: 'go', steering, signal: stop.signal })
  await expect.poll(() => server.requests.length).toBe(2)
  await expect.poll(() => stop.signal.aborted).toBe(true)
  const [{ id = '' } = {}] = await store.sessions()
  const outcome = await agent.resume(id, { takeOver: true, steering: () => [{ text: 'not before an older reply' }] })
  expect(outcome).toMatchObject({ status: 'answered', answer: 'Done.' })
  const last = JSON.stringify(messagesIn(server.requests.at(-1) as RecordedRequest))
  expect(last.match(/be brief/g)).toHaveLength(1)
  expect(last).not.toContain('not before')
  await server.close()
})

it('a compaction keeps it and the message that began the turn', async () => {
  const long = { ...search, execute: async () => ok('word '.repeat(9000)) } as typeof search
  const searches = Array.from({ length: 12 }, (_, at) => call('search', { query: `q${at}` }))
  const { server, agent, events } = await start([...searches, say('Done.')], 'openai', { tools: [long] })
  const { steering } = person([], [{ text: 'MARK the oranges' }])
  const outcome = await agent.run({ prompt: 'count the apples', steering })
  expect(outcome.status).toBe('answered')
  expect(events.some(({ type }) => type === 'context.compacted')).toBe(true)
  const last = JSON.stringify(messagesIn(server.requests.at(-1) as RecordedRequest))
  expect(server.violations).toEqual([])
  for (const words of ['count the apples', 'MARK the oranges']) expect(last).toContain(words)
  await server.close()
})
