import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type RipgrepEnd, ripgrep } from '../../ripgrep.ts'
import { context, fixture, refused, run } from '../../workspace.fixture.ts'
import { DEFAULT_FILE_LIMITS } from '../common/limits.ts'
import { badPattern } from './bad-pattern.ts'
import { around } from './matches.ts'
import { grepTool } from './tool.ts'

const FILES = {
  '.gitignore': 'dist/\n*.log\n',
  '.git/config': 'needle',
  '.hidden/x.ts': 'needle',
  'dist/out.ts': 'needle',
  'x.log': 'needle',
  'src/a.ts': 'one\nneedle two\nthree\nNeedle four\n',
  'src/b.js': 'needle needle\n',
  'test/c.ts': 'nothing\nneedle(here)\n',
}

describe('grep', () => {
  const { root, tool } = fixture(FILES)
  symlinkSync('/etc', join(root, 'etc'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  const paths = async (input: object) =>
    ((await run(tool('grep'), { pattern: 'needle', mode: 'files', ...input })).data['files'] as { path: string }[]).map((file) => file.path)

  test('shows matches by file', async () => {
    const result = await run(tool('grep'), { pattern: 'needle' })
    expect(result.content).toBe(
      '4 matches in 3 files\nsrc/a.ts\n2: needle two\n4: Needle four\n\nsrc/b.js\n1: needle needle\n\ntest/c.ts\n2: needle(here)',
    )
    expect(result).toMatchObject({ count: 4, hasMore: false, page: 1, data: { total: 4, partial: false } })
    expect(result.display).toContain('```\nsrc/a.ts')
  })

  test.each([
    [{}, ['src/a.ts', 'src/b.js', 'test/c.ts']],
    [{ include: '*.ts' }, ['src/a.ts', 'test/c.ts']],
    [{ include: '**/*' }, ['src/a.ts', 'src/b.js', 'test/c.ts']],
    [{ include: 'src/**' }, ['src/a.ts', 'src/b.js']],
    [{ include: 'src/*.{ts,tsx}' }, ['src/a.ts']],
    [{ include: '.hidden/**' }, ['.hidden/x.ts']],
    [{ exclude: '*.ts' }, ['src/b.js']],
    [{ exclude: 'src' }, ['test/c.ts']],
    [{ path: 'src' }, ['src/a.ts', 'src/b.js']],
    [{ path: 'src', include: './a.*' }, ['src/a.ts']],
    [{ path: 'src/a.ts' }, ['src/a.ts']],
    [{ path: 'dist/out.ts' }, ['dist/out.ts']],
    [{ pattern: 'Needle' }, ['src/a.ts']],
    [{ pattern: 'NEEDLE', ignore_case: true }, ['src/a.ts', 'src/b.js', 'test/c.ts']],
    [{ pattern: 'needle(', regex: false }, ['test/c.ts']],
    [{ pattern: 'needle(?=\\()' }, ['test/c.ts']],
    [{ pattern: 'two\\nthree' }, ['src/a.ts']],
    [{ pattern: '-needle|nothing' }, ['test/c.ts']],
  ])('%j', async (input, expected) => expect(await paths(input)).toEqual(expected))

  test('counts', async () => {
    const result = await run(tool('grep'), { pattern: 'needle', mode: 'count', ignore_case: false })
    expect(result.content).toBe('4 matches in 3 files\nsrc/a.ts: 1\nsrc/b.js: 2\ntest/c.ts: 1')
    expect(result.count).toBe(4)
  })

  test('context', async () => {
    const { content } = await run(tool('grep'), { pattern: 'two', context: 1 })
    expect(content).toBe('1 match in 1 file\nsrc/a.ts\n1- one\n2: needle two\n3- three')
  })

  test('nothing found is ok, and says where was looked', async () => {
    const result = await run(tool('grep'), { pattern: 'nowhere', include: '*.ts' })
    expect(result).toMatchObject({
      ok: true,
      count: 0,
      content: 'No match for "nowhere" in "." with include=*.ts (without hidden and git-ignored files).',
    })
  })

  test.each([
    ['needle(', 7, 'unclosed group', 'needle\\('],
    ['a[b', 2, 'unclosed character class', 'a\\[b'],
    ['x{2,1}', 2, 'invalid repetition', 'x\\{2,1\\}'],
  ])('a bad regex: %s', async (pattern, position, reason, suggestion) => {
    const error = await refused(tool('grep'), { pattern })
    expect(error).toMatchObject({ status: 'retry', details: { parameter: 'pattern', value: pattern, suggestion, position } })
    expect(error.message).toContain(reason)
    for (const mode of ['files', 'count']) await refused(tool('grep'), { pattern, mode })
    await run(tool('grep'), { pattern: suggestion })
  })

  test.each([
    '(?<=one\\n)needle',
    '(?<!x)needle',
    '(needle) \\1',
    '(?>need)le',
    'nee++dle',
    '\\Qneedle(\\E',
    '[[:alpha:]]+dle',
    'a{',
    '{x}',
    '\\\\"x',
  ])('no bad regex: %s', async (pattern) => expect(await run(tool('grep'), { pattern })).toMatchObject({ ok: true }))

  test.each([
    'foo(',
    'foo[',
    '?',
    '+a',
    'a)',
    '[z-a]',
    '(?<=a+)b',
    '\\p{Foo}',
    '(?<name',
    '\\x{110000}',
    '\\i',
    '(((((',
    '\\',
    'arr[0].x(',
    '\\\\(',
  ])('what is suggested for a bad regex works: %s', async (pattern) => {
    const { details } = await refused(tool('grep'), { pattern })
    expect(details.suggestion).toBeDefined()
    await run(tool('grep'), { pattern: details.suggestion })
  })

  test.each([
    [{ pattern: '*' }, { pattern: '*' }, 3],
    [{ pattern: '*.ts' }, { pattern: '*.ts' }, 2],
    [{ pattern: '**/*.{ts' }, { pattern: '**/*.{ts}' }, 2],
    [{ pattern: '*.ts', path: 'src' }, { pattern: '*.ts', path: 'src' }, 1],
    [{ pattern: '*.ts', path: 'src/a.ts' }, { pattern: '*.ts' }, 2],
  ])('a glob is led to glob: %j', async (input, glob, count) => {
    const files = fixture({ 'src/a.ts': '', 'b.ts': '', 'c.md': '' })
    const error = await refused(files.tool('grep'), input)
    expect(error.message).toContain('use glob to find files by name')
    expect(error.details).toMatchObject({ parameter: 'pattern', position: expect.any(Number), call: { tool: 'glob', input: glob } })
    expect(error.details).not.toHaveProperty('suggestion')
    expect((await run(files.tool('glob'), error.details.call?.input)).count).toBe(count)
  })

  test.each([
    ['src/mian.ts', ['src/main.ts', 'src/man.d']],
    ['scr', ['src']],
    ['src/man', ['src/man.d', 'src/main.ts']],
    ['qqqqqqqq', []],
  ])('the nearest of both kinds to a missing path: %s', async (path, near) => {
    const files = fixture({ 'src/main.ts': '', 'src/man.d/x': '' })
    const { message, details, errorType } = await refused(files.tool('grep'), { pattern: 'x', path })
    expect([errorType, message]).toEqual(['not_found', `There is no file or folder "${path}".`])
    expect([details.suggestion, ...((details.candidates as string[] | undefined) ?? [])].filter(Boolean)).toEqual(near)
  })

  test('an escape that was doubled is told where nothing was found', async () => {
    const quoted = fixture({ 'a.json': '{"needle": 1}' })
    const { count, notes } = await run(quoted.tool('grep'), { pattern: '\\\\"needle\\\\"' })
    expect([count, notes]).toEqual([0, ['The pattern looks for a backslash. Without it: \\"needle\\"']])
    expect((await run(quoted.tool('grep'), { pattern: '\\"needle\\"' })).count).toBe(1)
    expect((await run(quoted.tool('grep'), { pattern: 'nowhere\\d' })).notes).toBeUndefined()
  })

  test('an error of ripgrep that is not about the pattern is none of it', () => {
    expect(badPattern('x', 'rg: ./a: Permission denied (os error 13)')).toBeUndefined()
  })

  test.each([
    [{ path: 'scr' }, { errorType: 'not_found', details: { suggestion: 'src' } }],
    [{ path: '/' }, { errorType: 'too_broad', details: { suggestion: '.' } }],
    [{ path: '/etc' }, { errorType: 'permission', status: 'failed' }],
    [{ path: 'etc' }, { errorType: 'permission', status: 'failed' }],
    [{ path: 'pipe' }, { errorType: 'unsupported', status: 'failed' }],
    [{ include: '{a' }, { details: { parameter: 'include' } }],
    [{ exclude: '[a' }, { details: { parameter: 'exclude' } }],
    [{ page: 2 }, { details: { parameter: 'page', suggestion: 1 } }],
  ])('refuses %j', async (input, expected) => expect(await refused(tool('grep'), { pattern: 'needle', ...input })).toMatchObject(expected))

  test('ten thousand matches in pages, each once', async () => {
    const many = fixture({ 'a.txt': 'hit\n'.repeat(4000), 'b.txt': 'hit\nmiss\n'.repeat(6000) })
    const seen = new Set<string>()
    let page = 1
    for (;;) {
      const { data, hasMore, count, content } = await run(many.tool('grep'), { pattern: 'hit', limit: 1500, page })
      expect(count).toBe(10_000)
      for (const file of data['files'] as { path: string; lines: { line: number }[] }[])
        for (const { line } of file.lines) seen.add(`${file.path}:${line}`)
      expect((content as string).endsWith(`has_more=true, next: page=${page + 1}`)).toBe(hasMore)
      if (!hasMore) break
      page++
    }
    expect([page, seen.size]).toEqual([7, 10_000])
  })

  test('more than can be held is counted and said', async () => {
    const many = fixture({ 'a.txt': 'hit\n'.repeat(50) }, { limits: { heldMatches: 10 } })
    const result = await run(many.tool('grep'), { pattern: 'hit' })
    expect(result).toMatchObject({ count: 50, data: { partial: true } })
    expect(result.notes?.[0]).toContain('Only the first 10 of 50')
  })

  test('what is printed of a file is shown only where the file holds it', async () => {
    const files = fixture({
      'a.txt': 'one\nneedle\n',
      'bom.txt': Buffer.from('\ufeffone\nneedle ü\n'),
      'le.txt': Buffer.from('\ufeffüb\nneedle\n', 'utf16le'),
      'be.txt': Buffer.from('\ufeffüb\nneedle\n', 'utf16le').swap16(),
      'bytes.txt': Buffer.from([0xff, 0xfe ^ 1, 0x0a, ...Buffer.from('needle \xff', 'latin1'), 0x0a]),
      'crlf.txt': 'one\r\nneedle\r\n',
    })
    const all = await run(files.tool('grep'), { pattern: 'needle', context: 1 })
    expect(all.notes).toBeUndefined()
    expect(all.data['files']).toHaveLength(6)

    // Simulates a link that was swapped in: ripgrep searches another file.
    const elsewhere: typeof ripgrep = (args, options) =>
      ripgrep(args, {
        ...options,
        onRecord: (record) =>
          options.onRecord(record.replaceAll(/needle|bmVlZGxl/g, (found) => (found === 'needle' ? 'SECRET' : 'U0VDUkVU'))),
      })
    const swapped = await run(grepTool(files.workspace, DEFAULT_FILE_LIMITS, elsewhere), { pattern: 'needle', path: '.' })
    expect(swapped.data['files']).toEqual([])
    expect(JSON.stringify(swapped)).not.toContain('SECRET')
    expect(swapped.notes?.[0]).toMatch(/^Left out: a\.txt, .* changed during the search\.$/)
  })

  test('long lines are cut around the match', async () => {
    const long = fixture({ 'min.js': `${'ü'.repeat(10_000)}needle${'y'.repeat(10_000)}` })
    const { content, data } = await run(long.tool('grep'), { pattern: 'needle' })
    expect((content as string).length).toBeLessThan(500)
    expect(content).toContain('üneedley')
    expect(data['files']).toMatchObject([{ lines: [{ column: 10_001 }] }])
    expect(around('abcdefghij', 8, 9, 4)).toBe('…ghij')
  })

  test('file names are no options and no glob', async () => {
    const odd = fixture({ '-e': 'needle', 'a b[1].ts': 'needle' })
    expect((await run(odd.tool('grep'), { pattern: 'needle', path: '-e' })).count).toBe(1)
    expect((await run(odd.tool('grep'), { pattern: 'needle', path: 'a b[1].ts' })).count).toBe(1)
  })

  test('file names with newlines are counted once and shown on one line', async () => {
    const odd = fixture({ 'a\nb.ts': 'needle\nneedle', 'c.ts': 'needle' })
    for (const mode of ['content', 'files', 'count'])
      expect((await run(odd.tool('grep'), { pattern: 'needle', mode })).content).toContain('"a\\nb.ts"')
    expect((await run(odd.tool('grep'), { pattern: 'needle', mode: 'count' })).content).toBe('3 matches in 2 files\n"a\\nb.ts": 2\nc.ts: 1')
  })

  test.each([
    [{ path: 'src', include: 'src/**/*.ts' }, ['src/lib/a.ts']],
    [{ path: 'src', include: 'lib/*.ts' }, ['src/lib/a.ts']],
    [{ path: 'src/lib', include: '**/lib/*.ts' }, ['src/lib/a.ts']],
    [{ path: 'src', include: '{src,test}/**' }, ['src/lib/a.ts', 'src/lib/b.js']],
    [{ path: 'src', include: '*/lib/.x/*' }, ['src/lib/.x/c.ts']],
  ])('include counts from the workspace and from the folder: %j', async (input, expected) => {
    const deep = fixture({ 'src/lib/a.ts': 'needle', 'src/lib/b.js': 'needle', 'src/lib/.x/c.ts': 'needle', 'lib/a.ts': 'needle' })
    const { data } = await run(deep.tool('grep'), { pattern: 'needle', mode: 'files', ...input })
    expect((data['files'] as { path: string }[]).map((file) => file.path)).toEqual(expected)
  })

  test('spilled results are searched by their virtual path', async () => {
    const outputs = fixture({ 'c1.txt': 'a\nneedle\n' })
    const { tool: find } = fixture({}, { outputs: { dir: outputs.root } })
    for (const path of ['@output/c1.txt', '@output', '@output/'])
      expect((await run(find('grep'), { pattern: 'needle', path })).data['files']).toMatchObject([{ path: '@output/c1.txt' }])
  })
})

describe('a search that is cut short', () => {
  const { workspace } = fixture()
  const ended = (end: Partial<RipgrepEnd>, records: readonly string[] = []) =>
    grepTool(workspace, DEFAULT_FILE_LIMITS, async (_, { onRecord }) => {
      for (const record of records) onRecord(record)
      return { code: null, stderr: '', stopped: 'end', dropped: 0, ...end }
    })
  const match = JSON.stringify({
    type: 'match',
    data: { path: { text: './a.ts' }, lines: { text: 'x\n' }, line_number: 1, submatches: [{ start: 0, end: 1 }] },
  })

  test('with nothing found is too broad, never empty', async () => {
    for (const mode of ['content', 'files', 'count'])
      expect(await refused(ended({ stopped: 'deadline' }), { pattern: 'x', mode })).toMatchObject({
        status: 'retry',
        errorType: 'too_broad',
      })
  })

  test('with something found is partial', async () => {
    const result = await run(ended({ stopped: 'deadline' }, [match]), { pattern: 'x' })
    expect(result).toMatchObject({ count: 1, data: { partial: true } })
    expect(result.notes?.[0]).toContain('Partial: stopped after 10 s')
  })

  test('the deadline kills the real ripgrep', async () => {
    const { tool } = fixture({ 'a.txt': 'x' }, { limits: { searchSeconds: 0 } })
    const big = fixture(Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`d${at % 50}/f${at}`, 'y\n'.repeat(50)])), {
      limits: { searchSeconds: 0 },
    })
    expect(tool('grep').timeout).toBeGreaterThan(DEFAULT_FILE_LIMITS.searchSeconds)
    expect(await refused(big.tool('grep'), { pattern: '(y.*)*z' })).toMatchObject({ errorType: 'too_broad' })
  })

  test('files that can not be read are named', async () => {
    const stderr = 'rg: ./secret.txt: Permission denied (os error 13)\n'
    expect((await run(ended({ code: 2, stderr }, [match]), { pattern: 'x' })).notes?.[0]).toBe(
      'Partial: 1 could not be read: "secret.txt".',
    )
    expect((await run(ended({ code: 2, stderr }), { pattern: 'x' })).notes?.[0]).toContain('secret.txt')
  })

  test('a failure without a reason is no empty result', async () => {
    expect(await refused(ended({ code: 2, stderr: 'rg: something else' }), { pattern: 'x' })).toMatchObject({ status: 'failed' })
  })

  test('ends with the turn', async () => {
    const { tool } = fixture({ 'a.txt': 'x' })
    const controller = new AbortController()
    const running = run(tool('grep'), { pattern: 'x' }, context(controller.signal))
    controller.abort(new Error('stop'))
    await expect(running).rejects.toThrow('stop')
  })
})
