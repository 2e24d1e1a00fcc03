import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, renameSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool, ok, render, type Tool } from '@mulligan/core'
import { createExecutor } from '@mulligan/core/executor'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { context, type Fixture, fixture, put, refused, run, temporary } from '../workspace.fixture.ts'
import type { DiagnosticCheck } from './check.ts'
import { runCommand } from './run-command.ts'
import { withDiagnostics } from './with-diagnostics.ts'

const NODE = process.execPath
/** A realistic checker: it reads all files, prints a line for each "bad" in them, and counts its runs. */
const CHECKER = `
const { readdirSync, readFileSync, appendFileSync } = require('node:fs')
appendFileSync('runs.log', 'x')
let found = 0
for (const file of readdirSync('.').filter((name) => name.endsWith('.txt')))
  readFileSync(file, 'utf8').split('\\n').forEach((line, at) => {
    for (const [, what] of line.matchAll(/bad(\\w*)/g)) { found++; console.log(process.cwd() + '/' + file + ':' + (at + 1) + ':1: error: bad thing ' + what) }
  })
process.exit(found ? 1 : 0)
`
const BY_CHECKER: DiagnosticCheck = { include: '*.txt', command: [NODE, 'check.cjs'] }
const script = (source: string): DiagnosticCheck => ({ include: '*.txt', command: [NODE, '-e', source] })

interface Checked extends Fixture {
  readonly write: (path: string, content: string) => ReturnType<typeof run>
  readonly edit: (path: string, old_text: string, new_text: string) => ReturnType<typeof run>
}

function checked(files: Readonly<Record<string, string>>, ...checks: readonly DiagnosticCheck[]): Checked {
  const made = fixture({ 'check.cjs': CHECKER, ...files })
  const tools = withDiagnostics([made.tool('write_file'), made.tool('edit_file'), made.tool('read_file')], {
    workspace: made.workspace,
    checks,
  })
  const tool = (name: string): Tool => tools.find((one) => one.name === name) as Tool
  return {
    ...made,
    tool,
    write: (path, content) => run(tool('write_file'), { path, content }),
    edit: (path, old_text, new_text) => run(tool('edit_file'), { path, edits: [{ old_text, new_text }] }),
  }
}

describe('what is new', () => {
  test('is told to the model, the person and programs; what was there before is not', async () => {
    const { edit } = checked({ 'a.txt': 'badOld\nfine\n' }, BY_CHECKER)
    const result = await edit('a.txt', 'fine', 'badNew')
    expect(result.content).toBe(
      'Edited a.txt: 1 replacement (line 2; +1 -1).\nNew since before the changes, by node check.cjs: 1 finding\n  a.txt:2:1 error: bad thing New',
    )
    expect(result.display).toMatch(/^```diff\n[\s\S]*```\n\n```\nNew since before [\s\S]*bad thing New\n```$/)
    expect(result.data['diagnostics']).toEqual({
      new: [{ path: 'a.txt', line: 2, column: 1, severity: 'error', message: 'bad thing New' }],
      newCount: 1,
      elsewhere: [],
      elsewhereCount: 0,
      gone: 0,
      checks: ['node check.cjs'],
    })
  })

  test('control: without the wrapper nothing is said', async () => {
    const { tool } = fixture({ 'a.txt': 'fine\n' })
    const result = await run(tool('edit_file'), { path: 'a.txt', edits: [{ old_text: 'fine', new_text: 'badNew' }] })
    expect(result.content).not.toContain('bad thing')
  })

  test('is not what only moved to another line', async () => {
    const { edit } = checked({ 'a.txt': 'fine\nbadOld\n' }, BY_CHECKER)
    expect((await edit('a.txt', 'fine', 'fine\nfine')).content).toContain('Checked with node check.cjs: nothing new')
  })

  test('is a second one that reads the same', async () => {
    const { edit } = checked({ 'a.txt': 'badOld\nfine\n' }, BY_CHECKER)
    expect((await edit('a.txt', 'fine', 'badOld')).content).toMatch(/1 finding\n {2}a\.txt:2:1 error: bad thing Old$/)
  })

  test('stays new until it is gone, which is said; the command runs once before the first change and once after each', async () => {
    const { edit, root } = checked({ 'a.txt': 'badOld\nfine\n' }, BY_CHECKER)
    await edit('a.txt', 'fine', 'badNew')
    expect((await edit('a.txt', 'badNew', 'badNew\nmore')).content).toMatch(/1 finding\n.*bad thing New$/)
    expect((await edit('a.txt', 'badNew', 'good')).content).toMatch(
      /nothing new in what was changed\.\nGone with this change: 1 finding\.$/,
    )
    expect((await edit('a.txt', 'badOld', 'good')).content).toContain('Gone with this change: 1 finding.')
    expect(readFileSync(join(root, 'runs.log'), 'utf8')).toBe('xxxxx')
  })

  test('in other files is counted and shown with the change that it came with', async () => {
    const elsewhere = script(`
      const text = require('node:fs').readFileSync('a.txt', 'utf8')
      console.log('old.txt:1:1: error: old')
      if (text.includes('new name')) for (let n = 1; n <= 7; n++) console.log('b' + n + '.txt:3:1: error: no such name')`)
    const { edit } = checked({ 'a.txt': 'name\n' }, elsewhere)
    const first = await edit('a.txt', 'name', 'new name')
    expect(first.content).toMatch(/in other files: 7 findings\n {2}b1\.txt:3:1 error: no such name\n(?: {2}b\d.*\n){4} {2}… and 2 more$/)
    expect(first.content).not.toContain('old.txt')
    expect((await edit('a.txt', 'new name', 'new name!')).content).not.toContain('in other files')
    expect((await edit('a.txt', 'new name!', 'name')).content).toContain('Gone with this change: 7 findings.')
  })

  test('is shown up to a number; the rest is counted', async () => {
    const { root, workspace, tool } = fixture({ 'check.cjs': CHECKER })
    const [write] = withDiagnostics([tool('write_file')], { workspace, checks: [BY_CHECKER], most: 2 }) as [Tool]
    const { content, data } = await run(write, { path: 'a.txt', content: 'bad1\nbad2\nbad3\nbad4\n' })
    expect(content).toMatch(/4 findings\n {2}a.*\n {2}a.*\n {2}… and 2 more$/)
    expect(data['diagnostics']).toMatchObject({ new: [{ line: 1 }, { line: 2 }], newCount: 4 })
    expect(existsSync(join(root, 'a.txt'))).toBe(true)
  })
})

describe('which checks run', () => {
  test('those that are for a changed file', async () => {
    const { write, root } = checked({}, BY_CHECKER)
    expect((await write('a.md', 'bad')).content).not.toContain('Checked')
    expect(existsSync(join(root, 'runs.log'))).toBe(false)
    expect((await write('a.txt', 'bad')).content).toContain('1 finding')
  })

  test('with {file}, for each changed file, and with what was said of it before', async () => {
    const one = script(`
      const file = process.argv[1]
      require('node:fs').appendFileSync('files.log', file + '\\n')
      if (require('node:fs').readFileSync(file, 'utf8').includes('bad')) console.log(file + ':1:1: error: bad')`)
    const { write, edit, root } = checked({ 'a.txt': 'bad\nx\n', '-b.txt': 'y\n' }, { ...one, command: [...one.command, '--', '{file}'] })
    expect((await edit('a.txt', 'x', 'y')).content).toContain('nothing new')
    expect((await edit('-b.txt', 'y', 'bad')).content).toContain('-b.txt:1:1 error: bad')
    expect((await write('c.txt', 'bad')).content).toContain('c.txt:1:1 error: bad')
    expect(readFileSync(join(root, 'files.log'), 'utf8')).toBe('a.txt\na.txt\n./-b.txt\n./-b.txt\nc.txt\n')
  })

  test('tools that only read are as they were', () => {
    const { workspace, tool } = fixture()
    const read = tool('read_file')
    expect(withDiagnostics([read], { workspace, checks: [BY_CHECKER] })).toEqual([read])
  })

  const changing = (data: (path: string) => unknown, change: (root: string, input: { path: string; to?: string }) => void, root: string) =>
    defineTool({
      name: 'change',
      description: 'Changes.',
      effect: 'write',
      input: z.object({ path: z.string(), to: z.string().optional() }),
      target: ({ path }) => path,
      execute: (input) => {
        change(root, input as { path: string })
        return ok(data(input.path))
      },
    })

  test('several files of one call', async () => {
    const { root, workspace } = fixture({ 'check.cjs': CHECKER, 'a.txt': '', 'b.txt': '' })
    const files = (path: string) => ({ files: path.split(', ').map((one) => ({ path: one })) })
    const tool = changing(files, () => put(root, { 'a.txt': 'bad1', 'b.txt': 'bad2' }), root)
    const result = await run(withDiagnostics([tool], { workspace, checks: [BY_CHECKER] })[0] as Tool, { path: 'a.txt, b.txt' })
    expect(result.data['diagnostics']).toMatchObject({ new: [{ path: 'a.txt' }, { path: 'b.txt' }], elsewhere: [] })
    expect(result.content).toMatch(/^\{"files":\[\{"path":"a\.txt"\},\{"path":"b\.txt"\}\]\}\nNew since/)
  })

  test('a file that is moved takes its findings along; one that is deleted loses them', async () => {
    const { root, workspace } = fixture({ 'check.cjs': CHECKER, 'a.txt': 'badOld' })
    const move = changing(
      (path) => ({ from: path, path: 'b.txt' }),
      () => renameSync(join(root, 'a.txt'), join(root, 'b.txt')),
      root,
    )
    const remove = changing(
      (path) => ({ path }),
      () => unlinkSync(join(root, 'b.txt')),
      root,
    )
    const tools = withDiagnostics([move, { ...remove, name: 'remove' }], { workspace, checks: [BY_CHECKER] }) as [Tool, Tool]
    expect((await run(tools[0], { path: 'a.txt' })).content).toMatch(/nothing new in what was changed\.$/)
    expect((await run(tools[1], { path: 'b.txt' })).content).toContain('Gone with this change: 1 finding.')
  })

  test('a folder that is moved: what no longer works elsewhere comes with it, what was said of its files does not', async () => {
    const { root, workspace, tool } = fixture({ 'src/a.txt': 'x', 'b.txt': 'x' })
    const check = script(`
      const { existsSync } = require('node:fs')
      console.log((existsSync('src/a.txt') ? 'src' : 'lib') + '/a.txt:1:1: error: old')
      if (!existsSync('src/a.txt')) console.log('b.txt:1:1: error: no src/a')`)
    const [move] = withDiagnostics([tool('move_file')], { workspace, checks: [check] }) as [Tool]
    const result = await run(move, { path: 'src', to: 'lib' })
    expect(existsSync(join(root, 'lib/a.txt'))).toBe(true)
    expect(result.data['diagnostics']).toMatchObject({
      newCount: 0,
      elsewhere: [{ path: 'b.txt', message: 'no src/a' }],
      elsewhereCount: 1,
      gone: 0,
    })
  })

  test('a patch of several files', async () => {
    const { workspace, tool } = fixture({ 'check.cjs': CHECKER, 'a.txt': 'x\nbadOld\n', 'b.txt': 'y\n' })
    const [apply] = withDiagnostics([tool('apply_patch')], { workspace, checks: [BY_CHECKER] }) as [Tool]
    const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+bad1\n*** Update File: b.txt\n@@\n-y\n+bad2\n*** End Patch'
    const result = await run(apply, { patch })
    expect(result.data['diagnostics']).toMatchObject({ new: [{ message: 'bad thing 1' }, { message: 'bad thing 2' }], newCount: 2 })
  })

  test('a change that could not be foreseen: all that is said of the file, and that some of it may be old', async () => {
    const { root, workspace } = fixture({ 'check.cjs': CHECKER, 'a.txt': 'badOld' })
    const tool = {
      ...changing(
        () => ({ path: 'a.txt' }),
        () => put(root, { 'a.txt': 'badOld badNew' }),
        root,
      ),
      target: () => 'elsewhere',
    }
    const checkedTool = withDiagnostics([tool], { workspace, checks: [BY_CHECKER] })[0] as Tool
    const first = await run(checkedTool, { path: 'x' })
    expect(first.content).toContain('2 findings')
    expect(first.notes?.[0]).toMatch(/some of it may be old/)
    const second = await run(checkedTool, { path: 'x' })
    expect(second.content).toContain('nothing new')
    expect(second.notes).toBeUndefined()
  })

  test('a refused call is refused as it was', async () => {
    const { tool } = checked({ 'a.txt': 'x' }, BY_CHECKER)
    expect(await refused(tool('write_file'), { path: 'a.txt', content: 'y' })).toMatchObject({ status: 'retry', errorType: 'conflict' })
  })
})

describe('a check that does not look', () => {
  test.each([
    [
      'is not there',
      { include: '*.txt', command: ['no-such-checker-anywhere', '--all'] },
      /^"no-such-checker-anywhere --all" could not be started/,
    ],
    ['is slow', { ...script('setInterval(() => {}, 1000)'), timeout: 0.3 }, /was stopped after 0\.3 s\. The change is not checked\.$/],
    [
      'fails in its own way',
      script(`console.error('config\\n    at x (/a/b.js:1:2)\\n\\x1b[31mis wrong\\x1b[0m'); process.exit(2)`),
      /ended with exit code 2 and named no place in a file: config ⏎ is wrong$/,
    ],
    ['is killed', script(`process.kill(process.pid, 'SIGKILL')`), /was killed and named no place in a file\.$/],
  ] as const)('%s: a note, and the change stands', async (_, check, says) => {
    const { edit, root } = checked({ 'a.txt': 'x\n' }, check)
    const result = await edit('a.txt', 'x', 'bad')
    expect(result.ok).toBe(true)
    expect(result.notes).toHaveLength(1)
    expect(result.notes?.[0]).toMatch(says)
    expect(result.content).toBe('Edited a.txt: 1 replacement (line 1; +1 -1).')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('bad\n')
  })

  test('and was too slow twice in a row is not run any more', async () => {
    const { workspace, tool } = fixture({ 'a.txt': 'x\n' })
    let runs = 0
    const [edit] = withDiagnostics([tool('edit_file')], {
      workspace,
      checks: [BY_CHECKER],
      run: async () => {
        runs++
        return { how: 'timeout', code: null, stdout: '', stderr: '', cut: false }
      },
    }) as [Tool]
    const change = (old_text: string, new_text: string) => run(edit, { path: 'a.txt', edits: [{ old_text, new_text }] })
    expect((await change('x', 'y')).notes?.[0]).toMatch(/was stopped after 30 s/)
    expect(runs).toBe(2)
    expect((await change('y', 'z')).notes?.[0]).toMatch(/too slow 2 times and is not run any more/)
    expect(runs).toBe(2)
  })

  test('beside one that does: both are told', async () => {
    const { edit } = checked({ 'a.txt': 'x\n' }, { include: '*.txt', command: ['no-such-checker-anywhere'] }, BY_CHECKER)
    const result = await edit('a.txt', 'x', 'bad')
    expect(result.content).toContain('by node check.cjs: 1 finding')
    expect(result.notes).toHaveLength(1)
  })

  test('the executor gives the call the time that the checks may take', () => {
    const { workspace, tool } = fixture()
    const write = tool('write_file')
    const [wrapped] = withDiagnostics([write], { workspace, checks: [BY_CHECKER, { ...BY_CHECKER, timeout: 100 }] }) as [Tool]
    expect(wrapped.timeout).toBeGreaterThanOrEqual(write.timeout + 200)
  })

  test('a check that outlasts the timeout of the tool is waited for; without the longer timeout it is not', async () => {
    const { workspace, tool } = fixture({ 'a.txt': 'x\n' })
    const short = { ...tool('edit_file'), timeout: 0.5 }
    const checks = [{ ...script('setTimeout(() => {}, 700)'), timeout: 20 }]
    const [wrapped] = withDiagnostics([short], { workspace, checks }) as [Tool]
    const comesTo = async (one: Tool, old_text: string, new_text: string): Promise<string> => {
      const executor = createExecutor({ tools: [one], policy: () => ({ decision: 'allow', reason: 'test' }), graceMs: 0 })
      const input = { path: 'a.txt', edits: [{ old_text, new_text }] }
      const prepared = await executor.prepare({ id: 't/1/0', step: 1, ordinal: 0, name: 'edit_file', input })
      return prepared.kind === 'ready' ? render((await executor.execute(prepared.call)).result) : prepared.kind
    }
    expect(await comesTo(wrapped, 'x', 'y')).toMatch(/^Edited a\.txt/)
    expect(await comesTo({ ...wrapped, timeout: 0.5 }, 'y', 'z')).toMatch(/^indeterminate|was stopped with the turn/)
  })

  test('stopped before the change: nothing is changed; stopped after it: the change stands', async () => {
    const input = { path: 'a.txt', edits: [{ old_text: 'x', new_text: 'y' }] }
    /** Creates a check that aborts the turn on its `last` run and then waits. */
    const stoppedAt = (last: number) => {
      const stop = new AbortController()
      const made = fixture({ 'a.txt': 'x\n' })
      let runs = 0
      const [edit] = withDiagnostics([made.tool('edit_file')], {
        workspace: made.workspace,
        checks: [script('setTimeout(() => {}, 60_000)')],
        run: (command, options) => {
          const wait = ++runs === last
          if (wait) setTimeout(() => stop.abort(), 10)
          return runCommand(wait ? command : [NODE, '-e', ''], options)
        },
      }) as [Tool]
      return { ...made, edit, ctx: context(stop.signal) }
    }
    const before = stoppedAt(1)
    expect(await refused(before.edit, input, before.ctx)).toMatchObject({ status: 'cancelled' })
    expect(readFileSync(join(before.root, 'a.txt'), 'utf8')).toBe('x\n')

    const after = stoppedAt(2)
    expect((await run(after.edit, input, after.ctx)).notes).toEqual([expect.stringMatching(/was stopped with the turn\.$/)])
    expect(readFileSync(join(after.root, 'a.txt'), 'utf8')).toBe('y\n')
  })
})

describe('what a check gets and tells', () => {
  test('no keys, no input, the folder of the workspace and what the project brings along', async () => {
    process.env['MULLIGAN_TEST_API_KEY'] = 'sk-secret'
    try {
      const { edit, root } = checked(
        { 'a.txt': 'x\n' },
        script(`
        const { readFileSync, writeFileSync } = require('node:fs')
        writeFileSync('seen.json', JSON.stringify({ env: process.env, cwd: process.cwd(), stdin: readFileSync(0, 'utf8') }))`),
      )
      await edit('a.txt', 'x', 'y')
      const seen = JSON.parse(readFileSync(join(root, 'seen.json'), 'utf8'))
      expect(JSON.stringify(seen.env)).not.toContain('sk-secret')
      expect(seen).toMatchObject({ cwd: root, stdin: '', env: { NO_COLOR: '1' } })
      expect(seen.env.PATH.split(':')[0]).toBe(join(root, 'node_modules', '.bin'))
      // Control: a process that inherits the environment sees the key.
      expect(process.env['MULLIGAN_TEST_API_KEY']).toBe('sk-secret')
    } finally {
      delete process.env['MULLIGAN_TEST_API_KEY']
    }
  })

  test('no folder of the machine, in findings and in notes', async () => {
    const { edit, root } = checked(
      { 'a.txt': 'x\n' },
      script(
        `if (require('node:fs').readFileSync('a.txt', 'utf8') === 'y\\n') console.log('a.txt:1:1: error: see ' + process.cwd() + '/b and ' + require('node:os').homedir() + '/c')`,
      ),
      script(`console.error('no config in ' + process.cwd() + ', nor in ' + require('node:os').homedir()); process.exit(3)`),
    )
    const result = await edit('a.txt', 'x', 'y')
    const told = JSON.stringify(result.notes) + result.content + result.display
    expect(told).toContain('see ./b and ~/c')
    expect(told).toContain('no config in ., nor in ~')
    expect(told).not.toContain(root)
  })

  test('a shell sees nothing of it', async () => {
    const { write, root } = checked({}, { include: '*.txt', command: ['sh', '-c', 'echo "$1" > "$2"', 'sh', '{file}', 'seen'] })
    await write('$(touch harm).txt', 'x')
    expect(existsSync(join(root, 'harm'))).toBe(false)
    expect(readFileSync(join(root, 'seen'), 'utf8')).toBe('$(touch harm).txt\n')
    // Control: the name in the code itself.
    spawnSync('sh', ['-c', 'echo $(touch harm).txt'], { cwd: root })
    expect(existsSync(join(root, 'harm'))).toBe(true)
  })

  test.each([
    [['sh', '-c', 'lint {file}'], /code that sh runs/],
    [['sh', '-c', '{file}'], /code that sh runs/],
    [['/usr/bin/env', 'bash', '-lc', 'lint', '--file={file}'], /code that bash runs/],
    [['cmd', '/c', 'lint', '{file}'], /code that cmd runs/],
    [['node', '-e', 'check={file}'], /code that node runs/],
    [['lint', '{file}:1'], /a word of its own/],
    [['lint', '{file}{file}'], /a word of its own/],
  ])('where its name could be read as something else: %j', (command, says) => {
    expect(() => checked({}, { include: '*', command })).toThrow(says)
  })

  test.each([
    [['node', '--check', '{file}']],
    [['lint', '--file={file}']],
    [['eslint', '-c', 'a.json', '{file}']],
  ])('it may stand in %j', (command) => {
    expect(() => checked({}, { include: '*', command })).not.toThrow()
  })

  const PARENT = `
    const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
    require('node:fs').writeFileSync('pid', String(child.pid))
    setInterval(() => {}, 1000)`

  test('what it started is ended with it', async () => {
    const root = temporary()
    const stop = new AbortController()
    const ended = runCommand([NODE, '-e', PARENT], { cwd: root, timeout: 60, signal: stop.signal })
    const child = await pidIn(root)
    stop.abort()
    expect(await ended).toMatchObject({ how: 'aborted' })
    await expect.poll(() => isAlive(child)).toBe(false)
  })

  test('control: killed alone, it leaves behind what it started', async () => {
    const root = temporary()
    const parent = spawn(NODE, ['-e', PARENT], { cwd: root, stdio: 'ignore' })
    const child = await pidIn(root)
    const ended = once(parent, 'exit')
    parent.kill('SIGKILL')
    await ended
    expect(isAlive(child)).toBe(true)
    process.kill(child, 'SIGKILL')
  })

  test('a flood of output is held in part, and said to be', async () => {
    const flood = `Array.from({ length: 100_000 }, (_, n) => 'a.txt:' + n + ':1: error: number ' + n).join('\\n')`
    const { edit } = checked({ 'a.txt': 'x\n' }, script(`process.stdout.write(${flood})`))
    const result = await edit('a.txt', 'x', 'y')
    expect(result.notes).toEqual([expect.stringMatching(/printed more than is read/)])
    expect(result.content).toContain('nothing new')
    const whole = { cwd: '.', timeout: 20, signal: new AbortController().signal }
    const all = await runCommand([NODE, '-e', `process.stdout.write('x'.repeat(5_000_000))`], whole)
    expect(all).toMatchObject({ how: 'exit', code: 0, cut: true })
    expect(all.stdout.length).toBe(2_000_000)
  })

  test('another way to run it, such as a sandbox', async () => {
    const { workspace, tool } = fixture({ 'a.txt': 'x\n' })
    const seen: unknown[] = []
    const [edit] = withDiagnostics([tool('edit_file')], {
      workspace,
      checks: [{ include: 'a.*', command: ['lint', '{file}'] }],
      run: async (command, { cwd }) => {
        seen.push([...command, cwd === workspace.root])
        return { how: 'exit', code: 1, stdout: seen.length > 1 ? 'a.txt:1:1: warning: W' : '', stderr: '', cut: false }
      },
    }) as [Tool]
    expect((await run(edit, { path: 'a.txt', edits: [{ old_text: 'x', new_text: 'y' }] })).content).toContain('a.txt:1:1 warning: W')
    expect(seen).toEqual([
      ['lint', 'a.txt', true],
      ['lint', 'a.txt', true],
    ])
  })
})

test.each([
  [{ include: '*.txt', command: [] }, /a check has no command/],
  [{ include: 'a{b', command: ['x'] }, /include "a\{b"/],
  [{ include: '*', command: ['x'], timeout: 30_000 }, /the timeout of "x" is in seconds/],
] as const)('a check that can be none is refused when it is given: %j', (check, says) => {
  const { workspace } = fixture()
  expect(() => withDiagnostics([], { workspace, checks: [check] })).toThrow(says)
})

async function pidIn(root: string): Promise<number> {
  const file = join(root, 'pid')
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8') !== '', { timeout: 20_000 }).toBe(true)
  return Number(readFileSync(file, 'utf8'))
}

/** True if the process is running. A process that has ended may keep its id until its exit code is read. */
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
