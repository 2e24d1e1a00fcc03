/** Tests that the changes of a command on its layer reach the workspace completely or not at all, and can be undone. */
import { chmodSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { samples } from '../../../../scripts/test-scope.fixture.ts'
import { put, temporary } from '../workspace.fixture.ts'
import { build, differences, openIn, type Tree, tree } from './adopt.fixture.ts'
import { createChangeLog, type RecordedChanges } from './change-log.ts'
import { snapshot } from './changes.fixture.ts'
import { directChanges } from './direct.ts'
import { interceptWrites } from './fs-faults.fixture.ts'

const RUNS = samples(20, 60)

let root: string
let layer: string
let log: RecordedChanges
beforeEach(() => {
  const top = temporary()
  root = join(top, 'work')
  layer = join(top, 'layer')
  mkdirSync(root)
  mkdirSync(layer)
  log = createChangeLog({ dir: join(top, 'data'), root })
})

test('any tree becomes any other, and undo and redo lead back and forth: bytes, modes, links, folders, deletions', async () => {
  await fc.assert(
    fc.asyncProperty(tree, tree, async (from, to) => {
      const top = temporary()
      const [work, over] = [join(top, 'work'), join(top, 'layer')]
      build(work, from)
      build(over, to)
      const [before, wanted] = [snapshot(work), snapshot(over)]
      const changes = await differences(work, over)
      const changeLog = createChangeLog({ dir: join(top, 'data'), root: work })
      await changeLog.adopt('s/1/1/0', openIn(over), changes)
      expect(snapshot(work)).toEqual(wanted)
      if (changes.length > 0) {
        expect(await changeLog.undo('s/1')).toMatchObject({ done: true, conflicts: [] })
        expect(snapshot(work)).toEqual(before)
        expect(await changeLog.redo('s/1')).toMatchObject({ done: true, conflicts: [] })
        expect(snapshot(work)).toEqual(wanted)
      }
      rmSync(top, { recursive: true, force: true })
    }),
    { numRuns: RUNS },
  )
})

const ONE_FILE: Tree = new Map([['a', { file: 'one', mode: 0o644 }]])

test('a write that fails leaves all as it was, with and without a record', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(tree, tree, fc.integer({ min: 1, max: 30 }), fc.boolean(), async (from, to, at, recorded) => {
      const top = temporary()
      const [work, over] = [join(top, 'work'), join(top, 'layer')]
      build(work, from)
      build(over, to)
      const before = snapshot(work)
      const changes = await differences(work, over)
      const changeLog = recorded ? createChangeLog({ dir: join(top, 'data'), root: work }) : directChanges(work)
      const restore = await interceptWrites((n) => {
        if (n === at) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      })
      const failed = await changeLog.adopt('s/1/1/0', openIn(over), changes).then(
        () => false,
        () => true,
      )
      restore()
      seen.add(String(failed))
      if (failed) expect(snapshot(work)).toEqual(before)
      rmSync(top, { recursive: true, force: true })
    }),
    { numRuns: RUNS, examples: [true, false].flatMap((recorded) => [1, 30].map((at) => [new Map(), ONE_FILE, at, recorded])) },
  )
  expect(seen).toEqual(new Set(['true', 'false']))
})

test('a file that somebody changed meanwhile is a conflict that names it, and nothing is kept', async () => {
  put(root, { 'a.txt': '1', 'b.txt': '1' })
  put(layer, { 'a.txt': '2', 'b.txt': '2' })
  const changes = await differences(root, layer)
  writeFileSync(join(root, 'b.txt'), 'mine')
  await expect(log.adopt('s/1/1/0', openIn(layer), changes)).rejects.toMatchObject({
    errorType: 'conflict',
    message: expect.stringContaining('"b.txt"'),
  })
  expect([readFileSync(join(root, 'a.txt'), 'utf8'), readFileSync(join(root, 'b.txt'), 'utf8')]).toEqual(['1', 'mine'])
})

test('a folder that was removed on the layer stays where somebody has put a file into it', async () => {
  put(root, { 'old/a.txt': '1' })
  const changes = await differences(root, layer)
  put(root, { 'old/mine.txt': 'x' })
  await expect(log.adopt('s/1/1/0', openIn(layer), changes)).rejects.toMatchObject({ errorType: 'conflict' })
  expect(Object.keys(snapshot(root))).toEqual(['old', 'old/a.txt', 'old/mine.txt'])
})

test('the time of a file is kept, and set-user-id is not taken over', async () => {
  put(layer, { 'a.txt': '1' })
  chmodSync(join(layer, 'a.txt'), 0o4755)
  utimesSync(join(layer, 'a.txt'), 1_000_000_000, 1_000_000_000)
  await log.adopt('s/1/1/0', openIn(layer), await differences(root, layer))
  const found = lstatSync(join(root, 'a.txt'))
  expect([found.mtimeMs, found.mode & 0o7777]).toEqual([1_000_000_000_000, 0o755])
})

test('a link put in the way after the change set was made leads nowhere', async () => {
  const outside = temporary()
  put(layer, { 'sub/a.txt': '1' })
  mkdirSync(join(root, 'sub'))
  const changes = (await differences(root, layer)).filter(({ path }) => path === 'sub/a.txt')
  rmSync(join(root, 'sub'), { recursive: true })
  symlinkSync(outside, join(root, 'sub'))
  await expect(log.adopt('s/1/1/0', openIn(layer), changes)).rejects.toMatchObject({ errorType: 'conflict' })
  expect(snapshot(outside)).toEqual({})
})
