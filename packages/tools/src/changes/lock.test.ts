/** Tests two processes that change the same workspace at the same time. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../sha256.ts'
import type { Change } from '../workspace/change.ts'
import { put, temporary } from '../workspace.fixture.ts'
import { memoryBlobs } from './blobs.ts'
import { createChangeLog } from './change-log.ts'
import { resolved } from './changes.fixture.ts'
import { folderOf } from './folders.ts'
import { lockHolder } from './lock.fixture.ts'
import { withLock } from './lock.ts'
import { planInHand, rollBack } from './perform.ts'
import { toSteps } from './planner.ts'

let root: string
let dir: string
let folder: string
beforeEach(() => {
  const top = temporary()
  ;[root, dir] = [join(top, 'work'), join(top, 'data')]
  mkdirSync(root)
  put(root, { f: 'X' })
  folder = folderOf(dir, root)
})

const text = (): string => readFileSync(join(root, 'f'), 'utf8')
const change = (): Change => ({ kind: 'write', file: resolved(root, 'f'), bytes: Buffer.from('Y'), before: sha256('X') })
describe('a change that is refused since another has made the same', () => {
  async function refused() {
    const blobs = memoryBlobs(true)
    const steps = await toSteps(root, [change()], blobs)
    await createChangeLog({ dir, root }).apply('a/1/1/0', [change()])
    const plan = planInHand(root, steps, blobs)
    await expect(plan.perform()).rejects.toThrow()
    return { plan, steps, blobs }
  }

  test('does not take that one back', async () => {
    const { plan } = await refused()
    await plan.rollBack()
    expect(text()).toBe('Y')
  })

  test('control: told from the tree alone, it would', async () => {
    const { steps, blobs } = await refused()
    await rollBack(root, steps, blobs)
    expect(text()).toBe('X')
  })
})

test('of two with the same change one succeeds, and its work stays', async () => {
  const logs = [createChangeLog({ dir, root }), createChangeLog({ dir, root })]
  const results = await Promise.allSettled(logs.map((log, index) => log.apply(`s${index}/1/1/0`, [change()])))
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { errorType: 'conflict' } })
  expect(text()).toBe('Y')
})

test('never two at the same time', async () => {
  let inside = 0
  const most: number[] = []
  const work = async (): Promise<void> => {
    most.push(++inside)
    await new Promise(setImmediate)
    inside--
  }
  await Promise.all(Array.from({ length: 8 }, () => withLock(folder, 60_000, work)))
  expect(most).toEqual(Array.from({ length: 8 }, () => 1))
})

test('a process that holds it is waited for, then it is a conflict; killed, it holds nothing', async () => {
  const kill = await lockHolder(dir, root)
  const log = createChangeLog({ dir, root, lockWait: 50 })
  await expect(log.apply('s/1/1/0', [change()])).rejects.toMatchObject({ status: 'failed', errorType: 'conflict' })
  expect(text()).toBe('X')
  await kill()
  await log.apply('s/1/1/0', [change()])
  expect(text()).toBe('Y')
})

test('work that fails gives it back', async () => {
  await expect(withLock(folder, 0, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await withLock(folder, 0, async () => 'mine')).toBe('mine')
})
