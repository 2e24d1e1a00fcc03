/** The index of a real git, of each version: what is staged counts, and when it was looked at does not. */
import { execFileSync } from 'node:child_process'
import { readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { put, temporary } from '../../workspace.fixture.ts'
import { staged } from './git-index.ts'

let root: string
const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' })
const index = () => readFileSync(join(root, '.git/index'))
beforeEach(() => {
  root = temporary()
  git('init', '-q')
  put(root, { a: 'a', 'b/c': 'c', 'b/a-name-of-eight-and-more': 'd', 'ü é': 'e' })
  git('add', '-A')
})

test.each<[string, () => void]>([
  ['a look at files that were touched', () => utimesSync(join(root, 'a'), 1, 1)],
  ['a tree kept for the next commit', () => git('write-tree')],
])('%s stages nothing', (_, does) => {
  const before = index()
  does()
  git('status')
  const after = index()
  expect(after.equals(before)).toBe(false)
  expect(staged(after)).toEqual(staged(before))
})

test.each<[string, () => void]>([
  [
    'another content',
    () => git('update-index', '--add', '--cacheinfo', `100644,${git('hash-object', '-w', '--stdin').toString().trim()},a`),
  ],
  ['another mode', () => git('update-index', '--chmod=+x', 'a')],
  ['one more', () => git('update-index', '--add', '--cacheinfo', `100644,${git('hash-object', '-w', 'a').toString().trim()},z`)],
  ['one less', () => git('rm', '-q', '--cached', 'b/c')],
  ['a flag', () => git('update-index', '--assume-unchanged', 'a')],
  ['a flag of version 3', () => git('update-index', '--skip-worktree', 'a')],
  ['an intent', () => put(root, { new: 'x' }) ?? git('add', '-N', 'new')],
])('%s is seen', (_, does) => {
  const before = index()
  does()
  expect(staged(before)).toBeDefined()
  expect(staged(index())).not.toEqual(staged(before))
})

test('what is not read is not taken for the same', () => {
  git('update-index', '--index-version', '4')
  expect(staged(index())).toBeUndefined()
  git('update-index', '--index-version', '2')
  git('update-index', '--split-index')
  expect(staged(index())).toBeUndefined()
  expect(staged(Buffer.from('DIRC'))).toBeUndefined()
  expect(staged(Buffer.alloc(0))).toBeUndefined()
})
