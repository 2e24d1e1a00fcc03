import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixture, refused, run, temporary } from '../../workspace.fixture.ts'

const FILES = { 'a.txt': 'a\n', 'src/b.txt': 'b\n', 'src/deep/c.txt': 'c\n' }

describe('move_file', () => {
  test('moves a file, and makes the folders', async () => {
    const { root, tool } = fixture(FILES)
    const { data, content } = await run(tool('move_file'), { path: 'a.txt', to: 'new/deep/z.txt' })
    expect(data).toEqual({ from: 'a.txt', path: 'new/deep/z.txt' })
    expect(content).toBe('Moved a.txt to new/deep/z.txt.')
    expect(readFileSync(join(root, 'new/deep/z.txt'), 'utf8')).toBe('a\n')
    expect(existsSync(join(root, 'a.txt'))).toBe(false)
  })

  test('moves a folder with all that is in it', async () => {
    const { root, tool } = fixture(FILES)
    await run(tool('move_file'), { path: 'src', to: 'lib' })
    expect(readdirSync(join(root, 'lib'), { recursive: true }).sort()).toEqual(['b.txt', 'deep', 'deep/c.txt'])
    expect(existsSync(join(root, 'src'))).toBe(false)
  })

  test('a path that ends in / is the folder to put it in', async () => {
    const { root, tool } = fixture(FILES)
    for (const to of ['src/', 'other/']) await run(tool('move_file'), { path: to === 'src/' ? 'a.txt' : 'src/a.txt', to })
    expect(readFileSync(join(root, 'other/a.txt'), 'utf8')).toBe('a\n')
  })

  test('what stands there is kept; a folder is named with the path inside', async () => {
    const { root, tool } = fixture(FILES)
    expect(await refused(tool('move_file'), { path: 'a.txt', to: 'src/b.txt' })).toMatchObject({
      status: 'retry',
      errorType: 'conflict',
      details: { parameter: 'to', value: 'src/b.txt' },
    })
    const error = await refused(tool('move_file'), { path: 'a.txt', to: 'src' })
    expect(error).toMatchObject({ status: 'retry', details: { parameter: 'to', suggestion: 'src/a.txt' } })
    await run(tool('move_file'), { path: 'a.txt', to: error.details.suggestion })
    expect(readFileSync(join(root, 'src/b.txt'), 'utf8')).toBe('b\n')
  })

  test.each([
    ['itself', 'src', 'src'],
    ['into itself', 'src', 'src/deep/more'],
  ])('%s is refused', async (_, path, to) => {
    const { tool } = fixture(FILES)
    expect(await refused(tool('move_file'), { path, to })).toMatchObject({ status: 'retry', details: { parameter: 'to' } })
  })

  test.each([
    ['out of the workspace', 'a.txt', '../a.txt', 'to'],
    ['from outside', '../a.txt', 'b.txt', 'path'],
    ['into .git', 'a.txt', '.git/hooks/post-commit', 'to'],
    ['into .mulligan', 'a.txt', '.mulligan/tools/a.ts', 'to'],
    ['.git itself', '.git', 'git', 'path'],
    ['a folder that has .git in it', 'nested', 'other', 'path'],
    ['the workspace', '.', 'other', 'path'],
  ])('%s is refused', async (_, path, to, parameter) => {
    const { root, tool } = fixture({ ...FILES, '.git/config': '', 'nested/.git/config': '', 'nested/a.txt': '' })
    const before = readdirSync(root, { recursive: true }).sort()
    expect(await refused(tool('move_file'), { path, to })).toMatchObject({ errorType: 'permission', details: { parameter } })
    expect(readdirSync(root, { recursive: true }).sort()).toEqual(before)
  })

  test('a folder that holds a protected path is no way around its protection', async () => {
    const { tool } = fixture({ 'config/secret/key': 'x', 'config/a': '' }, { protect: ['config/secret'] })
    expect(await refused(tool('move_file'), { path: 'config', to: 'mine' })).toMatchObject({ errorType: 'permission' })
    await run(tool('move_file'), { path: 'config/a', to: 'a' })
  })

  test('a link is moved as a link, also one that leads out', async () => {
    const outside = temporary()
    const { root, tool } = fixture(FILES)
    symlinkSync(outside, join(root, 'out'))
    await run(tool('move_file'), { path: 'out', to: 'src/out' })
    expect(lstatSync(join(root, 'src/out')).isSymbolicLink()).toBe(true)
    expect(await refused(tool('move_file'), { path: 'a.txt', to: 'src/out/a.txt' })).toMatchObject({ errorType: 'permission' })
    expect(readdirSync(outside)).toEqual([])
  })

  test('what was read is known under its new path', async () => {
    const { tool } = fixture(FILES)
    await run(tool('read_file'), { path: 'src/b.txt' })
    await run(tool('move_file'), { path: 'src', to: 'lib' })
    await run(tool('write_file'), { path: 'lib/b.txt', content: 'new\n', overwrite: true })
  })

  test('rename with a new name alone', () => {
    const alias = fixture()
      .tool('move_file')
      .aliases.find(({ name }) => name === 'rename')
    expect(alias?.adapt?.({ path: 'src/a.ts', new_name: 'b.ts' })).toEqual({ path: 'src/a.ts', to: 'src/b.ts' })
    expect(alias?.adapt?.({ path: 'a.ts', to: 'b.ts' })).toEqual({ path: 'a.ts', to: 'b.ts' })
  })
})
