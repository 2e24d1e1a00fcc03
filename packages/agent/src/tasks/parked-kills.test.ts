/**
 * Kills a turn whose task waits for a person, at each point: while it asks, is parked, is answered, and goes on. Another process continues.
 * What was done is counted outside.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineTool } from '@mulligan/core'
import { call, type ScriptedModel, say, scriptedModel } from '@mulligan/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { samples } from '../../../../scripts/test-scope.fixture.ts'
import { agentModel } from '../agent.fixture.ts'
import { recordsOf } from '../history/message.ts'
import { createAgent, openStore, type Store, type StoredAnswer, type TurnOutcome } from '../index.ts'
import { type Life, life, mortal, NEVER } from '../mortal.fixture.ts'
import { withoutIntents } from '../store/without-intents.fixture.ts'
import { taskOf } from './task-result.ts'
import { byTask, GENERAL } from './tasks.fixture.ts'

let folder: string
let server: ScriptedModel
let stores = 0
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-parked-tasks-'))
  server = await scriptedModel(
    byTask({
      'the work': [
        call('task', { agent: 'general', task: 'A: send both' }),
        call('send', { text: 'own' }),
        say('All is done.'),
        say('Else.'),
      ],
      'A:': [call('send', { text: 'first' }), call('send', { text: 'second' }), say('Both are handled.')],
    }),
  )
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const NAMES = ['first', 'second', 'own']
const ANSWERS: Readonly<Record<string, StoredAnswer>> = { second: { answer: 'no', reason: 'not today' } }

interface Run {
  readonly outcome: TurnOutcome | undefined
  readonly effects: Readonly<Record<string, number>>
  readonly passed: readonly string[]
  readonly store: Store
}

interface RunOptions {
  /** The point, from 1, at which the first process dies. Default: never */
  readonly killAt?: number
  readonly change?: (store: Store) => Store
  /** Questions expire before they are answered the first time. */
  readonly expires?: boolean
  /** How the second process continues. Default: it resumes the turn. */
  readonly how?: 'resume' | 'cancel' | 'message'
}

async function run({ killAt, change = (store) => store, expires = false, how = 'resume' }: RunOptions): Promise<Run> {
  const path = join(folder, `store-${stores++}.db`)
  const effects: Record<string, number> = {}
  const passed: string[] = []
  let hasExpired = !expires
  let outcome: TurnOutcome | undefined
  const opened: Store[] = []
  const first = await openStore(path)
  await first.createSession({ id: 's', cwd: '/home/ann/notes', title: 'go' })
  await first.close()
  for (const dies of [killAt, undefined]) {
    const one = life(dies)
    const store = await openStore(path)
    opened.push(store)
    const agent = createAgent({
      model: agentModel(server, 'openai'),
      tools: [sendTool(effects, one)],
      store: mortal(change(store), one),
      cwd: '/home/ann/notes',
      tasks: [GENERAL],
      policy: ({ tool }) => ({ decision: tool === 'task' ? 'allow' : 'ask', reason: '' }),
      approve: async ({ target }, _, given) => (one.point(`asked about ${target}`) ? NEVER : (given ?? { question: { target } })),
    })
    const whole = async (): Promise<TurnOutcome | undefined> => {
      if (dies === undefined && how === 'cancel') return agent.cancel('s', { takeOver: true })
      if (dies === undefined && how === 'message') return agent.run({ sessionId: 's', prompt: 'something else', takeOver: true })
      const begun = (await store.lastTurn('s')) !== undefined
      let now = begun ? await agent.resume('s', { takeOver: true }) : await agent.run({ sessionId: 's', prompt: 'do the work' })
      while (now?.status === 'waiting') {
        if (!hasExpired) {
          hasExpired = true
          await store.expire(Date.now() + 1)
        }
        for (const { id, question } of await store.approvals({ sessionId: 's', status: 'pending' })) {
          if (one.point('about to answer')) return NEVER
          expect(await store.answer(id, ANSWERS[(question as { target: string }).target] ?? { answer: 'once' })).toBe(true)
          if (one.point('answered')) return NEVER
        }
        now = await agent.resume('s', { takeOver: true })
      }
      return now
    }
    const ended = await Promise.race([whole(), one.death])
    passed.push(...one.passed)
    if (ended === 'dead') continue
    outcome = ended
    break
  }
  const [store] = opened.slice(-1)
  for (const old of opened.slice(0, -1)) await old.close()
  return { outcome, effects, passed, store: store as Store }
}

const sendTool = (effects: Record<string, number>, one: Life) =>
  defineTool({
    name: 'send',
    description: 'Sends.',
    effect: 'external',
    input: z.object({ text: z.string() }),
    target: ({ text }) => text,
    execute: ({ text }) => {
      if (one.point(`before ${text}`)) return NEVER
      effects[text] = (effects[text] ?? 0) + 1
      return one.point(`after ${text}`) ? NEVER : { sent: text }
    },
  })

/** Checks what must hold wherever the first process died. */
async function expectSound(at: string, { effects, outcome, store }: Run): Promise<void> {
  expect([at, Object.entries(effects).filter(([text, times]) => times > 1 || text === 'second')]).toEqual([at, []])
  expect([at, (await store.turns('s')).map(({ status }) => status)]).toEqual([at, ['answered']])
  expect([at, (await store.approvals({ sessionId: 's', status: 'pending' })).length]).toEqual([at, 0])
  const [task] = (await store.sessions({ idPrefix: 's/', limit: 10 })).map(({ id }) => id)
  expect([at, (await store.lastTurn(task ?? ''))?.status]).toEqual([at, 'answered'])
  const records = [...recordsOf(await store.history('s')), ...recordsOf(await store.history(task ?? ''))]
  const sends = records.filter(({ tool }) => tool === 'send')
  expect([at, sends.map(({ target }) => target).toSorted()]).toEqual([at, NAMES.toSorted()])
  for (const { target, result } of sends) {
    const status = result.ok ? 'ok' : result.status
    if (status === 'indeterminate') continue
    expect([at, target, status, effects[target] ?? 0]).toEqual([at, target, ...(target === 'second' ? ['denied', 0] : ['ok', 1])])
  }
  // In the ledger of the turn is what became of its task, too.
  const told = outcome?.ledger.unknown.map(({ target }) => target).toSorted()
  const unknown = sends.flatMap(({ target, result }) => (!result.ok && result.status === 'indeterminate' ? [target] : [])).toSorted()
  if (outcome) expect([at, told]).toEqual([at, unknown])
}

it('without a kill: two questions of the task and one of the turn, each answered by itself', async () => {
  const calm = await run({})
  await expectSound('never', calm)
  expect(calm.outcome).toMatchObject({ status: 'answered', answer: 'All is done.', requests: 6 })
  expect(calm.outcome?.calls.map((record) => taskOf(record)?.answer ?? record.target)).toEqual(['Both are handled.', 'own'])
  expect(JSON.stringify(server.requests.map(({ body }) => body))).toContain('not today')
  await calm.store.close()
})

it('killed at any point, the turn and its task go on in another process: one effect, one answer, nothing left open', async () => {
  const calm = await run({})
  await calm.store.close()
  expect(calm.passed.filter((name) => name === 'park')).toHaveLength(6)
  const step = samples(4, 1)
  for (const [index, name] of calm.passed.entries()) {
    // The points around the questions each time, the others in turn.
    if (index % step !== 0 && !/park|answer|asked/.test(name)) continue
    const killed = await run({ killAt: index + 1 })
    await expectSound(`${index + 1}: ${name}`, killed)
    await killed.store.close()
  }
  expect(server.violations).toEqual([])
}, 120_000)

it('killed in the middle of its task, and then stopped or overtaken by a message: the task is closed with it', async () => {
  const calm = await run({})
  await calm.store.close()
  const killAt = calm.passed.indexOf('after first') + 1
  for (const how of ['cancel', 'message'] as const) {
    const killed = await run({ killAt, how })
    expect(killed.effects).toEqual({ first: 1 })
    const [turn] = await killed.store.turns('s')
    expect([how, turn?.status, (await killed.store.lastTurn('s/1/1/0'))?.status]).toEqual([how, 'interrupted', 'interrupted'])
    const ended = (await killed.store.events({ sessionId: 's', turnId: 's/1' })).find(({ type }) => type === 'turn.ended')
    expect(ended?.type === 'turn.ended' && ended.outcome.ledger.unknown.map(({ target }) => target)).toEqual(['first'])
    await killed.store.close()
  }
})

it('a question of a task that has expired is asked again, also after a kill', async () => {
  const calm = await run({ expires: true })
  await expectSound('never', calm)
  const rows = await calm.store.approvals({ sessionId: 's' })
  expect(rows.map(({ status }) => status).toSorted()).toEqual(['answered', 'answered', 'answered', 'expired'])
  await calm.store.close()
  const parks = calm.passed.flatMap((name, at) => (name === 'park' ? [at + 1, at + 2] : []))
  for (const killAt of parks) {
    const killed = await run({ killAt, expires: true })
    await expectSound(`${killAt}: ${calm.passed[killAt - 1]}`, killed)
    await killed.store.close()
  }
}, 120_000)

it('control: without the intents on record, an effect of a task happens twice', async () => {
  const calm = await run({})
  await calm.store.close()
  const twice: string[] = []
  for (const [index, name] of calm.passed.entries()) {
    if (!name.startsWith('after ')) continue
    const killed = await run({ killAt: index + 1, change: withoutIntents })
    twice.push(...Object.entries(killed.effects).flatMap(([text, times]) => (times > 1 ? [text] : [])))
    await killed.store.close()
  }
  expect(twice).toEqual(['first', 'own'])
})
