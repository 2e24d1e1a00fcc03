import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { render } from '@mulligan/core'
import { createExecutor } from '@mulligan/core/executor'
import { conformance } from '@mulligan/testing'
import { describe, expect, test } from 'vitest'
import { context, refused, run, temporary } from '../workspace.fixture.ts'
import type { Answer, Ask } from './ask_user/tool.ts'
import { thinkTools } from './index.ts'
import { fileState, memoryState } from './state.ts'

const make = (options: Parameters<typeof thinkTools>[0] = {}) => {
  const tools = thinkTools(options)
  return (name: string) => tools.find((tool) => tool.name === name) as (typeof tools)[number]
}

/** Makes a call under any of the tools' names and returns what the model reads. */
async function call(name: string, input: unknown, options = {}): Promise<string> {
  const executor = createExecutor({ tools: thinkTools(options) })
  const prepared = await executor.prepare({ id: 't/1/0', step: 1, ordinal: 0, name, input })
  if (prepared.kind === 'approval') throw new Error('asks')
  return render((prepared.kind === 'result' ? prepared.record : await executor.execute(prepared.call)).result)
}

test('the tools keep the contract', async () => {
  const report = await conformance(() => thinkTools())
  const faults = report.tools.flatMap(({ tool, checks }) =>
    checks.filter(({ outcome }) => outcome === 'fail').map(({ check, why }) => `${tool} ${check}: ${why}`),
  )
  expect(faults).toEqual([])
  expect(report).toMatchObject({ conforms: true, tools: { length: 4 } })
})

describe('think', () => {
  test('notes are kept for the session, read and cleared', async () => {
    const tool = make()('think')
    expect(await run(tool, { mode: 'get' })).toMatchObject({ count: 0 })
    await Promise.all([run(tool, { thought: 'one' }), run(tool, { mode: 'observe', thought: 'two' })])
    expect((await run(tool, { mode: 'get' })).content).toBe('think: one\nobserve: two')
    expect((await run(tool, { mode: 'clear' })).content).toBe('Cleared: 2 notes.')
    expect(await run(tool, { mode: 'get' })).toMatchObject({ count: 0 })
    expect((await refused(tool, { mode: 'observe' })).details).toMatchObject({ parameter: 'thought' })
  })

  test('the oldest go when there are too many', async () => {
    const tool = make()('think')
    for (let n = 0; n < 7; n++) await run(tool, { thought: `${n}${'x'.repeat(9000)}` })
    const result = await run(tool, { mode: 'get' })
    expect((result.content as string).length).toBeLessThan(61_000)
    expect(result.content).toMatch(/^think: 1x/)
  })

  test('understands other shapes', async () => {
    expect(await call('sequentialthinking', { thought: 'a', thoughtNumber: 1, totalThoughts: 3, nextThoughtNeeded: true })).toBe('Noted.')
    expect(await call('react', { mode: 'observe', observation: 'b' })).toBe('Noted.')
  })
})

describe('todo', () => {
  test('replaces the list and reads it', async () => {
    const tool = make()('todo')
    const items = [
      { text: 'a', status: 'completed' },
      { text: 'b', status: 'in_progress' },
      { text: 'c', status: 'pending' },
      { text: 'd', status: 'cancelled' },
    ]
    await run(tool, { items })
    expect(await run(tool, {})).toMatchObject({ content: '2 of 4 open\n[x] a\n[>] b\n[ ] c\n[-] d', data: { open: 2 }, count: 4 })
    expect(await run(tool, { items: [] })).toMatchObject({ count: 0 })
  })

  test('two in progress: both are named, and the call given works', async () => {
    const tool = make()('todo')
    const error = await refused(tool, { items: ['a', 'b'].map((text) => ({ text, status: 'in_progress' })) })
    expect(error.message).toContain('"a", "b"')
    expect((await run(tool, error.details.call?.input)).content).toBe('2 of 2 open\n[>] a\n[ ] b')
    expect((await refused(tool, { items: ['c', 'd'].map((text) => ({ text, status: 'in_progress' })) })).status).toBe('retry')
    expect((await run(tool, {})).content).toContain('[>] a')
  })

  test.each([
    ['update_plan', { explanation: 'x', plan: [{ step: 'a', status: 'in_progress' }] }],
    ['TodoWrite', { todos: [{ content: 'a', status: 'in_progress', activeForm: 'Doing a', id: '1' }] }],
    [
      'todo',
      {
        items: [
          { text: 'a', status: 'in-progress' },
          { text: 'b', status: 'done' },
        ],
      },
    ],
    ['todo', { todos: [{ content: 'a', status: 'in_progress', activeForm: 'Doing a' }] }],
    ['write_todos', { todos: [{ content: 'a', status: 'doing', priority: 'high' }] }],
  ])('%s', async (name, input) => expect(await call(name, input)).toMatch(/^1 of [12] open\n\[>\] a(\n\[x\] b)?$|^1 of 1 open\n\[>\] a\n/))
})

test('progress is shown to the person, cut where it is too long', async () => {
  const tool = make()('progress_update')
  expect(tool.subject?.({ message: 'Half\nway', pct: 50, stage: 'tests' } as never)).toBe('tests: Half way (50 %)')
  expect(tool.subject?.({ message: 'x'.repeat(300) } as never)).toBe(`${'x'.repeat(199)}…`)
  expect(await run(tool, { message: 'x'.repeat(300) })).toMatchObject({ notes: ['The message was cut to 200 characters.'] })
  expect((await run(tool, { message: 'x'.repeat(200) })).notes).toBeUndefined()
})

describe('ask_user', () => {
  const answers =
    (...all: Answer[]): Ask =>
    async () =>
      all.shift() as Answer

  test.each([
    [{ answer: ' blue ' }, { answer: 'blue', by: 'person' }],
    [{ answer: '2' }, { answer: 'green', by: 'person', option: 1 }],
    [{ answer: 'RED' }, { answer: 'red', by: 'person', option: 0 }],
    [{ answer: 'pink' }, { answer: 'pink', by: 'person' }],
  ])('%j', async (answer, data) => {
    const tool = make({ ask: answers(answer) })('ask_user')
    expect((await run(tool, { question: 'Which?', options: ['red', 'green'] })).data).toEqual(data)
  })

  test('the number of an option that does not exist is asked about again; given twice, it is the answer', async () => {
    const asked: string[] = []
    const ask =
      (...all: string[]): Ask =>
      async ({ question }) => {
        asked.push(question)
        return { answer: all.shift() as string }
      }
    const call = { question: 'Which?', options: ['red', 'green', 'blue'] }
    expect((await run(make({ ask: ask('5', '2') })('ask_user'), call)).data).toEqual({ answer: 'green', by: 'person', option: 1 })
    expect(asked).toEqual(['Which?', 'There is no option 5; the same again sends it as it is. Which?'])
    expect((await run(make({ ask: ask('5', '5') })('ask_user'), call)).data).toEqual({ answer: '5', by: 'person' })
  })

  test('a blank answer is asked again, but not for ever', async () => {
    const tool = make({ ask: answers({ answer: ' ' }, { answer: '' }, { answer: 'x' }) })('ask_user')
    expect((await run(tool, { question: 'Which?' })).data).toMatchObject({ answer: 'x' })
    expect((await refused(make({ ask: async () => ({ answer: '' }) })('ask_user'), { question: 'Which?' })).status).toBe('denied')
  })

  test.each(['nobody', 'closed', 'timeout'] as const)('%s: go on with the safest assumption, or the default', async (declined) => {
    const options = { ask: answers({ declined }, { declined }) }
    expect(await call('ask_user', { question: 'Which?' }, options)).toMatch(/^denied \(permission\): .* safest assumption, and say/)
    expect((await run(make(options)('ask_user'), { question: 'Which?', default: 'a' })).data).toEqual({ answer: 'a', by: 'default' })
  })

  test('without a port nobody is there', async () => {
    expect(await call('clarify', { question: 'Which?' })).toMatch(/^denied \(permission\): Nobody is there/)
  })

  test('one question at a time, and a port that never answers does not hold a stopped turn', async () => {
    const open: string[] = []
    const release: (() => void)[] = []
    const ask: Ask = ({ question }) => {
      open.push(question)
      return new Promise((resolve) => release.push(() => resolve({ answer: question })))
    }
    const tool = make({ ask })('ask_user')
    const stop = new AbortController()
    const first = run(tool, { question: 'a' }, context(stop.signal))
    const second = run(tool, { question: 'b' })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(open).toEqual(['a'])
    stop.abort(new Error('stopped'))
    await expect(first).rejects.toThrow('stopped')
    while (release.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    release[1]?.()
    expect((await second).data).toMatchObject({ answer: 'b' })
  })

  test.each([
    ['AskUserQuestion', { questions: [{ question: 'Which?', header: 'x', options: [{ label: 'a', description: 'd' }, { label: 'b' }] }] }],
    ['ask_followup_question', { question: 'Which?', follow_up: [{ text: 'a' }, { text: 'b' }] }],
    ['ask', { question: 'Which?', choices: ['a', 'b'] }],
  ])('%s', async (name, input) => {
    let asked: unknown
    const ask: Ask = async (question) => {
      asked = question
      return { answer: '1' }
    }
    expect(await call(name, input, { ask })).toContain('The person answered: a')
    expect(asked).toEqual({ question: 'Which?', options: ['a', 'b'] })
  })
})

describe('state', () => {
  test('in a file: for its owner only, and there at the next start', async () => {
    const file = join(temporary(), 'deep/state.json')
    const state = fileState(file)
    await Promise.all([state.set('a', 1), state.set('a', 2), state.set('b', [3])])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ a: 2, b: [3] })
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(fileState(file).get('b')).toEqual([3])
  })

  test('a broken file is put aside, and said once', async () => {
    const file = join(temporary(), 'state.json')
    writeFileSync(file, '{"todo": [')
    const tool = make({ state: fileState(file) })('todo')
    expect((await run(tool, { items: [{ text: 'a' }] })).notes).toEqual([expect.stringContaining('lost')])
    expect(await run(tool, {})).not.toHaveProperty('notes')
    expect(existsSync(`${file}.broken`)).toBe(true)
    writeFileSync(file, '{"todo": [{"text": 7}], "think": "x"}')
    const again = make({ state: fileState(file) })
    expect(await run(again('todo'), {})).toMatchObject({ count: 0 })
    expect(await run(again('think'), { mode: 'get' })).toMatchObject({ count: 0 })
  })

  test('is bounded', async () => {
    const state = fileState(join(temporary(), 'state.json'))
    expect(() => state.set('a', 'x'.repeat(1024 * 1024))).toThrow('full')
    expect(state.get('a')).toBeUndefined()
    expect(memoryState().get('a')).toBeUndefined()
  })
})
