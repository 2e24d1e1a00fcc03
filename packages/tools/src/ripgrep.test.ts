import { spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { ripgrep } from './ripgrep.ts'
import { fixture } from './workspace.fixture.ts'

const { root } = fixture({ 'a.txt': 'one\ntwo\n', 'b.txt': 'one\n' })

test('records, exit code and errors', async () => {
  const records: string[] = []
  const end = await ripgrep(['one', '.', './missing'], { cwd: root, onRecord: (record) => records.push(record) })
  expect(records.sort()).toEqual(['./a.txt:one', './b.txt:one'])
  expect(end).toMatchObject({ code: 2, stopped: 'end', dropped: 0 })
  expect(end.stderr).toContain('missing')
})

test('the consumer can stop it', async () => {
  const records: string[] = []
  const end = await ripgrep(['--files', '.'], { cwd: root, onRecord: (record) => records.push(record) < 1 })
  expect([records.length, end.stopped]).toEqual([1, 'consumer'])
})

test('a passed deadline stops it before it starts', async () => {
  expect(await ripgrep(['x'], { cwd: root, deadline: AbortSignal.abort(), onRecord: () => undefined })).toMatchObject({
    stopped: 'deadline',
  })
})

test('an aborted turn is thrown', async () => {
  await expect(ripgrep(['x'], { cwd: root, signal: AbortSignal.abort(new Error('stop')), onRecord: () => undefined })).rejects.toThrow(
    'stop',
  )
})

test.runIf(process.platform === 'linux')('sees nothing of the environment but what it needs', async () => {
  vi.stubEnv('SOME_KEY', 'sk-secret')
  vi.stubEnv('RIPGREP_CONFIG_PATH', '/etc/rg')
  vi.stubEnv('HOME', root)
  const records: string[] = []
  await ripgrep(['--text', '--only-matching', '--regexp=[A-Z_]+=', '--', './environ'], {
    cwd: '/proc/self',
    onRecord: (record) => records.push(record),
  })
  vi.unstubAllEnvs()
  expect(records.join('\n')).toContain('HOME=')
  expect(records.join('\n')).not.toMatch(/SOME_KEY|PATH/)
})

test('what does not start is a failure', async () => {
  await expect(ripgrep(['x'], { cwd: `${root}/missing`, onRecord: () => undefined })).rejects.toMatchObject({
    name: 'ToolFailure',
    message: 'ripgrep could not be started (ENOENT).',
  })
})

describe.runIf(process.platform === 'linux')('no process is left behind', () => {
  const big = fixture()
  const place = join(big.root, 'hole')
  closeSync(openSync(place, 'w'))
  truncateSync(place, 64 * 1024 ** 3)
  /** Returns the ripgrep processes that are running in the folder. */
  const alive = (): string[] =>
    readdirSync('/proc').filter((pid) => {
      try {
        return (
          /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === big.root && readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'rg'
        )
      } catch {
        return false
      }
    })
  const ARGS = ['--text', 'needle', 'hole']
  const started = async (): Promise<void> => {
    while (alive().length === 0) await new Promise((done) => setTimeout(done, 5))
  }

  test('after an abort', async () => {
    const stop = new AbortController()
    const running = ripgrep(ARGS, { cwd: big.root, signal: stop.signal, onRecord: () => undefined })
    await started()
    stop.abort(new Error('stop'))
    await expect(running).rejects.toThrow('stop')
    expect(alive()).toEqual([])
  })

  test('after a deadline', async () => {
    const deadline = new AbortController()
    const running = ripgrep(ARGS, { cwd: big.root, deadline: deadline.signal, onRecord: () => undefined })
    await started()
    deadline.abort()
    expect(await running).toMatchObject({ stopped: 'deadline' })
    expect(alive()).toEqual([])
  })

  test('after the end of the process that searched', async () => {
    const src = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
    const hook = `import { registerHooks } from 'node:module'
      const own = { '@mulligan/core': ${src('../../core/src/index.ts')}, '@mulligan/core/executor': ${src('../../core/src/executor.ts')}, '@mulligan/repair': ${src('../../repair/src/index.ts')} }
      registerHooks({ resolve: (name, context, next) => next(own[name] ?? name, context) })`
    const script = `const { ripgrep } = await import(${src('./ripgrep.ts')})
      process.stdin.once('data', () => process.exit())
      await ripgrep(${JSON.stringify(ARGS)}, { cwd: ${JSON.stringify(big.root)}, onRecord: () => undefined })`
    const child = spawn(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, '--input-type=module', '--eval', script],
      {
        stdio: ['pipe', 'ignore', 'inherit'],
      },
    )
    await started()
    child.stdin?.write('end')
    await new Promise((done) => child.once('close', done))
    while (alive().length > 0) await new Promise((done) => setTimeout(done, 5))
  })
})
