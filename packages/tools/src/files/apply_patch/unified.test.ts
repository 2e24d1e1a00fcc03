import { describe, expect, test } from 'vitest'
import { fixture, refused, run } from '../../workspace.fixture.ts'
import { pathOf, withoutSides } from './format/unified.ts'
import { contentsOf } from './patch.fixture.ts'

type Files = Readonly<Record<string, string>>
const text = (...lines: readonly string[]): string => `${lines.join('\n')}\n`

async function applied(files: Files, patch: string) {
  const { root, tool } = fixture(files)
  const { notes } = await run(tool('apply_patch'), { patch })
  return { files: contentsOf(root), notes }
}

const HEAD = ['--- a/a', '+++ b/a'] as const

describe('a unified diff', () => {
  test.each<[string, Files, string, Files]>([
    ['of one file', { a: '1\n2\n3\n' }, text(...HEAD, '@@ -1,3 +1,3 @@', ' 1', '-2', '+two', ' 3'), { a: '1\ntwo\n3\n' }],
    ['without sides', { 'src/a': '1\n' }, text('--- src/a', '+++ src/a', '@@ -1 +1 @@', '-1', '+2'), { 'src/a': '2\n' }],
    ['with times', { a: '1\n' }, text('--- a\t2024-01-01 00:00:00', '+++ a\t2024-01-02 00:00:00', '@@ -1 +1 @@', '-1', '+2'), { a: '2\n' }],
    ['of a folder named a', { 'a/x': '1\n' }, text('--- a/x', '+++ a/x', '@@ -1 +1 @@', '-1', '+2'), { 'a/x': '2\n' }],
    [
      'of several files',
      { a: '1\n', b: '1\n' },
      text(...HEAD, '@@ -1 +1 @@', '-1', '+2', '--- a/b', '+++ b/b', '@@ -1 +1 @@', '-1', '+3'),
      { a: '2\n', b: '3\n' },
    ],
    ['the place that the line number tells', { a: 'x\ny\nx\ny\n' }, text(...HEAD, '@@ -3 +3 @@', '-x', '+z'), { a: 'x\ny\nz\ny\n' }],
    [
      'line numbers that are off by as much as the hunk before',
      { a: '0\n1\nx\ny\nx\ny\n' },
      text(...HEAD, '@@ -1,2 +1,2 @@', '-1', '+one', ' x', '@@ -4 +4 @@', '-x', '+z'),
      { a: '0\none\nx\ny\nz\ny\n' },
    ],
    ['wrong line numbers, one place', { a: '0\n1\n2\n' }, text(...HEAD, '@@ -90,2 +90,2 @@', '-1', '+one', ' 2'), { a: '0\none\n2\n' }],
    ['wrong counts', { a: '1\n2\n3\n' }, text(...HEAD, '@@ -1,1 +1,1 @@', ' 1', '-2', '+two', ' 3'), { a: '1\ntwo\n3\n' }],
    ['new lines without context', { a: '1\n2\n' }, text(...HEAD, '@@ -1,0 +2,2 @@', '+x', '+y'), { a: '1\nx\ny\n2\n' }],
    ['new lines at the top', { a: '1\n' }, text(...HEAD, '@@ -0,0 +1 @@', '+0'), { a: '0\n1\n' }],
    ['no newline before, one after', { a: '1' }, text(...HEAD, '@@ -1 +1 @@', '-1', '\\ No newline at end of file', '+1'), { a: '1\n' }],
    ['no newline after', { a: '1\n' }, text(...HEAD, '@@ -1 +1 @@', '-1', '+2', '\\ No newline at end of file'), { a: '2' }],
    ['no newline, elsewhere', { a: '1\n2' }, text(...HEAD, '@@ -1 +1 @@', '-1', '+one'), { a: 'one\n2' }],
    ['removed and added dashes', { a: '-- x\n1\n' }, text(...HEAD, '@@ -1,2 +1,2 @@', '--- x', '+++ y', ' 1'), { a: '++ y\n1\n' }],
    ['a blank line for an empty one', { a: '1\n\n2\n' }, text(...HEAD, '@@ -1,3 +1,3 @@', ' 1', '', '-2', '+two'), { a: '1\n\ntwo\n' }],
    ['a header without numbers', { a: 'f\nx\ng\nx\n' }, text(...HEAD, '@@ g @@', '-x', '+z'), { a: 'f\nx\ng\nz\n' }],
    ['a new file', {}, text('--- /dev/null', '+++ b/new/a', '@@ -0,0 +1,2 @@', '+1', '+2'), { 'new/a': '1\n2\n' }],
    ['a deleted file', { a: '1\n2\n' }, text('--- a/a', '+++ /dev/null', '@@ -1,2 +0,0 @@', '-1', '-2'), {}],
    ['in *** Begin Patch', { a: '1\n' }, text('*** Begin Patch', ...HEAD, '@@ -1 +1 @@', '-1', '+2', '*** End Patch'), { a: '2\n' }],
    ['in a fence', { a: '1\n' }, text('```diff', ...HEAD, '@@ -1 +1 @@', '-1', '+2', '```'), { a: '2\n' }],
  ])('%s', async (_, before, patch, after) => expect((await applied(before, patch)).files).toEqual(after))

  test.each<[string, Files, readonly string[], Files]>([
    [
      'a change',
      { a: '1\n' },
      ['diff --git a/a b/a', 'index 1234567..89abcde 100644', ...HEAD, '@@ -1 +1 @@ f()', '-1', '+2'],
      { a: '2\n' },
    ],
    [
      'a new file',
      {},
      ['diff --git a/a b/a', 'new file mode 100644', 'index 0000000..1', '--- /dev/null', '+++ b/a', '@@ -0,0 +1 @@', '+1'],
      { a: '1\n' },
    ],
    ['an empty new file', {}, ['diff --git a/a b/a', 'new file mode 100644', 'index 0000000..e69de29'], { a: '' }],
    ['an empty new file, its name in quotes', {}, ['diff --git "a/\\303\\244" "b/\\303\\244"', 'new file mode 100644'], { ä: '' }],
    ['an empty file deleted', { a: '' }, ['diff --git a/a b/a', 'deleted file mode 100644', 'index e69de29..0000000'], {}],
    ['a rename', { a: '1\n' }, ['diff --git a/a b/b/c', 'similarity index 100%', 'rename from a', 'rename to b/c'], { 'b/c': '1\n' }],
    [
      'a rename with a change',
      { a: '1\n2\n' },
      [
        'diff --git a/a b/b',
        'similarity index 50%',
        'rename from a',
        'rename to b',
        'index 1..2 100644',
        '--- a/a',
        '+++ b/b',
        '@@ -1,2 +1,2 @@',
        ' 1',
        '-2',
        '+two',
      ],
      { b: '1\ntwo\n' },
    ],
    [
      'a name in quotes',
      { 'ä b': '1\n' },
      ['diff --git "a/\\303\\244 b" "b/\\303\\244 b"', '--- "a/\\303\\244 b"', '+++ "b/\\303\\244 b"', '@@ -1 +1 @@', '-1', '+2'],
      { 'ä b': '2\n' },
    ],
    [
      'a mailed patch',
      { a: '1\n' },
      [
        'From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001',
        'Subject: x',
        '',
        '---',
        ' a | 2 +-',
        '',
        'diff --git a/a b/a',
        ...HEAD,
        '@@ -1 +1 @@',
        '-1',
        '+2',
        '-- ',
        '2.40.0',
        '',
      ],
      { a: '2\n' },
    ],
  ])('of git: %s', async (_, before, lines, after) => expect((await applied(before, text(...lines))).files).toEqual(after))

  test.each<[string, Files, readonly string[], RegExp]>([
    ['binary', { a: '1\n' }, ['diff --git a/a b/a', 'Binary files a/a and b/a differ'], /Line 2 .*binary/],
    [
      'a link',
      {},
      ['diff --git a/l b/l', 'new file mode 120000', '--- /dev/null', '+++ b/l', '@@ -0,0 +1 @@', '+a'],
      /Line 2 .*symbolic link/,
    ],
    [
      'a submodule',
      {},
      ['diff --git a/s b/s', 'new file mode 160000', '--- /dev/null', '+++ b/s', '@@ -0,0 +1 @@', '+x'],
      /Line 2 .*submodule/,
    ],
    ['a copy', { a: '1\n' }, ['diff --git a/a b/b', 'copy from a', 'copy to b'], /Line 2 .*a copy/],
    ['no hunks', { a: '1\n' }, [...HEAD], /Line 1 .*no hunks/],
    ['no file', { a: '1\n' }, ['@@ -1 +1 @@', '-1', '+2'], /Line 1 .*which file/],
    ['several places, none where it says', { a: 'x\ny\nx\n' }, [...HEAD, '@@ -2 +2 @@', '-x', '+z'], /fits "a" on lines 1, 3/],
    ['a removal that does not show all', { a: '1\n2\n' }, ['--- a/a', '+++ /dev/null', '@@ -1 +0,0 @@', '-1'], /does not show/],
    ['a removal of other lines', { a: '1\n' }, ['--- a/a', '+++ /dev/null', '@@ -1 +0,0 @@', '-2'], /is not in "a"/],
    ['a new file that exists', { a: '1\n' }, ['--- /dev/null', '+++ b/a', '@@ -0,0 +1 @@', '+2'], /exists already/],
    ['no sign', { a: '1\n' }, [...HEAD, '@@ -1 +1 @@', '-1', '2'], /Line 5 .*without a sign/],
    ['context in a new file', {}, ['--- /dev/null', '+++ b/a', '@@ -0,0 +1,2 @@', ' 1', '+2'], /Line 4 .*without "\+"/],
  ])('refused: %s', async (_, before, lines, says) => {
    const { root, tool } = fixture(before)
    const error = await refused(tool('apply_patch'), { patch: text(...lines) })
    expect(error.message).toMatch(says)
    expect(error.status).toBe('retry')
    expect(contentsOf(root)).toEqual(before)
  })

  test('paths', () => {
    expect(pathOf('a/x y\t2024')).toBe('a/x y')
    expect(pathOf('"a/\\"\\t\\\\\\303\\244"')).toBe('a/"\t\\ä')
    expect(withoutSides('a/x', 'b/y')).toEqual({ before: 'x', after: 'y' })
    expect(withoutSides('/dev/null', 'b/y')).toEqual({ before: '/dev/null', after: 'y' })
    expect(withoutSides('a/x', 'c/y')).toEqual({ before: 'a/x', after: 'c/y' })
  })
})
