/** `bash` on layers, as run by a turn: nothing needs approval beforehand, and the mode or a person decides on a command's changes. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ApprovalDecision, render, type ToolEvent } from '@mulligan/core'
import { createExecutor, type HeldCall, type Mode, modePolicy } from '@mulligan/core/executor'
import { createSandbox } from '@mulligan/sandbox'
import { describe, expect, test } from 'vitest'
import { snapshot } from '../../changes/changes.fixture.ts'
import { NEW_REPOSITORY } from '../../git/common/parameters.ts'
import { temporary } from '../../workspace.fixture.ts'
import { type ShellFixtureOptions, shell } from '../shell.fixture.ts'

const FILES = { ...NEW_REPOSITORY, '.gitignore': 'dist/\n', 'a.txt': 'one\n' }
const OVERLAY = { layers: true, sandboxOptions: { backend: 'bubblewrap' } } as const

function session(
  mode: Mode,
  answer: ApprovalDecision['answer'] = 'nobody',
  options: ShellFixtureOptions | ((root: string) => ShellFixtureOptions) = OVERLAY,
) {
  const root = temporary()
  const made = shell(FILES, typeof options === 'function' ? options(root) : options, root)
  const asked: string[] = []
  const events: ToolEvent[] = []
  const executor = createExecutor({ tools: made.tools, policy: modePolicy(mode), onEvent: (event) => void events.push(event) })
  let ordinal = 0
  const use = async (name: string, input: object) => {
    const id = `s/1/1/${ordinal}`
    const prepared = await executor.prepare({ id, step: 1, ordinal: ordinal++, name, input })
    if (prepared.kind === 'result') return prepared.record
    if (prepared.kind === 'approval') {
      asked.push('before')
      const decided = await executor.decide(prepared.call, prepared.request, { answer })
      return decided.kind === 'result' ? decided.record : executor.execute(decided.call)
    }
    const performed = await executor.perform(prepared.call)
    if (performed.kind === 'result') return performed.record
    asked.push(performed.request.changes.summary)
    return executor.apply(performed, { answer })
  }
  const call = (command: string, more: object = {}) => use('bash', { command, ...more })
  return { root: made.root, call, use, asked, text: (path: string) => readFileSync(join(made.root, path), 'utf8') }
}

describe('on a layer', () => {
  test.each<Mode>([
    'read-only',
    'ask',
    'auto-edit',
    'auto',
  ])('in the mode %s, what changes nothing runs without a question', async (mode) => {
    const { call, asked } = session(mode)
    for (const command of ['for f in *.txt; do cat "$f"; done', 'cat <<E\n$(wc -l < a.txt)\nE', 'mkdir dist && echo x > dist/x'])
      expect((await call(command)).result).toMatchObject({ ok: true })
    expect(asked).toEqual([])
  })

  test('a server that was started directly is reached until it is ended', async () => {
    const { call, use, asked } = session('ask', 'once')
    const serve = `node -e 'require("http").createServer((_, r) => r.end("hello")).listen(3123)'`
    const get = `node -e 'fetch("http://localhost:3123").then((r) => r.text()).then(console.log, (e) => { console.error(e); process.exit(1) })'`
    const started = await call(serve, { background: true, writes: 'direct' })
    const { id } = (started.result as { data: { id: string } }).data
    expect(render((await call(`until ${get} 2>/dev/null; do sleep 0.1; done`, { timeout: 30 })).result)).toContain('hello')
    await use('bash_kill', { id })
    const after = render((await call(get)).result)
    expect(after).toContain('Nothing listens there')
    expect(after).not.toContain('no network')
    expect(asked.filter((one) => one === 'before')).toHaveLength(asked.length)
  })

  test('even `rm -rf` has done nothing when the question is put, nor after a no', async () => {
    const { call, asked, text } = session('ask', 'no')
    const { result } = await call('rm -rf -- * && echo gone')
    expect([asked, text('a.txt')]).toEqual([['1 file deleted'], 'one\n'])
    expect(render(result)).toMatch(/^denied[\s\S]*discarded \(1 file deleted\)[\s\S]*gone/)
  })

  test('a yes keeps it', async () => {
    const { call, asked, text } = session('ask', 'once')
    expect(await call('echo two > a.txt')).toMatchObject({ effect: 'write', changed: ['a.txt'], result: { ok: true } })
    expect([asked, text('a.txt')]).toEqual([['1 file changed'], 'two\n'])
  })

  test('auto keeps at once, read-only never', async () => {
    const auto = session('auto')
    await auto.call('echo two > a.txt')
    const closed = session('read-only', 'once')
    expect((await closed.call('echo two > a.txt')).result).toMatchObject({ status: 'denied' })
    expect([auto.asked, auto.text('a.txt'), closed.asked, closed.text('a.txt')]).toEqual([[], 'two\n', [], 'one\n'])
  })

  test('a failed command is failed, with what it changed kept', async () => {
    const { call, text } = session('auto')
    expect((await call('echo two > a.txt; exit 3')).result).toMatchObject({ ok: false, status: 'failed' })
    expect(text('a.txt')).toBe('two\n')
  })

  test('a command that has to be written otherwise changes nothing', async () => {
    const { call, asked, text } = session('ask', 'once')
    expect((await call('echo two > a.txt; ech hi')).result).toMatchObject({ ok: false, status: 'retry' })
    expect([asked, text('a.txt')]).toEqual([[], 'one\n'])
  })

  test('one that is cut off is failed and not indeterminate, and leaves nothing', async () => {
    const { call, text } = session('auto')
    const { result } = await call('echo two > a.txt; sleep 30', { timeout: 1 })
    expect([render(result), text('a.txt')]).toEqual([
      expect.stringMatching(/^failed \(timeout\)[\s\S]*none of its changes were kept/),
      'one\n',
    ])
    expect(render(result)).not.toContain('Changes that it had made remain')
  })

  test('what must write the real files, or stays in the background, asks before', async () => {
    const { call, asked, root } = session('ask', 'nobody')
    await call('touch direct', { writes: 'direct' })
    await call('sleep 30', { background: true })
    expect([asked, existsSync(join(root, 'direct'))]).toEqual([['before', 'before'], false])
    const allowed = session('ask', 'once')
    await allowed.call('touch direct', { writes: 'direct' })
    expect(existsSync(join(allowed.root, 'direct'))).toBe(true)
  })

  test('the person changes a file while it is asked about: a conflict, and theirs stays', async () => {
    const made = shell(FILES, OVERLAY)
    const executor = createExecutor({ tools: made.tools, policy: modePolicy('ask') })
    const prepared = await executor.prepare({ id: 's/1/1/0', step: 1, ordinal: 0, name: 'bash', input: { command: 'echo two > a.txt' } })
    const performed = prepared.kind === 'ready' ? await executor.perform(prepared.call) : undefined
    if (performed?.kind !== 'held') throw new Error('not held')
    writeFileSync(join(made.root, 'a.txt'), 'mine\n')
    expect((await executor.apply(performed, { answer: 'once' })).result).toMatchObject({ status: 'retry', errorType: 'conflict' })
    expect(readFileSync(join(made.root, 'a.txt'), 'utf8')).toBe('mine\n')
  })
})

describe('what is not as it is elsewhere is said', () => {
  const SECRET = {
    '.env': 'TOKEN=hunter2\n',
    'read.mjs': "import { readFileSync as r } from 'node:fs'; process.exit(r('.env', 'utf8') === '' ? 3 : 0)",
  }
  const put = (root: string) => Object.entries(SECRET).map(([path, text]) => writeFileSync(join(root, path), text))

  test('a secret file is empty: the result names it and how it is allowed', async () => {
    const { call, root } = session('auto')
    put(root)
    const says = /\.env: commands see secret files empty.*mulligan config set sandbox\.readable '\["\.env"\]'/
    const [named, grepped, failed, other] = [
      (await call('cat .env')).result,
      (await call('grep TOKEN .env')).result,
      (await call('node read.mjs')).result,
      (await call('echo fine')).result,
    ]
    expect([named, grepped, failed, other]).toMatchObject([{ ok: true }, { ok: true, count: 0 }, { status: 'failed' }, { ok: true }])
    for (const result of [named, grepped, failed]) expect(render(result)).toMatch(says)
    expect(render(other)).not.toMatch(says)
  })

  test('control: a file that may be read is, and nothing is said', async () => {
    const { call, root } = session('auto', 'nobody', { ...OVERLAY, readableSecrets: ['.env'] })
    put(root)
    const { result } = await call('cat .env && node read.mjs')
    expect([result, render(result).includes('secret')]).toMatchObject([{ ok: true, data: { stdout: 'TOKEN=hunter2' } }, false])
  })

  test('a folder can be moved; a program that may only rename it is told why not', async () => {
    const { call, root } = session('auto')
    expect((await call('mkdir src && echo x > src/x')).result).toMatchObject({ ok: true })
    const hint = /overlay with userxattr has no redirect_dir/
    const renamed = (await call(`node -e "require('fs').renameSync('src', 'lib')"`)).result
    expect([renamed, render(renamed)]).toEqual([expect.objectContaining({ status: 'failed' }), expect.stringMatching(hint)])
    const moved = (await call('mv src lib && cat lib/x')).result
    expect([moved, render(moved)]).toEqual([expect.objectContaining({ ok: true }), expect.not.stringMatching(hint)])
    expect([existsSync(join(root, 'src')), readFileSync(join(root, 'lib/x'), 'utf8')]).toEqual([false, 'x\n'])
  })

  test('what was left in the background has ended', async () => {
    const { call } = session('auto')
    const { result } = await call('sleep 1000 & echo begun')
    expect([result, render(result)]).toEqual([
      expect.objectContaining({ ok: true }),
      expect.stringMatching(/"sleep 1000" was put in the background.*background: true/),
    ])
  })

  test('any exit code is an answer, where the call says so; what it did counts all the same', async () => {
    const { call, text } = session('auto')
    const { result } = await call('echo two > a.txt; echo out; exit 3', { allow_non_zero_exit: true })
    expect([result, text('a.txt')]).toMatchObject([{ ok: true, data: { exitCode: 3, stdout: 'out' } }, 'two\n'])
    expect(render(result)).toContain('Exit code 3.')
    expect((await call('exit 3')).result).toMatchObject({ status: 'failed' })
  })
})

describe('where no layer can be had', () => {
  const without = (root: string) => ({
    layers: true,
    sandbox: async () => ({
      ...(await createSandbox({ workspace: root, backend: 'bubblewrap' })),
      layers: async () => ({ hold: 'none' as const, by: 'a test' }),
    }),
  })

  test('a command runs unasked with the workspace read-only, and one that tried to write is told how', async () => {
    const { call, asked, text } = session('ask', 'nobody', without)
    expect((await call('cat a.txt | tr o O')).result).toMatchObject({ ok: true, data: { stdout: 'One' } })
    const { result } = await call('echo two > a.txt')
    expect([asked, text('a.txt')]).toEqual([[], 'one\n'])
    expect(result).toMatchObject({
      status: 'failed',
      details: { call: { tool: 'bash', input: { command: 'echo two > a.txt', writes: 'direct' } } },
    })
  })

  test('without walls all but the listed commands ask', async () => {
    const { call, asked } = session('ask', 'nobody', { layers: true, sandboxOptions: { backend: 'none' } })
    await call('cat a.txt')
    expect(asked).toEqual([])
    await call('cat a.txt | wc -l')
    expect(asked).toEqual(['before'])
  })
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
  expect(render(result)).toMatch(/no longer exist, so nothing was kept\. Run the same command again/)
  expect([snapshot(first.root)['a.txt'], existsSync(join(first.root, '.git'))]).toEqual(['file 600 one\n', false])
})
