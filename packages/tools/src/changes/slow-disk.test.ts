/** Tests a disk that does not respond: an aborted call ends at once, and nothing appears in the workspace later. */
import fs, { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Change, ChangeLog } from '../workspace/change.ts'
import { temporary } from '../workspace.fixture.ts'
import { createChangeLog } from './change-log.ts'
import { pendingPlans, resolved, snapshot } from './changes.fixture.ts'
import { directChanges } from './direct.ts'

const original = fs.fsync
const held: (() => void)[] = []
const release = (): void => {
  fs.fsync = original
  syncBuiltinESMExports()
  for (const sync of held.splice(0)) sync()
}
afterEach(release)

/** Blocks the `nth` call of fsync and all that follow. @returns a promise that resolves when it is reached */
function hold(nth: number): Promise<void> {
  let calls = 0
  return new Promise((reached) => {
    fs.fsync = ((fd: number, done: fs.NoParamCallback) => {
      if (++calls < nth) return original(fd, done)
      held.push(() => original(fd, done))
      reached()
    }) as typeof fs.fsync
    syncBuiltinESMExports()
  })
}

const wish = (root: string): readonly Change[] => [
  { kind: 'write', file: resolved(root, 'a.txt'), bytes: Buffer.from('a'), before: undefined },
  { kind: 'write', file: resolved(root, 'b.txt'), bytes: Buffer.from('b'), before: undefined },
  { kind: 'write', file: resolved(root, 'new/c.txt'), bytes: Buffer.from('c'), before: undefined },
]

/**
 * Syncs of the recorded log: three contents, the folder of contents, the plan and its folder, two staged files. The third file is in a new
 * folder and is written last.
 */
const LOGS: readonly {
  readonly name: string
  readonly holds: readonly number[]
  readonly open: (root: string, dir: string) => ChangeLog
}[] = [
  { name: 'with a record', holds: [1, 2, 3, 4, 7, 8], open: (root, dir) => createChangeLog({ root, dir }) },
  { name: 'without one', holds: [1, 2], open: directChanges },
]

describe.each(LOGS)('changes $name', ({ holds, open }) => {
  test.each(holds)('cut off while sync %i hangs', async (nth) => {
    const [root, dir] = [temporary(), temporary()]
    const log = open(root, dir)
    const before = snapshot(root)
    const stop = new AbortController()
    const reached = hold(nth)
    const making = log.apply('s/1/1/0', wish(root), stop.signal)
    await reached
    stop.abort(new Error('cut off'))
    await expect(making).rejects.toThrow('cut off')
    expect(snapshot(root)).toEqual(before)
    release()
    for (let at = 0; at < 20; at++) await turn()
    expect(snapshot(root)).toEqual(before)
    expect(pendingPlans(dir, root)).toEqual([])
    await log.apply('s/1/1/1', wish(root))
    expect(snapshot(root)).not.toEqual(before)
  })

  test('cut off while a file in a new folder is written: the folder is gone before the disk answers', async () => {
    const [root, dir] = [temporary(), temporary()]
    const before = snapshot(root)
    const stop = new AbortController()
    const reached = hold(Math.max(...holds) + 1)
    const making = open(root, dir).apply('s/1/1/0', wish(root), stop.signal)
    await reached
    expect(existsSync(join(root, 'new'))).toBe(true)
    stop.abort(new Error('cut off'))
    await vi.waitUntil(() => !existsSync(join(root, 'new')) && !existsSync(join(root, 'a.txt')))
    expect(snapshot(root)).toEqual(before)
    release()
    await expect(making).rejects.toThrow('cut off')
    expect(snapshot(root)).toEqual(before)
  })

  test('control: without a signal it waits for the disk, and the files appear when that answers', async () => {
    const [root, dir] = [temporary(), temporary()]
    const before = snapshot(root)
    const reached = hold(1)
    const making = open(root, dir).apply('s/1/1/0', wish(root))
    await reached
    release()
    await making
    expect(snapshot(root)).not.toEqual(before)
  })
})

test('nothing is begun for a call that is cut off already', async () => {
  const [root, dir] = [temporary(), temporary()]
  for (const { open } of LOGS) {
    await expect(open(root, dir).apply('s/1/1/0', wish(root), AbortSignal.abort(new Error('cut off')))).rejects.toThrow('cut off')
    expect(snapshot(root)).toEqual(snapshot(temporary()))
  }
})
