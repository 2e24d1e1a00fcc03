/** The process is killed while it keeps what a command did: all or nothing, no lock of git stays, and no layer. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createExecutor, type HeldCall, modePolicy, render } from '@mulligan/core'
import { createSandbox } from '@mulligan/sandbox'
import { expect, test } from 'vitest'
import { createChangeLog } from '../../changes/change-log.ts'
import { snapshot } from '../../changes/changes.fixture.ts'
import { releaseDeadLocks } from '../../changes/git-locks.ts'
import { thisProcess } from '../../changes/owner.ts'
import { put, temporary } from '../../workspace.fixture.ts'
import { shell } from '../shell.fixture.ts'

const runner = fileURLToPath(new URL('killed.fixture.ts', import.meta.url))

function place() {
  const top = temporary()
  const [root, data] = [join(top, 'work'), join(top, 'data')]
  for (const folder of [root, data]) mkdirSync(folder)
  put(root, { 'a.txt': 'one\n', 'src/b.txt': 'b\n', 'run.sh': 'exit 0\n' })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe', encoding: 'utf8' })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'one')
  return { root, data, git }
}

type Place = ReturnType<typeof place>

const killed = ({ root, data }: Place, at: number): Promise<boolean> =>
  new Promise((resolve, reject) =>
    spawn(process.execPath, [runner], {
      env: { ...process.env, KILL_AT: String(at), KILL_ROOT: root, KILL_DATA: data },
      stdio: ['ignore', 'inherit', 'inherit'],
    }).on('exit', (code, signal) =>
      signal === 'SIGKILL' ? resolve(true) : code === 0 ? resolve(false) : reject(new Error(`exit ${code}`)),
    ),
  )

const locks = ({ root }: Place) => Object.keys(snapshot(join(root, '.git'))).filter((path) => path.endsWith('.lock'))
const STEP = 29

test('at any write: all or nothing after recovery, and git goes on', async () => {
  let [withLocks, done, undone] = [0, 0, 0]
  for (let at = 1; ; at += STEP) {
    const here = place()
    const before = snapshot(here.root)
    if (!(await killed(here, at))) break
    withLocks += locks(here).length > 0 ? 1 : 0
    const log = createChangeLog({ dir: join(here.data, 'changes'), root: here.root })
    await log.recover()
    expect(locks(here)).toEqual([])
    if ((await log.turns()).length > 0) {
      done++
      expect(here.git('log', '--format=%s')).toBe('two\none\n')
      expect(here.git('status', '--porcelain')).toBe('')
    } else {
      undone++
      expect([at, snapshot(here.root)]).toEqual([at, before])
    }
    expect(here.git('fsck')).toBe('')
    // The next session finds the layer of the dead process, and removes it.
    const sandbox = await createSandbox({ workspace: here.root, backend: 'bubblewrap', stateFolder: join(here.data, 'layers') })
    await (await sandbox.openLayer()).discard()
    await sandbox.close()
    expect(readdirSync(join(here.data, 'layers'))).toEqual([])
  }
  // Control: there was something to put right.
  expect([withLocks > 0, undone > 2, done + undone > 4]).toEqual([true, true, true])
}, 600_000)

test('a lock of a process that lives, and one of git itself, are left alone', async () => {
  const here = place()
  const mine = `mulligan:${JSON.stringify({ owner: thisProcess(), at: Date.now() })}`
  symlinkSync(mine, join(here.root, '.git/HEAD.lock'))
  writeFileSync(join(here.root, '.git/index.lock'), '')
  symlinkSync(
    `mulligan:${JSON.stringify({ owner: { ...thisProcess(), instance: 'another' }, at: 0 })}`,
    join(here.root, '.git/config.lock'),
  )
  await releaseDeadLocks(here.root)
  expect(locks(here)).toEqual(['HEAD.lock', 'index.lock'])
  expect(readlinkSync(join(here.root, '.git/HEAD.lock'))).toBe(mine)
})

test('after a restart an approved change set is not there: nothing is kept, and the model is told to run it again', async () => {
  const options = { layers: true, sandboxOptions: { backend: 'bubblewrap' } } as const
  const first = shell({ 'a.txt': 'one\n' }, options)
  chmodSync(join(first.root, 'a.txt'), 0o600)
  const one = createExecutor({ tools: first.tools, policy: modePolicy('ask') })
  const prepared = await one.prepare({ id: 's/1/1/0', step: 1, ordinal: 0, name: 'bash', input: { command: 'echo two > a.txt' } })
  const performed = prepared.kind === 'ready' ? await one.perform(prepared.call) : undefined
  if (performed?.kind !== 'held') throw new Error('not held')
  const later = createExecutor({ tools: shell({}, options, first.root).tools, policy: modePolicy('ask') })
  const { result } = await later.apply(JSON.parse(JSON.stringify(performed)) as HeldCall, { answer: 'once' })
  expect(result).toMatchObject({ ok: false, status: 'retry', errorType: 'conflict' })
  expect(render(result)).toMatch(/is not there any more, so nothing was kept\. Run the same command again/)
  expect([snapshot(first.root)['a.txt'], existsSync(join(first.root, '.git'))]).toEqual(['file 600 one\n', false])
})
