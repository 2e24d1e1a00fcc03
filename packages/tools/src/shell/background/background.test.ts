import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createSandbox } from '@mulligan/sandbox'
import { describe, expect, test } from 'vitest'
import { createWorkspace } from '../../create-workspace.ts'
import { temporary } from '../../workspace.fixture.ts'
import { shellTools } from '../index.ts'
import { BACKEND, shell, turn } from '../shell.fixture.ts'

describe('a command in the background', () => {
  test('its output is read as it comes, then all of it again', async () => {
    const { tools, root } = shell()
    const { call } = turn(tools)
    const started = await call('bash', { command: 'echo one; until [ -f go ]; do sleep 0.1; done; echo two; exit 3', background: true })
    expect(started.result).toMatchObject({ ok: true, data: { id: 'bg1', status: 'running' } })
    expect((await call('bash_output', { id: 'bg1', wait: 20 })).text).toBe('bg1 is running.\none')
    expect((await call('bash_output', { id: 'bg1' })).result).toMatchObject({
      ok: true,
      count: 0,
      content: 'bg1 is running. Nothing new was printed.',
    })
    await call('bash', { command: 'touch go' })
    expect(existsSync(join(root, 'go'))).toBe(true)
    const end = await call('bash_output', { id: 'bg1', wait: 20 })
    const rest = end.text.includes('two') ? end : await call('bash_output', { id: 'bg1', offset: 1 })
    expect(rest.text).toContain('two')
    while (!(await call('bash_output', { id: 'bg1', wait: 20 })).text.includes('exited')) {}
    const all = await call('bash_output', { id: 'bg1', offset: 0 })
    expect(all.text).toBe('bg1 exited with code 3.\none\ntwo')
    expect(all.result).toMatchObject({ data: { status: 'ended', exitCode: 3, total: 2 } })
  })

  test('in pages', async () => {
    const { call } = turn(shell().tools)
    await call('bash', { command: 'seq 1 10; sleep 60', background: true })
    await call('bash_output', { id: 'bg1', wait: 20 })
    let read = (await call('bash_output', { id: 'bg1', offset: 0, limit: 4 })).text
    expect(read).toBe('bg1 is running.\n1\n2\n3\n4\nmore: offset=4\nhas_more=true')
    read = (await call('bash_output', { id: 'bg1', offset: -2 })).text
    expect(read).toBe('bg1 is running.\n9\n10')
    expect((await call('bash_output', { id: 'bg1', offset: 99 })).result).toMatchObject({ status: 'retry', details: { suggestion: 10 } })
  })

  test('one that cannot be run says so at once', async () => {
    const { call } = turn(shell().tools)
    const { result } = await call('bash', { command: 'cta a', background: true })
    if (result.ok) expect((await call('bash_output', { id: 'bg1', wait: 20 })).text).toContain('127')
    else expect(result).toMatchObject({ status: 'retry', details: { call: { input: { command: 'cat a', background: true } } } })
  })

  test('is ended with all that it started', async () => {
    const { tools, root } = shell()
    const { call } = turn(tools)
    await call('bash', { command: '(sleep 2; touch late) & echo up; wait', background: true })
    await call('bash_output', { id: 'bg1', wait: 20 })
    expect((await call('bash_kill', { id: 'bg1' })).text).toBe('bg1 ((sleep 2; touch late) & echo up; wait) was ended.')
    expect((await call('bash_kill', { id: 'bg1' })).text).toContain('bg1 had ended before')
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(existsSync(join(root, 'late'))).toBe(false)
  })

  test('ends with the session; the control goes on', async () => {
    const root = temporary()
    const session = () => {
      const workspace = createWorkspace(root)
      return shellTools({ workspace, sandbox: () => createSandbox({ workspace: root, backend: BACKEND }) })
    }
    const [ended, control] = [session(), session()]
    for (const [one, name] of [
      [ended, 'ended'],
      [control, 'control'],
    ] as const) {
      await turn(one.tools).call('bash', { command: `touch ${name}; sleep 2; touch ${name}-late`, background: true })
      while (!existsSync(join(root, name))) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await ended.dispose()
    while (!existsSync(join(root, 'control-late'))) await new Promise((resolve) => setTimeout(resolve, 50))
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(existsSync(join(root, 'ended-late'))).toBe(false)
    await control.dispose()
  })

  test.each(['bash_output', 'bash_kill'])('%s: an id that is none', async (name) => {
    const { call } = turn(shell().tools)
    expect((await call(name, { id: 'bg1' })).text).toContain('none has been started in this session')
    await call('bash', { command: 'sleep 60', background: true })
    const { result } = await call(name, { id: 'bash_1' })
    expect(result).toMatchObject({
      status: 'retry',
      errorType: 'not_found',
      details: { parameter: 'id', suggestion: 'bg1', call: { input: { id: 'bg1' } } },
    })
  })

  test('too many at once', async () => {
    const { call } = turn(shell().tools)
    for (let n = 0; n < 10; n++) await call('bash', { command: `sleep ${60 + n}`, background: true })
    expect((await call('bash', { command: 'sleep 99', background: true })).result).toMatchObject({ status: 'failed', errorType: 'limit' })
    await call('bash_kill', { id: 'bg1' })
    expect((await call('bash', { command: 'sleep 99', background: true })).result).toMatchObject({ ok: true })
  })

  test.each([
    ['BashOutput', { bash_id: 'bg1' }],
    ['TaskOutput', { task_id: 'bg1', block: true, timeout: 20_000 }],
    ['bash_output', { shell_id: 'bg1', wait: 20 }],
  ])('as other agents ask for it: %s', async (name, input) => {
    const { call } = turn(shell().tools)
    await call('bash', { command: 'echo up; sleep 60', background: true })
    expect((await call(name, input)).text).toMatch(/^bg1 is running\./)
  })
})
