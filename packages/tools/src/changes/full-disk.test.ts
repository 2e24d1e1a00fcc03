/** Tests disks that are really full or not writable: the change is refused and nothing is changed. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Change } from '../workspace/change.ts'
import { temporary } from '../workspace.fixture.ts'
import { createChangeLog } from './change-log.ts'
import { pendingPlans, resolved, snapshot } from './changes.fixture.ts'

const mounts: string[] = []
afterEach(() => {
  for (const at of mounts.splice(0)) execFileSync('umount', [at])
})

function mounted(options: string): string {
  const at = temporary()
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', at])
  mounts.push(at)
  return at
}

/** Mounting needs privileges that tests usually lack. In CI they must be available. */
function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const at = temporary()
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', at]).status !== 0) return false
  return spawnSync('umount', [at]).status === 0
}

const changes = (root: string): readonly Change[] => [
  { kind: 'write', file: resolved(root, 'small.txt'), bytes: Buffer.from('small'), before: undefined },
  { kind: 'delete', file: resolved(root, 'old.txt'), before: undefined },
  { kind: 'write', file: resolved(root, 'new/large.txt'), bytes: Buffer.alloc(200_000, 'x'), before: undefined },
]

describe.runIf(canMount() || process.env['CI'] !== undefined)('a full disk', () => {
  test('where changes are kept', async () => {
    const [root, dir] = [temporary(), mounted('size=64k')]
    writeFileSync(join(root, 'old.txt'), 'old')
    const before = snapshot(root)
    await expect(createChangeLog({ dir, root }).apply('s/1/1/0', changes(root))).rejects.toMatchObject({
      status: 'failed',
      message: expect.stringContaining('no space is left'),
    })
    expect(snapshot(root)).toEqual(before)
    expect(pendingPlans(dir, root)).toEqual([])
  })

  test('where the workspace is', async () => {
    const [root, dir] = [mounted('size=64k'), temporary()]
    writeFileSync(join(root, 'old.txt'), 'old')
    const before = snapshot(root)
    await expect(createChangeLog({ dir, root }).apply('s/1/1/0', changes(root))).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(snapshot(root)).toEqual(before)
    expect(pendingPlans(dir, root)).toEqual([])
  })

  test('control: a file is half written where there is neither a plan nor a file laid ready', () => {
    const root = mounted('size=64k')
    expect(() => writeFileSync(join(root, 'large.txt'), Buffer.alloc(200_000, 'x'))).toThrow('ENOSPC')
    expect(Object.keys(snapshot(root))).toEqual(['large.txt'])
  })

  test('a part of the workspace that is read-only', async () => {
    const [root, dir] = [temporary(), temporary()]
    writeFileSync(join(root, 'old.txt'), 'old')
    mkdirSync(join(root, 'new'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,size=64k', 'tmpfs', join(root, 'new')])
    mounts.push(join(root, 'new'))
    const before = snapshot(root)
    await expect(createChangeLog({ dir, root }).apply('s/1/1/0', changes(root))).rejects.toMatchObject({ code: 'EROFS' })
    expect(snapshot(root)).toEqual(before)
  })

  test('a file is moved to another file system as a copy, a folder not at all', async () => {
    const [root, dir] = [temporary(), temporary()]
    writeFileSync(join(root, 'old.txt'), 'old')
    mkdirSync(join(root, 'folder'))
    mkdirSync(join(root, 'new'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', join(root, 'new')])
    mounts.push(join(root, 'new'))
    const log = createChangeLog({ dir, root })
    const before = snapshot(root)
    const move = (from: string, to: string): Change => ({
      kind: 'move',
      from: resolved(root, from),
      to: resolved(root, to),
      before: undefined,
    })
    await expect(log.apply('s/1/1/0', [move('folder', 'new/folder')])).rejects.toMatchObject({ code: 'EXDEV' })
    expect(snapshot(root)).toEqual(before)
    await log.apply('s/1/2/0', [move('old.txt', 'new/old.txt')])
    expect(Object.keys(snapshot(root))).toEqual(['folder', 'new', 'new/old.txt'])
    await log.undo('s/1')
    expect(snapshot(root)).toEqual(before)
  })
})
