import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createTree, fromPsLine, fromStat, processTable, treeOf } from './processes.ts'
import { until } from './run.fixture.ts'

describe('the process table', () => {
  test('this process is in it, with its parent and its memory', async () => {
    const self = (await processTable()).get(process.pid)
    expect(self).toMatchObject({ pid: process.pid, parent: process.ppid, isZombie: false })
    expect(self?.resident).toBeGreaterThan(10_000_000)
  })

  test('a name may hold brackets, spaces and a line break', () => {
    const stat = `42 (a) R 1 (\n) S 7 8 9 0 -1 4194560 ${'0 '.repeat(12)}12345 1000 3 0`
    expect(fromStat(stat)).toEqual({ pid: 42, parent: 7, group: 8, session: 9, start: '12345', resident: 12288, isZombie: false })
    expect(fromStat('')).toBeUndefined()
  })

  test('as ps tells it', () => {
    expect(fromPsLine('  501     1   501      0  2048 Ss+  Sun Nov 22 08:32:11 2026')).toEqual({
      ...{ pid: 501, parent: 1, group: 501, session: 0, resident: 2048 * 1024, start: 'Sun Nov 22 08:32:11 2026', isZombie: false },
    })
    expect(fromPsLine('')).toBeUndefined()
  })

  test('a tree is its roots and all below, in a ring too', () => {
    const table = new Map(
      [
        [1, 0],
        [2, 1],
        [3, 2],
        [4, 1],
        [5, 6],
        [6, 5],
      ].map(([pid = 0, parent = 0]) => [pid, { pid, parent } as never]),
    )
    expect([...treeOf([2], table)].toSorted()).toEqual([2, 3])
    expect([...treeOf([5, 99], table)].toSorted()).toEqual([5, 6])
  })
})

describe.runIf(process.platform === 'linux')('a tree', () => {
  const MARK = `MULLIGAN_TREE_TEST=${process.pid}`
  const [name = '', value = ''] = MARK.split('=')
  const start = (script: string, mark?: string) => {
    const child = spawn('bash', ['-c', script], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, [name]: value },
    })
    const tree = createTree(child.pid as number, mark)
    const pids = once(child.stdout, 'data').then(([line]) => Number(line))
    return { tree, pids, exit: once(child, 'exit') }
  }
  const isAlive = async (pid: number) => (await processTable()).get(pid)?.isZombie === false

  test('is killed with all its branches', async () => {
    const { tree, pids, exit } = start('setsid bash -c "sleep 1000 & echo \\$!; wait" & wait')
    const grandchild = await pids
    expect((await tree.members()).length).toBe(3)
    await tree.kill()
    await exit
    expect(await isAlive(grandchild)).toBe(false)
    expect(await tree.members()).toEqual([])
  })

  test('who was seen once stays in it when the parent dies', async () => {
    const { tree, pids, exit } = start('setsid sleep 1000 & echo $!; sleep 0.5 & wait $!')
    const orphan = await pids
    await tree.members()
    await exit
    expect((await tree.members()).map(({ pid }) => pid)).toContain(orphan)
    await tree.kill()
    expect(await isAlive(orphan)).toBe(false)
  })

  test('who was never seen is found by the mark, and only by it', async () => {
    const script = '(setsid setsid bash -c "echo \\$\\$; exec sleep 1000" &)'
    const unmarked = start(script)
    const survivor = await unmarked.pids
    await unmarked.exit
    await unmarked.tree.kill()
    expect(await isAlive(survivor)).toBe(true)
    const marked = start(script, MARK)
    const found = await marked.pids
    await marked.exit
    await marked.tree.kill()
    expect(await isAlive(found)).toBe(false)
    process.kill(survivor, 'SIGKILL')
    await until(async () => !(await isAlive(survivor)))
  })
})
