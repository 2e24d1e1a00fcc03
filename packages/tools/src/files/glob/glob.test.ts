import { symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ToolFailure } from '@mulligan/core'
import { describe, expect, test } from 'vitest'
import { context, fixture, put, refused, run } from '../../workspace.fixture.ts'
import { DEFAULT_FILE_LIMITS } from '../common/limits.ts'
import { globTool } from './tool.ts'

const FILES = {
  '.gitignore': 'dist/\n',
  '.github/ci.yml': '',
  'dist/out.ts': '',
  'src/a.ts': 'aaa',
  'src/b.js': 'b',
  'src/deep/c.ts': 'cc',
  'README.md': '',
}

describe('glob', () => {
  const { root, tool } = fixture(FILES)
  symlinkSync(join(root, 'src'), join(root, 'linked'))
  test.each([
    [{ pattern: '*.ts' }, ['src/a.ts', 'src/deep/c.ts']],
    [{ pattern: '**/*.{ts,js}' }, ['src/a.ts', 'src/b.js', 'src/deep/c.ts']],
    [{ pattern: 'src/*' }, ['src/a.ts', 'src/b.js']],
    [{ pattern: 'src/**' }, ['src/a.ts', 'src/b.js', 'src/deep/c.ts']],
    [{ pattern: '*.ts', path: 'src/deep' }, ['src/deep/c.ts']],
    [{ pattern: 'src/deep/*', path: 'src' }, ['src/deep/c.ts']],
    [{ pattern: './src/[a-b].*' }, ['src/a.ts', 'src/b.js']],
    [{ pattern: '**/*', gitignore: false }, ['README.md', 'dist/out.ts', 'src/a.ts', 'src/b.js', 'src/deep/c.ts']],
    [{ pattern: '*.yml', hidden: true }, ['.github/ci.yml']],
    [{ pattern: '.github/**' }, ['.github/ci.yml']],
  ])('%j', async (input, paths) => {
    const { data, count } = await run(tool('glob'), { ...input, sort: 'path' })
    expect((data['files'] as { path: string }[]).map((file) => file.path)).toEqual(paths)
    expect(count).toBe(paths.length)
  })

  test('sorts by time and by size', async () => {
    utimesSync(join(root, 'src/b.js'), 2e9, 2e9)
    utimesSync(join(root, 'src/a.ts'), 1e9, 1e9)
    const paths = async (sort: string) =>
      ((await run(tool('glob'), { pattern: 'src/**', sort })).data['files'] as { path: string }[]).map((file) => file.path)
    expect(await paths('modified')).toEqual(['src/b.js', 'src/deep/c.ts', 'src/a.ts'])
    expect(await paths('size')).toEqual(['src/a.ts', 'src/deep/c.ts', 'src/b.js'])
  })

  test('pages', async () => {
    const first = await run(tool('glob'), { pattern: 'src/**', sort: 'path', limit: 2 })
    expect(first.content).toBe('3 files, page 1 of 2\nsrc/a.ts\nsrc/b.js\nhas_more=true, next: page=2')
    expect(first).toMatchObject({ count: 3, page: 1, hasMore: true })
    const second = await run(tool('glob'), { pattern: 'src/**', sort: 'path', limit: 2, page: 2 })
    expect(second).toMatchObject({ content: '3 files, page 2 of 2\nsrc/deep/c.ts', hasMore: false })
    expect(await refused(tool('glob'), { pattern: 'src/**', limit: 2, page: 3 })).toMatchObject({
      details: { parameter: 'page', suggestion: 2 },
    })
  })

  test.each([
    ['**/*.{ts', '**/*.{ts}', 2],
    ['{src,lib/*.{ts', '{src,lib/*.{ts}}', 0],
    ['src/[ab.ts', 'src/[ab.ts]', 0],
    ['src/[ab/*.{ts,js', 'src/[ab]/*.{ts,js}', 0],
    ['\\{src/{a.*', '\\{src/{a.*}', 0],
    ['src/[', 'src/?', 0],
  ])('a glob with an open bracket is suggested with it closed: %s', async (pattern, suggestion, count) => {
    const { details } = await refused(tool('glob'), { pattern })
    expect(details.suggestion).toBe(suggestion)
    expect((await run(tool('glob'), { pattern: suggestion })).count).toBe(count)
  })

  test('nothing found is ok; what is wrong is a retry', async () => {
    expect(await run(tool('glob'), { pattern: '*.py' })).toMatchObject({
      ok: true,
      count: 0,
      content: expect.stringContaining('git ignores'),
    })
    for (const path of ['/', '~', homedir(), `${homedir()}/`])
      expect(await refused(tool('glob'), { pattern: '*', path })).toMatchObject({
        status: 'retry',
        errorType: 'too_broad',
        details: { suggestion: '.' },
      })
    expect(await refused(tool('glob'), { pattern: '*', path: 'scr' })).toMatchObject({
      errorType: 'not_found',
      details: { suggestion: 'src' },
    })
    expect(await refused(tool('glob'), { pattern: '*', path: 'src/a.ts' })).toMatchObject({ details: { suggestion: 'src' } })
    expect(await refused(tool('glob'), { pattern: '{a' })).toMatchObject({ details: { parameter: 'pattern' } })
    expect(await refused(tool('glob'), { pattern: '*', path: '../..' })).toBeInstanceOf(ToolFailure)
  })

  test('cut off with nothing found is too broad, with something is partial', async () => {
    const { workspace } = fixture()
    const cut = (found: string[]) =>
      globTool(workspace, DEFAULT_FILE_LIMITS, async (_, { onRecord }) => {
        for (const path of found) onRecord(path)
        return { code: null, stderr: '', stopped: 'deadline', dropped: 0 }
      })
    expect(await refused(cut([]), { pattern: '*' })).toMatchObject({ errorType: 'too_broad', status: 'retry' })
    const result = await run(cut(['./a.ts']), { pattern: '*' })
    expect(result.data['partial']).toBe(true)
    expect(result.notes?.[0]).toContain('Partial')
  })

  test('ends with the turn', async () => {
    await expect(run(tool('glob'), { pattern: '*' }, context(AbortSignal.abort(new Error('stop'))))).rejects.toThrow('stop')
  })
})

describe.runIf(process.platform === 'linux')('names that are odd', () => {
  test('with newlines, backslashes, leading dashes, and not in UTF-8', async () => {
    const { root, tool } = fixture({ 'a\nb.txt': '', 'a\\b.txt': '', '-rf.txt': '', 'dir/--help/c.txt': '' })
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff]), Buffer.from('.txt')]), '')
    const { data, content, notes } = await run(tool('glob'), { pattern: '**/*.txt', sort: 'path' })
    const paths = (data['files'] as { path: string }[]).map((file) => file.path)
    expect(paths).toEqual(['-rf.txt', 'a\nb.txt', 'a\\b.txt', 'dir/--help/c.txt', '\ufffd.txt'])
    expect(content).toContain('"a\\nb.txt"')
    expect(notes?.[0]).toContain('not in UTF-8')
  })
})

describe('what git ignores', () => {
  test.each<[what: string, rules: string, ignored: readonly string[], listed: readonly string[]]>([
    ['a byte order mark', '\ufeffbuild\n', ['build/x'], ['src/x']],
    ['a name is a file or a folder', 'a\n', ['a/x', 'b/a'], ['ab']],
    ['a slash at the end is a folder', 'a/\n', ['a/x'], ['b/a']],
    ['one character', '*.web?\n', ['x.webp', 'x.webm'], ['x.web', 'x.webmm']],
    ['a class', '*.[oa]\n', ['x.o', 'x.a'], ['x.c', 'x.oa']],
    ['a class that is negated', '*.[!oa]\n', ['x.c'], ['x.o', 'x.a']],
    ['ranges', '*.pn[0-9a-z]\n', ['x.png', 'x.pn1'], ['x.pn-', 'x.pnG']],
    ['taken back in', '*.log\n!keep.log\n', ['a.log', 'd/a.log'], ['keep.log', 'd/keep.log']],
    ['not taken back from an ignored folder', '/abc/\n!/abc/a.js\n', ['abc/a.js'], ['b/abc/a.js']],
    ['taken back step by step', '/*\n!/foo\n/foo/*\n!/foo/bar\n', ['no.js', 'foo/no.js'], ['foo/bar/yes.js', 'foo/bar/baz/yes.js']],
    ['a later rule wins', '!foo/bar.js\nfoo/*\n', ['foo/bar.js'], ['bar.js']],
    ['at any depth', '**/foo\n', ['foo/x', 'a/foo/x', 'a/b/foo'], ['afoo']],
    ['all in a folder', 'abc/**\n', ['abc/a', 'abc/d/e'], ['x/abc/a']],
    ['in between', 'a/**/b\n', ['a/b', 'a/x/b', 'a/x/y/b'], ['b', 'a/c']],
    ['a slash in the middle is from here', 'foo/x\n', ['foo/x'], ['a/foo/x']],
    ['a comment', '#abc\n', [], ['#abc']],
    ['a hash that is none', '\\#abc\n', ['#abc'], ['abc']],
    ['an exclamation mark that is none', '\\!a\n', ['!a'], ['a']],
    ['spaces at the end', 'a  \n', ['a'], ['a  ']],
    ['a space at the end that counts', 'a\\ \n', ['a '], ['a']],
    ['a file of Windows', 'dist/\r\n*.log\r\n', ['dist/x', 'a.log'], ['b']],
    ['a rule that is a star', '*\n!*/\n!*.js\n', ['a.ts', 'd/a.ts'], ['a.js', 'd/a.js']],
  ])('%s', async (_, rules, ignored, listed) => {
    const { root, tool } = fixture({ '.gitignore': rules })
    for (const path of [...ignored, ...listed]) put(root, { [path]: '' })
    const { data } = await run(tool('glob'), { pattern: '**', hidden: true })
    const found = new Set((data['files'] as { path: string }[]).map((file) => file.path))
    expect([...ignored].filter((path) => found.has(path))).toEqual([])
    expect([...listed].filter((path) => !found.has(path))).toEqual([])
  })

  test('in a folder of its own, and from a folder within', async () => {
    const { tool } = fixture({
      '.gitignore': '*.log\n',
      'sub/.gitignore': '!keep.log\n/only\n',
      'sub/keep.log': '',
      'sub/a.log': '',
      'sub/only': '',
      'sub/d/only': '',
    })
    for (const path of ['.', 'sub']) {
      const { data } = await run(tool('glob'), { pattern: 'sub/**', path, sort: 'path' })
      expect((data['files'] as { path: string }[]).map((file) => file.path)).toEqual(['sub/d/only', 'sub/keep.log'])
    }
  })

  test('links to files and folders are not followed, also in circles', async () => {
    const { root, tool } = fixture({ 'src/a.ts': '' })
    symlinkSync('/etc', join(root, 'etc'))
    symlinkSync('/etc/passwd', join(root, 'passwd'))
    symlinkSync('..', join(root, 'src/up'))
    expect((await run(tool('glob'), { pattern: '**', hidden: true })).content).toBe('1 file\nsrc/a.ts')
  })
})
