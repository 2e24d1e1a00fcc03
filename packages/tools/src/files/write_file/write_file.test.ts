import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixture, refused, run, temporary } from '../../workspace.fixture.ts'
import { findPlaceholder } from './placeholder.ts'

describe('write_file', () => {
  test('creates a file and its folders', async () => {
    const { root, tool } = fixture()
    const { data, content, display } = await run(tool('write_file'), { path: 'a/b/c.txt', content: 'one\ntwo\n' })
    expect(readFileSync(join(root, 'a/b/c.txt'), 'utf8')).toBe('one\ntwo\n')
    expect(data).toMatchObject({ path: 'a/b/c.txt', created: true, bytes: 8 })
    expect(content).toBe('Created a/b/c.txt (2 lines, 8 B).')
    expect(display).toContain('```diff')
    expect(readdirSync(join(root, 'a/b'))).toEqual(['c.txt'])
  })

  test('an unread file is read first', async () => {
    const { root, tool } = fixture({ 'a.txt': 'old\n' })
    for (const overwrite of [false, true]) {
      const error = await refused(tool('write_file'), { path: 'a.txt', content: 'new\n', overwrite })
      expect(error).toMatchObject({
        status: 'retry',
        errorType: 'conflict',
        details: { call: { tool: 'read_file', input: { path: 'a.txt' } } },
      })
    }
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('old\n')
  })

  test('a file that was read is replaced when that is asked for', async () => {
    const { root, tool } = fixture({ 'a.txt': 'old\n' })
    await run(tool('read_file'), { path: 'a.txt' })
    const error = await refused(tool('write_file'), { path: 'a.txt', content: 'new\n' })
    expect(error.details).toMatchObject({ parameter: 'overwrite', suggestion: true })
    const { data, content } = await run(tool('write_file'), { path: 'a.txt', content: 'new\n', overwrite: true })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new\n')
    expect(content).toBe('Replaced a.txt (+1 -1 lines, 4 B).')
    expect(data['diff']).toContain('-old\n+new')
  })

  test('what the model wrote itself it may replace', async () => {
    const { tool } = fixture()
    await run(tool('write_file'), { path: 'a.txt', content: '1' })
    await run(tool('write_file'), { path: 'a.txt', content: '2', overwrite: true })
  })

  test('a file that was not read is read first', async () => {
    const { tool } = fixture({ 'a.txt': 'old\n' })
    for (const overwrite of [true, false])
      expect((await refused(tool('write_file'), { path: 'a.txt', content: 'new\n', overwrite })).details).toMatchObject({
        parameter: 'path',
        value: 'a.txt',
        constraint: 'a new file, or one that was read as it is now, for overwrite=true; to change a part use edit_file',
        call: { tool: 'read_file', input: { path: 'a.txt' } },
      })
  })

  test('a file changed since it was read is kept', async () => {
    const { root, tool } = fixture({ 'a.txt': 'old\n' })
    await run(tool('read_file'), { path: 'a.txt' })
    writeFileSync(join(root, 'a.txt'), 'from someone else\n')
    expect((await refused(tool('write_file'), { path: 'a.txt', content: 'new\n', overwrite: true })).message).toContain('changed since')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('from someone else\n')
  })

  test('the same content is no change', async () => {
    const { root, tool } = fixture({ 'a.txt': 'same\n' })
    const before = statSync(join(root, 'a.txt'), { bigint: true }).mtimeNs
    expect((await run(tool('write_file'), { path: 'a.txt', content: 'same\n' })).content).toContain('unchanged')
    expect(statSync(join(root, 'a.txt'), { bigint: true }).mtimeNs).toBe(before)
  })

  test('keeps mode and byte order mark', async () => {
    const { root, tool } = fixture({ 'run.sh': '\ufeffold\n' })
    chmodSync(join(root, 'run.sh'), 0o755)
    await run(tool('read_file'), { path: 'run.sh' })
    await run(tool('write_file'), { path: 'run.sh', content: 'new\n', overwrite: true })
    expect(statSync(join(root, 'run.sh')).mode & 0o777).toBe(0o755)
    expect(readFileSync(join(root, 'run.sh'), 'utf8')).toBe('\ufeffnew\n')
  })

  test('writes through a link inside, never through one that leads out', async () => {
    const { root, tool } = fixture({ 'real.txt': 'x' })
    const outside = temporary()
    symlinkSync('real.txt', join(root, 'link.txt'))
    symlinkSync(join(outside, 'new.txt'), join(root, 'out.txt'))
    symlinkSync(outside, join(root, 'out'))
    await run(tool('read_file'), { path: 'link.txt' })
    await run(tool('write_file'), { path: 'link.txt', content: 'y', overwrite: true })
    expect(readFileSync(join(root, 'real.txt'), 'utf8')).toBe('y')
    for (const path of ['out.txt', 'out/new.txt', '../new.txt'])
      expect(await refused(tool('write_file'), { path, content: 'x' })).toMatchObject({ errorType: 'permission', status: 'failed' })
    expect(readdirSync(outside)).toEqual([])
  })

  test('a directory, a file for a folder, a binary file', async () => {
    const { root, tool } = fixture({ 'src/a.ts': '', 'data.bin': 'a\0b' })
    expect(await refused(tool('write_file'), { path: 'src', content: '' })).toMatchObject({ errorType: 'conflict' })
    expect(await refused(tool('write_file'), { path: 'new/', content: '' })).toMatchObject({ errorType: 'conflict' })
    expect(await refused(tool('write_file'), { path: 'src/a.ts/b.ts', content: 'x' })).toMatchObject({
      status: 'retry',
      errorType: 'conflict',
    })
    expect(await refused(tool('write_file'), { path: 'data.bin', content: 'x', overwrite: true })).toMatchObject({ status: 'failed' })
    expect(readdirSync(root).sort()).toEqual(['data.bin', 'src'])
  })

  test('a placeholder is refused', async () => {
    const { root, tool } = fixture({ 'a.ts': 'const a = 1\n// the rest of the code\n' })
    const error = await refused(tool('write_file'), { path: 'b.ts', content: 'const b = 1\n\n// ... existing code ...\n' })
    expect(error.details).toMatchObject({ parameter: 'content', value: '// ... existing code ...' })
    expect(existsSync(join(root, 'b.ts'))).toBe(false)
    await run(tool('read_file'), { path: 'a.ts' })
    await refused(tool('write_file'), { path: 'a.ts', content: 'const a = 2\n// rest of the file\n', overwrite: true })
    await run(tool('write_file'), { path: 'a.ts', content: 'const a = 2\n// the rest of the code\n', overwrite: true })
  })
})

describe('folders on the way', () => {
  test('are taken back when the write fails', async () => {
    const { root, workspace } = fixture({ 'old/kept.txt': '' })
    const file = await workspace.resolve('old/new/deep/a.txt', { for: 'write' })
    await expect(
      workspace.changes.apply('s/t/1/0', [{ kind: 'write', file, bytes: Buffer.from('x'), before: 'the hash of something else' }]),
    ).rejects.toThrow()
    expect(readdirSync(root, { recursive: true }).sort()).toEqual(['old', 'old/kept.txt'])
  })

  test.runIf(process.platform === 'linux')('are never made outside', async () => {
    const outside = temporary()
    const { root, workspace } = fixture({ 'dir/a.txt': '' })
    const file = await workspace.resolve('dir/new/deep/b.txt', { for: 'write' })
    rmSync(join(root, 'dir'), { recursive: true })
    symlinkSync(outside, join(root, 'dir'))
    await expect(
      workspace.changes.apply('s/t/1/0', [{ kind: 'write', file, bytes: Buffer.from('x'), before: undefined }]),
    ).rejects.toThrow()
    expect(readdirSync(outside)).toEqual([])
  })
})

describe('placeholders', () => {
  test.each([
    '// ... rest of the code unchanged ...',
    '// rest of code unchanged',
    '# ... existing code ...',
    '    // … remaining methods',
    '/* ... existing imports ... */',
    '<!-- rest of the content remains the same -->',
    '{/* ... rest of component */}',
    '# (code omitted for brevity)'.replace(/[()]/g, ''),
    '-- ... unchanged',
    '// Rest of the implementation stays the same',
    '// previous code here',
  ])('%s', (line) => expect(findPlaceholder(`a\n${line}\n`)).toMatchObject({ line: 2 }))

  test.each([
    '// the rest of the arguments are passed on',
    '# existing users keep their password',
    '// ...',
    'const rest = code // unchanged',
    '// remaining code points are counted',
    '* existing files are replaced',
    'print("... rest of the code unchanged")',
    '// Previously the code cached this',
  ])('not: %s', (line) => expect(findPlaceholder(`a\n${line}\n`)).toBeUndefined())

  test('more is suspicious when it replaces something', () => {
    expect(findPlaceholder('// ...\n', 'old')).toBeDefined()
    expect(findPlaceholder('// ...\n', 'old\n  // ...\n')).toBeUndefined()
  })
})
