/**
 * Kills the process at every point of a turn: the session opens again, nothing finished is repeated, and both protocols accept the
 * history.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { call, calls, type ScriptedModel, say, scriptedModel } from '@mulligan/testing'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAll } from '../../../scripts/test-scope.fixture.ts'
import { agentModel, PROTOCOLS, search } from './agent.fixture.ts'
import { createAgent, openStore } from './index.ts'
import { DIALECTS, stopPostgres } from './store/dialects.fixture.ts'

const runner = fileURLToPath(new URL('./crash.fixture.ts', import.meta.url))
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-crash-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))
afterAll(stopPostgres)

/** Runs a turn in a separate process that kills itself with SIGKILL at the given event. */
function killedAt(at: string, server: ScriptedModel, protocol: string, calls?: number): Promise<NodeJS.Signals | null> {
  const env = {
    ...process.env,
    CRASH_AT: at,
    CRASH_DIR: folder,
    CRASH_URL: protocol === 'openai' ? server.url : server.anthropicUrl,
    CRASH_PROTOCOL: protocol,
    ...(calls !== undefined && { CRASH_CALLS: String(calls) }),
  }
  const child = spawn(process.execPath, [runner], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  return new Promise((resolve) => child.on('exit', (_, signal) => resolve(signal)))
}

const effects = () => (existsSync(join(folder, 'effects')) ? readFileSync(join(folder, 'effects'), 'utf8').split('\n').filter(Boolean) : [])
const script = () => [calls(['search', { query: 'a' }], ['append', { text: 'one' }]), call('append', { text: 'two' }), say('Done.')]

describe.each(isAll ? PROTOCOLS : PROTOCOLS.slice(0, 1))('over %s', (protocol) => {
  it.each([
    ['message.created 1', 0, 0],
    ['message.completed 1', 0, 1],
    ['tool.started append', 0, 1],
    ['effect', 1, 1],
    ['outcome not saved append', 1, 1],
    ['tool.result append', 1, 1],
    ['outcome kept append', 1, 1],
    ['message.completed 2', 1, 2],
  ])('killed at %s, a new turn continues from what is known', async (at, ran, answered) => {
    const server = await scriptedModel([...script().slice(0, Math.max(1, answered)), say('Welcome back.')].slice(answered === 0 ? 1 : 0), {
      otherwise: () => say('Welcome back.'),
    })
    expect(await killedAt(at, server, protocol)).toBe('SIGKILL')
    expect(effects()).toHaveLength(ran)
    const store = await openStore(join(folder, 'store.db'))
    const agent = createAgent({ model: agentModel(server, protocol), tools: [search], store, cwd: folder })
    const [session] = await store.sessions()
    const outcome = await agent.run({ sessionId: session?.id as string, prompt: 'go on' })
    expect(outcome).toMatchObject({ status: 'answered', answer: 'Welcome back.' })
    const sent = JSON.stringify(server.requests.at(-1)?.body)
    const unknown = ['tool.started append', 'effect', 'outcome not saved append'].includes(at)
    expect(sent.includes('indeterminate (internal)')).toBe(unknown)
    expect(server.violations).toEqual([])
    await store.close()
    await server.close()
  })
})

describe.each(isAll ? DIALECTS : DIALECTS.slice(0, 1))('in $name', ({ place }) => {
  it.each([
    ['message.completed 1', ['one', 'two'], undefined],
    ['tool.result search', ['one', 'two'], undefined],
    ['effect', ['one', 'two'], 'append'],
    ['outcome not saved append', ['one', 'two'], 'append'],
    ['tool.result append', ['one', 'two'], undefined],
    ['outcome kept append', ['one', 'two'], undefined],
    ['message.completed 2', ['one', 'two'], undefined],
  ])('killed at %s and resumed, the turn ends as if nothing had been, and no effect runs twice', async (at, expected, unknown) => {
    writeFileSync(join(folder, 'place'), await place(folder))
    const server = await scriptedModel(script(), { otherwise: () => say('Done.') })
    await killedAt(at, server, 'openai')
    const { resumeTurn } = await import('./crash.fixture.ts')
    const outcome = await resumeTurn(folder, server)
    expect(outcome).toMatchObject({ status: 'answered', answer: 'Done.' })
    expect(outcome?.calls).toHaveLength(3)
    expect(effects()).toEqual(expected)
    expect(outcome?.ledger.unknown.map(({ tool }) => tool)).toEqual(unknown ? [unknown] : [])
    expect(server.violations).toEqual([])
    await server.close()
  })
})

it('killed while it concluded and resumed, it concludes with all that was done', async () => {
  const server = await scriptedModel([calls(['search', { query: 'a' }], ['append', { text: 'one' }]), say('lost')], {
    otherwise: () => say('That is all.'),
  })
  expect(await killedAt('message.created 2', server, 'openai', 2)).toBe('SIGKILL')
  const { resumeTurn } = await import('./crash.fixture.ts')
  const outcome = await resumeTurn(folder, server, { calls: 2 })
  expect(outcome).toMatchObject({ status: 'stopped', stoppedBy: 'calls', ledger: { changed: [{ tool: 'append' }] } })
  expect(outcome?.calls).toHaveLength(2)
  expect(effects()).toEqual(['one'])
  await server.close()
})

it('killed in an effect whose tool is gone when it is resumed, the effect is indeterminate all the same', async () => {
  const server = await scriptedModel([calls(['search', { query: 'a' }], ['append', { text: 'one' }])], { otherwise: () => say('Done.') })
  expect(await killedAt('effect', server, 'openai')).toBe('SIGKILL')
  const { resumeTurn } = await import('./crash.fixture.ts')
  const outcome = await resumeTurn(folder, server, { gone: true })
  expect(outcome?.ledger.unknown).toMatchObject([{ tool: 'append', effect: 'write' }])
  expect(effects()).toEqual(['one'])
  await server.close()
})

it.each([
  'tool.started append',
  'effect',
])('killed at %s, another input of the same tool asks under --yes, in a new turn and resumed', async (at) => {
  const server = await scriptedModel([calls(['search', { query: 'a' }], ['append', { text: 'one' }])], {
    otherwise: ({ n }) => (n % 2 === 0 ? call('append', { text: `one ${n}` }) : say('It needs your word.')),
  })
  expect(await killedAt(at, server, 'openai')).toBe('SIGKILL')
  const before = effects()
  const { resumeTurn, newTurn } = await import('./crash.fixture.ts')
  const resumed = await resumeTurn(folder, server, { yes: true })
  expect(resumed).toMatchObject({ status: 'needs_approval', ledger: { unknown: [{ tool: 'append', target: '{"text":"one"}' }] } })
  expect(await newTurn(folder, server, { yes: true })).toMatchObject({
    status: 'needs_approval',
    calls: [{ result: { status: 'denied' } }],
    // Also listed under the answers of later turns, until it is settled.
    ledger: { unknown: [{ tool: 'append', target: '{"text":"one"}' }] },
  })
  expect(effects()).toEqual(before)
  // A person who knows about it approves the call, and it succeeds: then others run again.
  expect(await newTurn(folder, server, {})).toMatchObject({ status: 'answered', ledger: { changed: [{ tool: 'append' }] } })
  expect(await newTurn(folder, server, { yes: true })).toMatchObject({
    status: 'answered',
    ledger: { changed: [{ tool: 'append' }], unknown: [] },
  })
  expect(effects()).toHaveLength(before.length + 2)
  await server.close()
})

it('a turn that was closed after a crash keeps what the call acted on', async () => {
  const server = await scriptedModel([calls(['search', { query: 'a' }], ['append', { text: 'one' }])], { otherwise: () => say('Done.') })
  await killedAt('effect', server, 'openai')
  const { newTurn } = await import('./crash.fixture.ts')
  await newTurn(folder, server, {})
  const store = await openStore(join(folder, 'store.db'))
  const [session] = await store.sessions()
  const records = (await store.history(session?.id as string)).flatMap((message) => (message.role === 'results' ? message.records : []))
  expect(records.find(({ tool }) => tool === 'append')).toMatchObject({ target: '{"text":"one"}', result: { status: 'indeterminate' } })
  await store.close()
  await server.close()
})
