/** Kills the process in the middle of a task: the turn and its task go on, and nothing that was done is done again. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { call, calls, say, scriptedModel } from '@mulligan/testing'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { agentIn } from './killed.fixture.ts'
import { byTask } from './tasks.fixture.ts'

const PROGRAM = fileURLToPath(new URL('killed.fixture.ts', import.meta.url))
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-tasks-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const script = byTask({
  'the work': [
    calls(['task', { agent: 'explore', task: 'A: look' }], ['task', { agent: 'general', task: 'B: append' }]),
    call('append', { text: 'three' }),
    say('Done.'),
  ],
  'A:': [call('search', { query: 'a' }), say('a.')],
  'B:': [call('append', { text: 'one' }), call('append', { text: 'two' }), say('b.')],
})

const killed = (url: string, at: string): Promise<NodeJS.Signals | null> => {
  const env = { ...process.env, KILL_AT: at, KILL_DIR: folder, KILL_URL: url }
  return new Promise((resolve) => spawn(process.execPath, [PROGRAM], { env, stdio: 'inherit' }).on('exit', (_, signal) => resolve(signal)))
}

it.each([
  ['two', ['one'], ['two']],
  ['task ended', ['one', 'two'], []],
])('killed at "%s", a new message closes the task, too, and says what it did', async (at, changed, unknown) => {
  await using model = await scriptedModel(script)
  expect(await killed(model.url, at)).toBe('SIGKILL')
  const { agent, store, asked } = await agentIn(folder, model.url, 'never')
  const [session] = await store.sessions()
  const id = session?.id ?? ''
  model.push(call('append', { text: 'two' }), say('Welcome back.'))
  await agent.run({ sessionId: id, prompt: 'something else' })
  // What may have been done is not done again unasked.
  expect(asked).toEqual(unknown)
  const ended = (await store.events({ sessionId: id, turnId: `${id}/1` })).find((event) => event.type === 'turn.ended')
  expect(ended?.type === 'turn.ended' && ended.outcome).toMatchObject({
    status: 'interrupted',
    ledger: {
      changed: changed.map((target) => ({ tool: 'append', target })),
      unknown: unknown.map((target) => ({ tool: 'append', target })),
    },
  })
  const running = (await store.sessions({ idPrefix: `${id}/`, limit: 10 })).map((task) => store.lastTurn(task.id))
  expect((await Promise.all(running)).map((turn) => turn?.status)).not.toContain('running')
  await store.close()
})

const effects = (): string[] => readFileSync(join(folder, 'effects'), 'utf8').trim().split('\n')

it.each([
  [
    'two',
    ['one', 'two', 'three'],
    [
      ['append', 'one'],
      ['append', 'three'],
    ],
    [['append', 'two']],
  ],
  [
    'task ended',
    ['one', 'two', 'three'],
    [
      ['append', 'one'],
      ['append', 'two'],
      ['append', 'three'],
    ],
    [],
  ],
])('killed at "%s"', async (at, done, changed, unknown) => {
  await using model = await scriptedModel(script)
  expect(await killed(model.url, at)).toBe('SIGKILL')
  const { agent, store } = await agentIn(folder, model.url, 'never')
  const [session] = await store.sessions()
  const outcome = await agent.resume(session?.id ?? '')
  await store.close()
  expect(outcome).toMatchObject({ status: 'answered', answer: 'Done.' })
  expect(effects()).toEqual(done)
  const entries = (of: readonly { tool: string; target: string }[] = []) => of.map(({ tool, target }) => [tool, target])
  expect([entries(outcome?.ledger.changed), entries(outcome?.ledger.unknown)]).toEqual([changed, unknown])
})
