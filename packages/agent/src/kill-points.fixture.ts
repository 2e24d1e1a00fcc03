/** Kills a turn at any point, on any store. Its effects are counted outside, and the turn is resumed. */
import { type CallRecord, defineTool, ModelRetry, type Tool } from '@mulligan/core'
import type { ProposedChanges } from '@mulligan/core/executor'
import { calls, type ScriptedModel, say, scriptedModel } from '@mulligan/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { samples } from '../../../scripts/test-scope.fixture.ts'
import { agentModel, search } from './agent.fixture.ts'
import {
  type Agent,
  type AgentOptions,
  createAgent,
  type Message,
  type Steer,
  type Store,
  type StoredAnswer,
  type TurnOutcome,
} from './index.ts'
import { type Life, life, mortal, NEVER } from './mortal.fixture.ts'
import { withoutIntents } from './store/without-intents.fixture.ts'

export interface KillStores {
  /** Opens an empty store. */
  readonly openStore: () => Promise<Store>
  /** Opens the same store as another process would; the first may still have writes that are not on disk. */
  readonly reopen: (killed: Store) => Promise<Store>
}

/** Effects that took place outside: count by text. */
type Effects = Map<string, number>
/** The idempotency keys that the outside has seen. */
const seen = new WeakMap<Effects, Set<string>>()

/** Returns whether the key is new. */
function isNew(effects: Effects, key: string): boolean {
  const keys = seen.get(effects) ?? new Set()
  seen.set(effects, keys)
  return keys.size < keys.add(key).size
}

function toolsOf(effects: Effects, { point }: Life, reads: Effects): Tool[] {
  const happen = (what: string, isFirst = (): boolean => true): unknown => {
    if (point(`before ${what}`)) return NEVER
    if (isFirst()) effects.set(what, (effects.get(what) ?? 0) + 1)
    return point(`after ${what}`) ? NEVER : { done: what }
  }
  const input = z.object({ text: z.string() })
  const changes = (text: string): ProposedChanges => ({ id: text, hash: `hash of ${text}`, targets: [text], summary: '1 file changed' })
  return [
    {
      ...search,
      execute: (input, ctx) => {
        const query = `read ${(input as { query: string }).query}`
        reads.set(query, (reads.get(query) ?? 0) + 1)
        return search.execute(input, ctx)
      },
    },
    defineTool({
      name: 'append',
      description: 'Appends.',
      effect: 'write',
      input,
      target: ({ text }) => text,
      execute: ({ text }) => happen(text),
    }),
    defineTool({
      name: 'send',
      description: 'Sends.',
      effect: 'external',
      input,
      target: ({ text }) => text,
      execute: ({ text }) => {
        if (text === 'wrong') throw new ModelRetry('No.', { parameter: 'text', value: text, constraint: 'right' })
        return happen(text)
      },
    }),
    defineTool({
      name: 'book',
      description: 'Books, once per idempotency key.',
      effect: 'external',
      idempotent: true,
      input,
      target: ({ text }) => text,
      execute: ({ text }, { idempotencyKey }) => happen(text, () => isNew(effects, idempotencyKey)),
    }),
    defineTool({
      name: 'shell',
      description: 'Runs on a layer.',
      effect: 'write',
      input,
      target: ({ text }) => text,
      layer: {
        confinement: () => 'layer',
        keep: async ({ id }) => {
          await happen(id)
          return ['kept']
        },
        discard: async () => undefined,
      },
      execute: ({ text }, { propose }) => {
        propose?.(changes(text))
        return { ran: text }
      },
    }),
  ]
}

const STEPS = [
  calls(['search', { query: 'a' }], ['search', { query: 'no b' }], ['append', { text: 'one' }], ['search', { query: 'c' }]),
  calls(['append', {}], ['nope', {}], ['send', { text: 'wrong' }], ['shell', { text: 'two' }]),
  calls(['shell', { text: 'denied two' }], ['send', { text: 'three' }], ['append', { text: 'denied three' }]),
  calls(['append', { text: 'four' }], ['append', { text: 'five' }], ['book', { text: 'six' }]),
  say('Done.'),
]
/** Each reply depends only on the conversation, so a request may be repeated. */
const replies = (): Promise<ScriptedModel> =>
  scriptedModel(({ body }) => {
    const { messages } = body as { messages: { role: string; content: unknown }[] }
    if (JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content).includes('again')) return say('Again.')
    return STEPS[messages.filter(({ role }) => role === 'assistant').length]
  })

/** Says one thing to the running turn, once. If the process dies before it is stored, it is lost. */
function createPerson() {
  let hasSaid = false
  return (): readonly Steer[] => {
    if (hasSaid) return []
    hasSaid = true
    return [{ text: STEER }]
  }
}
const STEER = 'by the way'

/** Asks about effects; some are denied. Once `one` is dead, the person no longer answers. */
const options = (
  server: ScriptedModel,
  store: Store,
  effects: Effects,
  one: Life,
  parks = false,
  reads: Effects = new Map(),
): AgentOptions => ({
  model: agentModel(server, 'openai'),
  tools: toolsOf(effects, one, reads),
  store: mortal(store, one),
  cwd: '/home/ann/notes',
  policy: ({ effect, tool, input }) =>
    effect === 'read' && input['query'] !== 'c' ? { decision: 'allow', reason: '' } : { decision: 'ask', reason: `${tool} asks` },
  approve: async ({ target }, _, given) => {
    if (one.point(`asked about ${target}`)) return NEVER
    return parks ? (given ?? { question: { target } }) : answerAbout(target)
  },
})

const answerAbout = (target: string): StoredAnswer => ({
  answer: target.startsWith('denied') ? 'no' : 'once',
  ...(target === 'denied two' && { reason: 'no' }),
})

/** Answers the questions for which a turn is parked, as another process would, until it ends. */
async function answered(
  agent: Agent,
  store: Store,
  one: Life,
  first: TurnOutcome | undefined,
  steering: ReturnType<typeof createPerson>,
): Promise<TurnOutcome | undefined> {
  let outcome = first
  while (outcome?.status === 'waiting') {
    for (const { id, question } of await store.approvals({ sessionId: 's', status: 'pending' })) {
      if (one.point('about to answer')) return NEVER
      expect(await store.answer(id, answerAbout((question as { target: string }).target))).toBe(true)
      if (one.point('answered')) return NEVER
    }
    outcome = await agent.resume('s', { steering })
  }
  return outcome
}

interface Killed {
  /** Undefined if the turn had ended when it was killed. */
  readonly outcome: TurnOutcome | undefined
  readonly effects: Effects
  /** How often each read has run. */
  readonly reads: Effects
  readonly history: readonly Message[]
  /** Number of result events by call. */
  readonly results: ReadonlyMap<string, number>
  /** Number of events of messages that joined. */
  readonly joined: number
}

interface KillOptions {
  /** How the session continues: the turn is resumed, or the user says something else. Default: resumed */
  readonly after?: 'resume' | 'again'
  /** Whether questions park the turn. */
  readonly parks?: boolean
  readonly change?: (store: Store) => Store
}

/** Runs a turn that is killed at each of the points, one after another, and resumed each time. */
async function killedAt(
  points: readonly number[],
  server: ScriptedModel,
  stores: KillStores,
  { after = 'resume', parks = false, change = (store) => store }: KillOptions = {},
): Promise<Killed> {
  const effects: Effects = new Map()
  const reads: Effects = new Map()
  let opened = await stores.openStore()
  const all = [opened]
  await opened.createSession({ id: 's', cwd: '/home/ann/notes', title: 'go' })
  let outcome: TurnOutcome | undefined
  const steering = createPerson()
  for (const [at, killAt] of [...points, undefined].entries()) {
    const one = life(killAt)
    const agent = createAgent(options(server, change(opened), effects, one, parks, reads))
    const goOn = () =>
      after === 'resume' ? agent.resume('s', { takeOver: true, steering }) : agent.run({ sessionId: 's', prompt: after, takeOver: true })
    const ran = at === 0 ? agent.run({ sessionId: 's', prompt: 'go', steering }) : goOn()
    const store = opened
    const ended = await Promise.race([ran.then((first) => answered(agent, store, one, first, steering)), one.death])
    if (ended !== 'dead') {
      outcome = ended
      break
    }
    opened = await stores.reopen(opened)
    all.push(opened)
  }
  const history = await opened.history('s')
  const results = new Map<string, number>()
  let joined = 0
  for (const event of await opened.events({ sessionId: 's' }))
    if (event.type === 'turn.steered') joined++
    else if (event.type === 'tool.result' && !event.late) results.set(event.callId, (results.get(event.callId) ?? 0) + 1)
  await Promise.all([...new Set(all)].map((store) => store.close()))
  return { outcome, effects, reads, history, results, joined }
}

const statusOf = ({ tool, result }: CallRecord) => `${tool} ${result.ok ? 'ok' : result.status}`

const unknownIn = (records: readonly CallRecord[]) =>
  records.filter(({ result }) => !result.ok && result.status === 'indeterminate').map(({ id }) => id)

/** Checks what must hold no matter how often the turn was killed. */
function expectSound({ effects, history, results, joined }: Killed): readonly CallRecord[] {
  expect([...effects].filter(([, times]) => times > 1)).toEqual([])
  const steers = history.filter((message) => message.role === 'user' && message.text === STEER)
  expect(steers.length).toBeLessThanOrEqual(1)
  // Between its being stored and its event, only the other prompt can come.
  expect(joined).toBeLessThanOrEqual(steers.length)
  for (const steer of steers) expect(history[history.indexOf(steer) + 1]).not.toMatchObject({ role: 'results' })
  const records = history.flatMap((message) => (message.role === 'results' ? message.records : []))
  const asked = history.flatMap((message) =>
    message.role === 'assistant' ? message.parts.flatMap((part) => (part.type === 'call' ? [part.callId] : [])) : [],
  )
  expect(records.map(({ id }) => id)).toEqual(asked)
  expect([...results].filter(([, times]) => times !== 1)).toEqual([])
  expect([...results.keys()].toSorted()).toEqual(asked.toSorted())
  for (const { target, result, effect } of records) {
    const happened = effects.get(target) ?? 0
    if (effect === 'read' || (!result.ok && result.status === 'indeterminate')) continue
    expect([target, happened]).toEqual([target, result.ok ? 1 : 0])
  }
  return records
}

/** Checks that the turn has the same outcome as without kills, apart from unknown effects. `calm`: the undisturbed turn. */
function expectSame({ outcome, joined }: Killed, calm: Killed): void {
  if (!outcome || !calm.outcome) return
  const unknown = unknownIn(outcome.calls)
  const expected = calm.outcome.calls.map((one, at) =>
    unknown.includes(outcome.calls[at]?.id ?? '') ? `${one.tool} indeterminate` : statusOf(one),
  )
  expect(outcome.calls.map(statusOf)).toEqual(expected)
  expect(outcome.ledger.unknown.map(({ callId }) => callId)).toEqual(unknown)
  expect(outcome.ledger.changed).toEqual(calm.outcome.ledger.changed.filter(({ callId }) => !unknown.includes(callId)))
  const { answer, status, requests, usage } = calm.outcome
  // What the person said while the turn ran is lost with a process that dies before it is stored.
  if (unknown.length === 0 && joined === calm.joined) expect(outcome).toMatchObject({ answer, status, requests, usage })
  else expect(outcome).toMatchObject({ answer, status, requests })
}

/** Test timeout in milliseconds. */
const LONG = 600_000

/** Declares the tests of killed turns for a store. `kills`: number of random points. Default 300 */
export function describeKillPoints(name: string, stores: KillStores, kills = samples(60, 300)): void {
  describe(`a killed turn, in ${name}`, () => {
    let server: ScriptedModel
    let calm: Killed
    let points = 0
    /** Numbers of the points right after an effect. */
    let afterEffects: readonly number[]
    /** Numbers of the points at which a call has finished and its step is not recorded. */
    let unrecorded: readonly number[]
    beforeAll(async () => {
      server = await replies()
      const counted = life()
      const opened = await stores.openStore()
      await opened.createSession({ id: 's', cwd: '/', title: 'go' })
      await createAgent(options(server, opened, new Map(), counted)).run({ sessionId: 's', prompt: 'go', steering: createPerson() })
      points = counted.passed.length
      afterEffects = counted.passed.flatMap((name, index) => (name.startsWith('after ') ? [index + 1] : []))
      unrecorded = counted.passed.flatMap((name, index) => {
        const isSecond = counted.passed.slice(0, index).filter((one) => one === name).length === 1
        return name.startsWith('execute ') && isSecond ? [index + 1] : []
      })
      await opened.close()
      calm = await killedAt([], server, stores)
    })
    afterAll(() => server.close())

    it('undisturbed, it does what it is asked to', () => {
      expect(points).toBeGreaterThan(150)
      expect(calm.outcome).toMatchObject({ status: 'answered', answer: 'Done.', requests: STEPS.length })
      expect(calm.outcome?.calls.map(statusOf)).toEqual([
        'search ok',
        'search ok',
        'append ok',
        'search ok',
        'append retry',
        'nope retry',
        'send retry',
        'shell ok',
        'shell denied',
        'send ok',
        'append denied',
        'append ok',
        'append ok',
        'book ok',
      ])
      expect(Object.fromEntries(calm.effects)).toEqual({ one: 1, two: 1, three: 1, four: 1, five: 1, six: 1 })
      expectSound(calm)
      expect(calm.joined).toBe(1)
    })

    it(
      'at any point, some twice: no effect is repeated, each call has one result, and the turn ends as it would have',
      async () => {
        const at = fc.tuple(fc.nat(), fc.option(fc.nat(), { freq: 2 }))
        await fc.assert(
          fc.asyncProperty(at, async ([first, second]) => {
            const kills = [1 + (first % points), ...(second === null ? [] : [1 + (second % points)])]
            const killed = await killedAt(kills, server, stores)
            const unknown = unknownIn(expectSound(killed))
            expectSame(killed, calm)
            // An idempotent call is started again, and its outcome is known.
            if (killed.outcome)
              expect(unknown.filter((id) => killed.outcome?.calls.find((call) => call.id === id)?.tool === 'book')).toEqual([])
          }),
          { numRuns: kills, examples: afterEffects.map((at) => [[at - 1, null]]) },
        )
        expect(server.violations).toEqual([])
      },
      LONG,
    )

    it(
      'parked at each question, and killed at any point, also while it is parked: the same holds',
      async () => {
        const counted = life()
        const opened = await stores.openStore()
        await opened.createSession({ id: 's', cwd: '/', title: 'go' })
        const agent = createAgent(options(server, opened, new Map(), counted, true))
        const steering = createPerson()
        const whole = await answered(agent, opened, counted, await agent.run({ sessionId: 's', prompt: 'go', steering }), steering)
        expect(whole).toMatchObject({ status: 'answered', answer: 'Done.' })
        const asked = await opened.approvals({ sessionId: 's' })
        expect([asked.length, new Set(asked.map(({ callId, kind }) => `${callId} ${kind}`)).size]).toEqual([10, 10])
        await opened.close()
        const all = counted.passed.length
        expect(all).toBeGreaterThan(points)
        await fc.assert(
          fc.asyncProperty(fc.nat(), fc.option(fc.nat(), { freq: 2 }), async (first, second) => {
            const kills = [1 + (first % all), ...(second === null ? [] : [1 + (second % all)])]
            const killed = await killedAt(kills, server, stores, { parks: true })
            expectSound(killed)
            expectSame(killed, calm)
          }),
          { numRuns: kills },
        )
        expect(server.violations).toEqual([])
      },
      LONG,
    )

    it(
      'and continued by another prompt: the same holds, and what is unknown is told under its answer',
      async () => {
        await fc.assert(
          fc.asyncProperty(fc.nat(), async (at) => {
            const killed = await killedAt([1 + (at % points)], server, stores, { after: 'again' })
            const unknown = unknownIn(expectSound(killed))
            expect(killed.outcome).toMatchObject({ status: 'answered', answer: 'Again.' })
            expect(killed.outcome?.ledger.unknown.map(({ callId }) => callId)).toEqual(unknown)
          }),
          { numRuns: Math.ceil(kills / 5) },
        )
        expect(server.violations).toEqual([])
      },
      LONG,
    )

    it(
      'once the outcome of a call is stored, it is not run again, a read neither',
      async () => {
        expect(unrecorded.length).toBeGreaterThan(8)
        const stored = (store: Store): Store => ({
          ...store,
          saveCall: (...args) => store.saveCall(...args).then(() => store.settled('s')),
        })
        for (const at of unrecorded.slice(0, Math.ceil(kills / 3))) {
          const { reads } = await killedAt([at], server, stores, { change: stored })
          expect([at, [...reads].filter(([, times]) => times > 1)]).toEqual([at, []])
        }
      },
      LONG,
    )

    it(
      'control: without the intent on record an effect happens twice',
      async () => {
        const twice: string[] = []
        for (const at of afterEffects) {
          const { effects } = await killedAt([at], server, stores, { change: withoutIntents })
          twice.push(...[...effects].flatMap(([what, times]) => (times > 1 ? [what] : [])))
        }
        expect(twice).not.toEqual([])
      },
      LONG,
    )
  })
}
