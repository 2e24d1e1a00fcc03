import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isGone, owner } from './processes.ts'
import { until } from './run.fixture.ts'

describe.runIf(process.platform === 'linux')('an owner', () => {
  const [, , namespace] = owner().split('-')
  const label = (pid: number) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return `${pid}-${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}-${namespace}`
  }

  test('that lives is not gone', async () => {
    expect(isGone(owner())).toBe(false)
    const other = spawn('sleep', ['1000'])
    const theirs = label(other.pid as number)
    expect(isGone(theirs)).toBe(false)
    other.kill('SIGKILL')
    await once(other, 'exit')
    expect(isGone(theirs)).toBe(true)
  })

  test('is another one when the process id came again', () => {
    const [pid, start] = owner().split('-')
    expect(isGone(`${pid}-${Number(start) + 1}-${namespace}`)).toBe(true)
  })

  test('is gone as soon as it is dead, though nobody has asked for its exit code', async () => {
    const parent = spawn('bash', ['-c', 'sleep 1000 & echo $!; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] })
    const [line] = await once(parent.stdout, 'data')
    const pid = Number(line)
    // The shell would ask for the exit code; what takes its place never does.
    await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'latin1') === 'sleep\n')
    process.kill(pid, 'SIGKILL')
    await until(() => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1')))
    expect(isGone(label(pid))).toBe(true)
    parent.kill('SIGKILL')
    await once(parent, 'exit')
  })

  test('of another namespace of process ids is not ours to judge', () => {
    expect(isGone(`999999999-1-${Number(namespace) + 1}`)).toBe(false)
    expect(isGone(`999999999-1-${namespace}`)).toBe(true)
  })

  test.each(['', 'x', '1-2', '1-2-3-4', '-1-2-3'])('%j is not an owner', (text) => expect(isGone(text)).toBe(false))
})
