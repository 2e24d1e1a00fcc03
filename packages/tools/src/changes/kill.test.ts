/** Kills the process between any two writes and checks that the next start restores the original state. */
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isAll } from '../../../../scripts/test-scope.fixture.ts'
import { put, temporary } from '../workspace.fixture.ts'
import { createChangeLog } from './change-log.ts'
import { pendingPlans, snapshot } from './changes.fixture.ts'
import { changesOf } from './kill.fixture.ts'
import { lockHolder } from './lock.fixture.ts'

const runner = fileURLToPath(new URL('kill.fixture.ts', import.meta.url))
const AT_ONCE = 3

interface Place {
  readonly root: string
  readonly dir: string
}

function place(): Place {
  const top = temporary()
  const [root, dir] = [join(top, 'work'), join(top, 'data')]
  mkdirSync(root)
  put(root, { 'a.txt': 'a\n', 'gone.txt': 'gone\n', 'run.sh': 'exit 0\n', 'folder/inner/c.txt': 'c\n', 'untouched.txt': 'x\n' })
  chmodSync(join(root, 'run.sh'), 0o755)
  chmodSync(join(root, 'gone.txt'), 0o600)
  mkdirSync(join(root, 'empty'))
  chmodSync(join(root, 'empty'), 0o700)
  symlinkSync('a.txt', join(root, 'link'))
  return { root, dir }
}

/** @returns true if it was killed; false if it made fewer writes than that */
function killed({ root, dir }: Place, at: number, env: Record<string, string> = {}): Promise<boolean> {
  const child = spawn(process.execPath, [runner], {
    env: { ...process.env, KILL_AT: String(at), KILL_ROOT: root, KILL_DIR: dir, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return new Promise((resolve, reject) =>
    child.on('exit', (code, signal) =>
      signal === 'SIGKILL' ? resolve(true) : code === 0 ? resolve(false) : reject(new Error(`exit ${code}`)),
    ),
  )
}

/** Runs `check` for every `step`-th write until the process completes. @returns the number of writes */
async function atEachWrite(check: (at: number) => Promise<boolean>, step = 1): Promise<number> {
  for (let from = 1; ; from += AT_ONCE * step) {
    const outcomes = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => check(from + index * step)))
    const end = outcomes.indexOf(false)
    if (end !== -1) return from + end * step - 1
  }
}

test('a changeset: all as it was, or all done', async () => {
  const writes = await atEachWrite(
    async (at) => {
      const here = place()
      const before = snapshot(here.root)
      if (!(await killed(here, at))) return false
      const log = createChangeLog({ dir: here.dir, root: here.root })
      await log.recover()
      const isDone = (await log.turns()).length > 0
      if (isDone) await log.undo('s/1')
      expect([at, snapshot(here.root)]).toEqual([at, before])
      expect(pendingPlans(here.dir, here.root)).toEqual([])
      return true
      // atomic.test.ts tries every single write, in a process that continues but no longer reaches the disk.
    },
    isAll ? 2 : 6,
  )
  expect(writes).toBeGreaterThan(30)
}, 240_000)

test('control: without the journal the tree is torn', async () => {
  const torn: number[] = []
  const reference = place()
  await createChangeLog(reference).apply('s/1/1/0', changesOf(reference.root))
  const after = JSON.stringify(snapshot(reference.root))
  await atEachWrite(async (at) => {
    const here = place()
    const before = JSON.stringify(snapshot(here.root))
    if (!(await killed(here, at, { KILL_JOURNAL: 'off' }))) return false
    await createChangeLog(here).recover()
    const now = JSON.stringify(snapshot(here.root))
    if (now !== before && now !== after) torn.push(at)
    return true
  }, 4)
  expect(torn.length).toBeGreaterThan(2)
}, 240_000)

test('an undo, and a recovery that is itself killed', async () => {
  const done = place()
  const before = snapshot(done.root)
  await createChangeLog(done).apply('s/1/1/0', changesOf(done.root))
  const after = snapshot(done.root)
  /** The journal identifies a workspace by its path, so each case is set up at that path. */
  const kept = temporary()
  for (const part of ['root', 'dir'] as const) cpSync(done[part], join(kept, part), { recursive: true, verbatimSymlinks: true })
  const reset = (): void => {
    for (const part of ['root', 'dir'] as const) {
      rmSync(done[part], { recursive: true })
      cpSync(join(kept, part), done[part], { recursive: true, verbatimSymlinks: true })
    }
  }
  for (let at = 1; ; at += isAll ? 6 : 12) {
    reset()
    if (!(await killed(done, at, { KILL_WHAT: 'undo' }))) break
    // The process that recovers is killed too, early and late.
    await killed(done, 1 + (at % 9), { KILL_WHAT: 'recover' })
    const log = createChangeLog(done)
    await log.recover()
    const [turn] = await log.turns()
    expect([at, snapshot(done.root)]).toEqual([at, turn?.undone ? before : after])
    expect(pendingPlans(done.dir, done.root)).toEqual([])
  }
}, 240_000)

test('a plan is left alone while a process holds the lock, and taken back once that one is killed', async () => {
  let here = place()
  for (let at = 20; ; at += 5) {
    const before = snapshot(here.root)
    await killed(here, at)
    if (pendingPlans(here.dir, here.root).length > 0 && JSON.stringify(snapshot(here.root)) !== JSON.stringify(before)) break
    here = place()
  }
  const torn = snapshot(here.root)
  const kill = await lockHolder(here.dir, here.root)
  await createChangeLog(here).recover()
  expect(snapshot(here.root)).toEqual(torn)
  await kill()
  await createChangeLog(here).recover()
  expect(snapshot(here.root)).not.toEqual(torn)
})
