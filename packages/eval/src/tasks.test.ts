/** Tests the tasks themselves: a check passes for the reference, and fails for the wrong attempts. */
import { describe, expect, it } from 'vitest'
import { sandboxThere } from '../../host/src/tools/sandbox.fixture.ts'
import { attempt } from './attempt.fixture.ts'
import type { Check } from './check.ts'
import { type EvalTask, says } from './task.ts'
import { TASKS } from './tasks/index.ts'

const there = await sandboxThere()
const backend = there ? 'auto' : undefined
const FAIL_ON_PURPOSE = ['missing-file', 'outside', 'command-fails', 'effect-once', 'fix-test']

/** The faults of a task, one per line. */
async function faultsOf(task: EvalTask): Promise<readonly string[]> {
  const faults: string[] = []
  const reference = await attempt(task, task.reference, backend)
  const miss = task.check(reference)
  if (miss) faults.push(`the reference misses: ${miss.says}`)
  if (reference.errors.length > 0 && !FAIL_ON_PURPOSE.includes(task.id))
    faults.push(`the reference has errors: ${reference.errors.join('; ')}`)
  for (const wrong of [says(''), ...task.wrong])
    if (!task.check(await attempt(task, wrong, backend))) faults.push(`this passes: ${JSON.stringify(wrong)}`)
  if (task.wrong.length === 0) faults.push('nothing wrong is tried')
  return faults
}

describe.concurrent('tasks', () => {
  it.each(TASKS.filter(({ shell }) => there || !shell).map((task) => [task.id, task] as const))('%s', async (_, task) => {
    expect(await faultsOf(task)).toEqual([])
  })

  it.each([
    ['passes all', () => undefined, /this passes/],
    ['passes nothing', () => ({ reason: 'wrong answer', says: 'never' }), /the reference misses/],
    ['believes the model', ({ answer }) => (/done|now|there/i.test(answer) ? undefined : { reason: 'not told', says: '' }), /this passes/],
  ] as readonly [string, Check, RegExp][])('a check that %s is noticed', async (_, check, says) => {
    const task = TASKS.find(({ id }) => id === 'edit-one-line') as EvalTask
    expect((await faultsOf({ ...task, check })).join('\n')).toMatch(says)
  })
})

it('there are 30, each with an id of its own, and no prompt holds its answer', () => {
  expect(TASKS).toHaveLength(30)
  expect(new Set(TASKS.map(({ id }) => id)).size).toBe(30)
  for (const { id, check, prompt, files } of TASKS)
    expect([id, check({ answer: prompt, before: files, after: files, outsideChanged: false, ran: ['read_file'] })]).not.toEqual([
      id,
      undefined,
    ])
})
