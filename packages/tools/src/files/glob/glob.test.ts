import { symlinkSync, utimesSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ToolFailure } from '@mulligan/core'
import { describe, expect, test } from 'vitest'
import { context, fixture, refused, run } from '../../workspace.fixture.ts'
import { DEFAULT_LIMITS } from '../common/limits.ts'
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
      globTool(workspace, DEFAULT_LIMITS, async (_, { onRecord }) => {
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
