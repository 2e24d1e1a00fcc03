import { execFileSync } from 'node:child_process'
import { readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { put, temporary } from '../workspace.fixture.ts'
import { saySame } from './git-index.ts'

const root = temporary()
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' })
const index = (): Buffer => readFileSync(join(root, '.git/index'))
put(root, { 'a.txt': 'a\n', [`long/${'x'.repeat(120)}/b`]: 'b\n', 'c ü': 'c\n' })
git('init', '-q')
git('add', '.')
const first = index()
put(root, { e: '' })

test.each([2, 3])('written anew by a look, it says the same (version %i)', (version) => {
  // Sets a flag that version 2 has no field for.
  if (version === 3) git('update-index', '--skip-worktree', 'c ü')
  const before = index()
  expect(before.readUInt32BE(4)).toBe(version)
  utimesSync(join(root, 'a.txt'), version, version)
  git('status')
  const after = index()
  expect(after.equals(before)).toBe(false)
  expect(saySame(before, after)).toBe(true)
})

test.each([
  ['a content', () => put(root, { 'a.txt': 'b\n' })],
  ['a new file', () => put(root, { d: '' })],
  ['a mode', () => git('update-index', '--chmod=+x', 'a.txt')],
  ['a flag', () => git('update-index', '--assume-unchanged', 'a.txt')],
  ['an intent', () => put(root, { f: '' }) ?? git('add', '-N', 'f')],
])('%s that is staged makes a difference', (_, change) => {
  const before = index()
  change()
  if (!/mode|flag|intent/.test(_)) git('add', '.')
  expect(saySame(before, index())).toBe(false)
})

test('what can not be read is not the same', () => {
  const damaged = Buffer.from(first)
  damaged[40] = (damaged[40] ?? 0) ^ 1
  expect([saySame(damaged, damaged), saySame(Buffer.alloc(0), Buffer.alloc(0)), saySame(first, first)]).toEqual([false, false, true])
  git('update-index', '--index-version', '4')
  expect(saySame(index(), index())).toBe(false)
  git('update-index', '--split-index')
  expect(saySame(index(), index())).toBe(false)
})
