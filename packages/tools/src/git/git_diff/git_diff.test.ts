import { readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { refused, run } from '../../workspace.fixture.ts'
import { fileChanges } from '../common/file-changes.ts'
import { freshHome, repository } from '../git.fixture.ts'
import { boundedLines } from './bounded-lines.ts'

beforeAll(() => void freshHome())

const paths = async (r: ReturnType<typeof repository>, input: object) =>
  ((await run(r.tool('git_diff'), input)).data['files'] as { path: string }[]).map(({ path }) => path)

describe('git_diff', () => {
  test('the line, in the form that everybody knows', async () => {
    const r = repository({ 'a.txt': 'one\ntwo\nthree\n' })
    r.put({ 'a.txt': 'one\n2\nthree\n' })
    const result = await run(r.tool('git_diff'), {})
    expect(result.content).toMatch(
      /^1 file changed, \+1 -1\ndiff --git a\/a.txt b\/a.txt\nindex .*\n--- a\/a.txt\n\+\+\+ b\/a.txt\n@@ -1,3 \+1,3 @@\n one\n-two\n\+2\n three$/,
    )
    expect(result).toMatchObject({
      count: 1,
      data: { added: 1, removed: 1, files: [{ path: 'a.txt', change: 'modified', binary: false }] },
    })
  })

  test('staged, not staged, and all with new files; the index stays as it was', async () => {
    const r = repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    r.put({ 'a.txt': 'A\n', 'b.txt': 'B\n', 'new.txt': 'n\n' })
    r.git('add', 'a.txt')
    const index = readFileSync(join(r.root, '.git/index'))
    expect(await paths(r, { what: 'staged' })).toEqual(['a.txt'])
    expect(await paths(r, { what: 'unstaged' })).toEqual(['b.txt'])
    expect(await paths(r, {})).toEqual(['a.txt', 'b.txt', 'new.txt'])
    expect(await paths(r, { path: 'new.txt' })).toEqual(['new.txt'])
    expect(readFileSync(join(r.root, '.git/index')).equals(index)).toBe(true)
  })

  test('a range, a commit, and what one commit changed', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    r.put({ 'b.txt': 'b\n' })
    r.save()
    r.put({ 'c.txt': 'c\n' })
    r.save()
    expect(await paths(r, { range: 'HEAD~2..HEAD' })).toEqual(['b.txt', 'c.txt'])
    expect(await paths(r, { range: 'HEAD~1^..HEAD~1' })).toEqual(['b.txt'])
    expect(await paths(r, { range: 'HEAD~1' })).toEqual(['c.txt'])
    expect((await refused(r.tool('git_diff'), { range: 'HEAD~9..HEAD' })).details).toMatchObject({ parameter: 'range' })
    expect((await refused(r.tool('git_diff'), { range: '--no-index' })).status).toBe('retry')
  })

  test('before the first commit', async () => {
    const r = repository()
    r.put({ 'a.txt': 'a\n' })
    expect(await paths(r, {})).toEqual(['a.txt'])
    r.git('add', 'a.txt')
    expect(await paths(r, { what: 'staged' })).toEqual(['a.txt'])
  })

  test('nothing is ok with count 0', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    expect(await run(r.tool('git_diff'), {})).toMatchObject({ count: 0, content: 'No change since the last commit.' })
    expect(await run(r.tool('git_diff'), { path: 'a.txt', what: 'staged' })).toMatchObject({ count: 0 })
  })

  test('binary files are named, renames are found, also of files that are not added', async () => {
    const r = repository({ 'old.txt': 'one\ntwo\nthree\n', 'i.bin': Buffer.from([0, 1, 2]) })
    r.put({ 'i.bin': Buffer.from([0, 3]) })
    renameSync(join(r.root, 'old.txt'), join(r.root, 'moved.txt'))
    const result = await run(r.tool('git_diff'), {})
    expect(result.content).toContain('Binary, not shown: i.bin')
    expect(result.data['files']).toMatchObject([
      { path: 'i.bin', binary: true },
      { path: 'moved.txt', from: 'old.txt', change: 'renamed' },
    ])
    expect((await run(r.tool('git_diff'), { stat: true })).content).toBe(
      '2 files changed, +0 -0\nBinary, not shown: i.bin\nmodified: i.bin (binary)\nrenamed: old.txt -> moved.txt +0 -0',
    )
  })

  test('a conflict', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    r.git('checkout', '--quiet', '-b', 'other')
    r.put({ 'a.txt': 'b\n' })
    r.save()
    r.git('checkout', '--quiet', 'main')
    r.put({ 'a.txt': 'c\n' })
    r.save()
    expect(() => r.git('merge', 'other')).toThrow()
    for (const what of ['all', 'unstaged'])
      expect(await run(r.tool('git_diff'), { what })).toMatchObject({ count: 1, content: expect.stringContaining('<<<<<<< HEAD') })
  })

  test('a deleted file by its path; one that never was', async () => {
    const r = repository({ 'src/gone.txt': 'a\n', 'src/main.txt': 'm\n' })
    rmSync(join(r.root, 'src/gone.txt'))
    expect(await paths(r, { path: 'src/gone.txt' })).toEqual(['src/gone.txt'])
    r.save()
    expect(await paths(r, { path: 'src/gone.txt' })).toEqual([])
    expect((await refused(r.tool('git_diff'), { path: 'src/mian.txt' })).details).toMatchObject({ suggestion: 'src/main.txt' })
  })

  test('in a folder of the repository, with paths from the workspace', async () => {
    const r = repository({ 'app/web/a.txt': 'a\n', 'b.txt': 'b\n' }, { below: 'app' })
    r.put({ 'app/web/a.txt': 'A\n', 'b.txt': 'B\n' })
    const result = await run(r.tool('git_diff'), { repo: 'web' })
    expect(result.content).toContain('diff --git a/web/a.txt b/web/a.txt')
    expect(await paths(r, { path: 'web/a.txt' })).toEqual(['web/a.txt'])
    expect((await refused(r.tool('git_diff'), { repo: 'web', path: '.' })).details).toMatchObject({ parameter: 'path', suggestion: 'web' })
  })

  test('is cut at 5,000 lines and says what is left out', async () => {
    const r = repository({ 'a.txt': 'a\n' })
    r.put({ 'big.txt': 'x\n'.repeat(6000), 'last.txt': 'l\n', 'wide.txt': 'w'.repeat(9000) })
    const result = await run(r.tool('git_diff'), {})
    expect(result.data['leftOut']).toEqual(['big.txt', 'last.txt', 'wide.txt'])
    expect((result.content as string).split('\n').length).toBeLessThan(5010)
    expect(result.content).toMatch(
      /… cut after 5,000 lines\. Left out, or not shown to the end: big\.txt, last\.txt, wide\.txt\. Give path to see one\.$/,
    )
    expect((await run(r.tool('git_diff'), { path: 'wide.txt' })).content).toContain('… [7001 more characters]')
  })
})

describe('bounded lines', () => {
  test('the same lines however the bytes are cut, and never more than the bounds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 5 }), (text, step, most) => {
        const bounds = { lines: most, lineChars: 10, chars: 1000 }
        const whole = boundedLines(bounds)
        whole.push(Buffer.from(text))
        whole.end()
        const pieces = boundedLines(bounds)
        const bytes = Buffer.from(text)
        for (let at = 0; at < bytes.length; at += step) pieces.push(bytes.subarray(at, at + step))
        pieces.end()
        expect(pieces.lines).toEqual(whole.lines)
        expect(pieces.full()).toBe(whole.full())
        expect(whole.lines.length).toBeLessThanOrEqual(most)
        if (!whole.full() && whole.lines.every((line) => line.length <= 10))
          expect(whole.lines.join('\n')).toBe(bytes.toString('utf8').replace(/\n$/, ''))
      }),
    )
  })
})

describe('file changes', () => {
  const path = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => !text.includes('\0'))
  test('whatever the names', () => {
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 8 }), fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), (names, moves) => {
        const raw = names.map((name, at) => (moves[at] ? `:1 1 a b R100\0from\0${name}\0` : `:1 1 a b M\0${name}\0`)).join('')
        const counts = names.map((name, at) => (moves[at] ? `1\t2\t\0from\0${name}\0` : `1\t2\t${name}\0`)).join('')
        const files = fileChanges(raw + counts)
        expect(files.map((one) => one.path)).toEqual(names)
        expect(files.every(({ added, removed }) => added === 1 && removed === 2)).toBe(true)
      }),
    )
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void fileChanges(text)))
  })
})
