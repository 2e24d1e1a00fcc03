/** Tasks whose calls need approval, in processes that are killed with SIGKILL: others answer, and go on. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '@mulligan/agent'
import { call, calls, type RecordedRequest, type ScriptedTurn, say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { byTask } from '../../../agent/src/tasks/tasks.fixture.ts'
import { type CliFixture, place } from '../../test/cli.fixture.ts'

const WRITE = call('write_file', { path: 'a.txt', content: 'hello\n' })
const SCRIPT = {
  'the work': [call('task', { agent: 'general', task: 'A: write a.txt' }), say('All is done.')],
  'A:': [WRITE, say('It is handled.')],
}

/** A model that plays the agents, and the environment in which the command finds it. */
async function agents(scripts: Readonly<Record<string, readonly ScriptedTurn[]>>, onRequest = (_: RecordedRequest): void => undefined) {
  const plays = byTask(scripts)
  const model = await scriptedModel((request, n) => {
    onRequest(request)
    return plays(request, n)
  })
  return { model, env: { MULLIGAN_MODEL: 'scripted', MULLIGAN_BASE_URL: model.url } }
}

const questions = async (here: CliFixture, env: Record<string, string>) =>
  (JSON.parse((await here.run(['approvals', '--json'], { env })).stdout) as { approvals: { id: string; sessionId: string }[] }).approvals

/** How often calls of the session and its tasks began. */
async function begun(here: CliFixture, sessionId: string): Promise<readonly string[]> {
  const store = await openStore(join(here.data, 'mulligan.db'))
  const ids = [sessionId, ...(await store.sessions({ idPrefix: `${sessionId}/`, limit: 10 })).map(({ id }) => id)]
  const events = (await Promise.all(ids.map((id) => store.events({ sessionId: id })))).flat()
  await store.close()
  return events.flatMap((event) => (event.type === 'tool.started' && event.tool !== 'task' ? [event.tool] : []))
}

it('another process answers a question of a task, and continues a turn that was killed after its effect', async () => {
  using here = place()
  let killed: (() => void) | undefined
  const { model, env } = await agents(SCRIPT, ({ body }) => {
    if (JSON.stringify(body).includes('"role":"tool"') && killed) killed()
  })
  await using _ = model
  expect((await here.start(['do the work', '--park'], { env }).ended).code).toBe(4)
  const [asked, ...more] = await questions(here, env)
  expect([more, here.has('a.txt')]).toEqual([[], false])
  const { id = '', sessionId = '' } = asked ?? {}
  // Killed once the model is told the result: the effect has happened, and what comes after it has not.
  const { child, ended } = here.start(['approvals', 'allow', id], { env })
  killed = () => child.kill('SIGKILL')
  expect((await ended).code).toBe(null)
  killed = undefined
  expect(here.read('a.txt')).toBe('hello\n')
  const resumed = await here.run(['sessions', 'resume', sessionId, '--json'], { env })
  expect([resumed.code, JSON.parse(resumed.stdout)]).toEqual([0, expect.objectContaining({ status: 'answered', answer: 'All is done.' })])
  expect(await begun(here, sessionId)).toEqual(['write_file'])
  expect(await questions(here, env)).toEqual([])
  expect((await here.run(['approvals', 'allow', id], { env })).code).toBe(2)
  expect(model.violations).toEqual([])
})

it('killed while one task asks and another one is at work: resumed, it asks, and a denial reaches the task', async () => {
  using here = place()
  let killed: (() => void) | undefined
  const { model, env } = await agents(
    {
      'the work': [
        calls(['task', { agent: 'explore', task: 'B: look' }], ['task', { agent: 'general', task: 'A: write a.txt' }]),
        say('All is done.'),
      ],
      'A:': SCRIPT['A:'],
      'B:': [call('glob', { pattern: '*' }), say('Nothing.')],
    },
    ({ body }) => {
      const text = JSON.stringify(body)
      if (text.includes('B: look') && text.includes('"role":"tool"') && killed) killed()
    },
  )
  await using _ = model
  const { child, ended } = here.start(['do the work', '--park'], { env })
  killed = () => child.kill('SIGKILL')
  expect((await ended).code).toBe(null)
  killed = undefined
  const [session] = (JSON.parse((await here.run(['sessions', 'list', '--json'], { env })).stdout) as { sessions: { id: string }[] })
    .sessions
  const { id = '' } = session ?? {}
  expect((await here.run(['sessions', 'resume', id, '--park'], { env })).code).toBe(4)
  const [asked, ...more] = await questions(here, env)
  expect(more).toEqual([])
  const denied = await here.run(['approvals', 'deny', asked?.id ?? '', '--reason', 'not on a Friday', '--json'], { env })
  expect([denied.code, JSON.parse(denied.stdout)]).toEqual([0, expect.objectContaining({ status: 'answered', answer: 'All is done.' })])
  // A read whose outcome was not stored before the kill is read again.
  expect([existsSync(join(here.dir, 'a.txt')), (await begun(here, id)).filter((tool) => tool !== 'glob')]).toEqual([false, []])
  expect(JSON.stringify(model.requests.map(({ body }) => body))).toContain('not on a Friday')
  expect(model.violations).toEqual([])
})

it('a question that has expired says so, and is asked again by the turn', async () => {
  using here = place()
  const { model, env } = await agents(SCRIPT)
  await using _ = model
  await here.run(['do the work', '--park'], { env })
  const [first] = await questions(here, env)
  const store = await openStore(join(here.data, 'mulligan.db'))
  await store.expire(Date.now() + 1)
  await store.close()
  const late = await here.run(['approvals', 'allow', first?.id ?? ''], { env })
  expect([late.code, late.stderr]).toEqual([2, expect.stringMatching(/has expired[\s\S]*mulligan sessions resume \S+ --park/)])
  expect((await here.run(['sessions', 'resume', first?.sessionId ?? '', '--park'], { env })).code).toBe(4)
  const [again] = await questions(here, env)
  expect([again?.id === first?.id, here.has('a.txt')]).toEqual([false, false])
  const allowed = await here.run(['approvals', 'allow', again?.id ?? ''], { env })
  expect([allowed.code, allowed.stderr.includes('undefined')]).toEqual([0, false])
  expect([here.read('a.txt'), await begun(here, first?.sessionId ?? '')]).toEqual(['hello\n', ['write_file']])
})
