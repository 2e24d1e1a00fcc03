/** `kill -9` at any write while changes are kept: after the next start, either all of them are there or none, and git works. */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listLayers } from '@mulligan/sandbox'
import { describe, expect, test } from 'vitest'
import { isAll } from '../../../../../scripts/test-scope.fixture.ts'
import { createChangeLog } from '../../changes/change-log.ts'
import { pendingPlans } from '../../changes/changes.fixture.ts'
import { put, temporary } from '../../workspace.fixture.ts'
import { BACKEND } from '../shell.fixture.ts'
import { repositoryOf, START, scriptOf, treeOf } from './sequences.fixture.ts'

const program = fileURLToPath(new URL('kill.fixture.ts', import.meta.url))
/** Makes every kind of change, and a commit on a new branch. */
const COMMAND = scriptOf([
  'echo two > a; rm -r docs; mkdir -p new/deep; echo x > new/deep/file; chmod 600 b; ln -s ../a new/link; mv src/a src/c',
  'git checkout -q -b more; git add -A; git commit -qm two',
])
/** Kills at every nth write and at the last writes, which complete the operation. `KILL_EVERY=1` kills at each write. */
const EVERY = Number(process.env['KILL_EVERY'] ?? (isAll ? 20 : 40))
const LAST = 3
const TIMEOUT = EVERY === 1 ? 3_600_000 : 600_000

describe.skipIf(BACKEND !== 'bubblewrap')('a keep that is killed', { timeout: TIMEOUT }, () => {
  test('is whole, or never was', async () => {
    const top = temporary()
    const [root, data, template] = ['work', 'data', 'template'].map((one) => join(top, one)) as [string, string, string]
    put(template, START)
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: template })
    execFileSync('bash', ['-c', scriptOf(['git add -A && git commit -qm one'])], { cwd: template })
    const seen = (): object => ({ tree: treeOf(root), repository: repositoryOf(root) })
    /**
     * Keeps a command's changes in a process that is killed at a write.
     * @returns the number of writes if it completed
     */
    const killed = async (at: number): Promise<number | undefined> => {
      for (const folder of [root, data]) rmSync(folder, { recursive: true, force: true })
      cpSync(template, root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
      mkdirSync(data)
      const child = spawn(process.execPath, [program, root, join(data, 'changes'), join(data, 'layers'), COMMAND, String(at)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let told = ''
      child.stdout.on('data', (bytes) => {
        told += bytes
      })
      const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)))
      if (signal === 'SIGKILL') return undefined
      const { ok, writes } = JSON.parse(told) as { ok: boolean; writes: number }
      expect(ok).toBe(true)
      return writes
    }
    const total = await killed(0)
    const after = seen()
    const log = createChangeLog({ dir: join(data, 'changes'), root })
    await log.undo('s/1')
    const before = seen()
    expect(before).not.toEqual(after)
    const ends = new Set<string>()
    let torn = 0
    const writes = Array.from({ length: total as number }, (_, at) => at + 1)
    for (const at of writes.filter((one) => one % EVERY === 1 % EVERY || one > writes.length - LAST)) {
      expect(await killed(at)).toBeUndefined()
      const log = createChangeLog({ dir: join(data, 'changes'), root })
      if (JSON.stringify(treeOf(root)) !== JSON.stringify((before as { tree: object }).tree)) torn++
      await log.recover()
      await listLayers({ stateFolder: join(data, 'layers') })
      const isKept = (await log.turns()).length > 0
      expect([at, seen()]).toEqual([at, isKept ? after : before])
      expect(locksIn(join(root, '.git'))).toEqual([])
      expect([
        pendingPlans(join(data, 'changes'), root),
        readdirSync(join(data, 'layers')).filter((one) => one.startsWith('layer-')),
      ]).toEqual([[], []])
      ends.add(String(isKept))
    }
    // Control: some were killed half way, not only before and after.
    if (process.env['KILL_EVERY']) console.log(`${writes.length} writes, torn at ${torn}`)
    expect([ends, torn > 2]).toEqual([new Set(['false', 'true']), true])
  })
})

const locksIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.lock'))
