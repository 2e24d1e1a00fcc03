import { expect, test, vi } from 'vitest'
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
  const records: string[] = []
  await ripgrep(['--text', '--only-matching', '--regexp=[A-Z_]+=', '--', './environ'], {
    cwd: '/proc/self',
    onRecord: (record) => records.push(record),
  })
  vi.unstubAllEnvs()
  expect(records.join('\n')).toContain('PATH=')
  expect(records.join('\n')).not.toMatch(/SOME_KEY|RIPGREP_CONFIG_PATH/)
})

test('what does not start is a failure', async () => {
  await expect(ripgrep(['x'], { cwd: `${root}/missing`, onRecord: () => undefined })).rejects.toMatchObject({
    name: 'ToolFailure',
    message: 'ripgrep could not be started (ENOENT).',
  })
})
