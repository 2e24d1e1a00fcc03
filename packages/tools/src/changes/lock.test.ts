/** Two processes that change the same workspace at the same time. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../files/common/file-bytes.ts'
import { put, temporary } from '../workspace.fixture.ts'
import { memoryBlobs } from './blobs.ts'
import type { Change } from './change.ts'
import { createChangeLog } from './change-log.ts'
import { resolved } from './changes.fixture.ts'
import { folderOf } from './folders.ts'
import { withLock } from './lock.ts'
import { thisProcess } from './owner.ts'
import { planInHand, rollBack } from './perform.ts'
import { toSteps } from './to-steps.ts'

let root: string
let dir: string
let lock: string
beforeEach(() => {
  const top = temporary()
  ;[root, dir] = [join(top, 'work'), join(top, 'data')]
  mkdirSync(root)
  put(root, { f: 'X' })
  lock = join(folderOf(dir, root), 'lock')
})

const text = (): string => readFileSync(join(root, 'f'), 'utf8')
const change = (): Change => ({ kind: 'write', file: resolved(root, 'f'), bytes: Buffer.from('Y'), before: sha256('X') })
const left = (owner: unknown): void => {
  mkdirSync(lock, { recursive: true })
  writeFileSync(join(lock, 'left.json'), JSON.stringify({ owner, at: Date.now() }))
}

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
    await plan.takeBack()
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

test('never two at the same time, and nothing is left of the lock', async () => {
  let inside = 0
  const most: number[] = []
  const work = async (): Promise<void> => {
    most.push(++inside)
    await new Promise(setImmediate)
    inside--
  }
  await Promise.all(Array.from({ length: 8 }, () => withLock(lock, 60_000, work)))
  expect(most).toEqual(Array.from({ length: 8 }, () => 1))
  expect(readdirSync(lock)).toEqual([])
})

test('one that is alive is waited for, and then it is a conflict', async () => {
  // A process that is there as long as this one is.
  left({ ...thisProcess(), pid: process.ppid, instance: 'another', started: undefined })
  const log = createChangeLog({ dir, root, lockWait: 50 })
  await expect(log.apply('s/1/1/0', [change()])).rejects.toMatchObject({ status: 'failed', errorType: 'conflict' })
  expect(text()).toBe('X')
})

test.each([
  ['a process that is gone', { pid: 2 ** 22 }],
  ['an earlier process with this number', { instance: 'another' }],
  ['this process, which could not remove it', {}],
])('that of %s is broken', async (_, owner) => {
  left({ ...thisProcess(), ...owner })
  await createChangeLog({ dir, root, lockWait: 50 }).apply('s/1/1/0', [change()])
  expect(text()).toBe('Y')
  expect(readdirSync(lock)).toEqual([])
})
