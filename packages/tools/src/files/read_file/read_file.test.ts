import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { render } from '@mulligan/core'
import { createExecutor } from '@mulligan/core/executor'
import { describe, expect, test } from 'vitest'
import { context, fixture, refused, run } from '../../workspace.fixture.ts'
import { lineWindow } from './page.ts'

const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('')

describe('read_file', () => {
  test('numbers lines', async () => {
    const { tool } = fixture({ 'a.txt': 'one\r\ntwo\r\n\r\nfour' })
    const { content, data } = await run(tool('read_file'), { path: 'a.txt' })
    expect(content).toBe('     1\tone\n     2\ttwo\n     3\t\n     4\tfour')
    expect(data).toMatchObject({ path: 'a.txt', totalLines: 4, bytes: 16, encoding: 'utf-8' })
  })

  test('pages by lines, and the pages make the whole', async () => {
    const { tool } = fixture({ 'a.txt': lines(25) })
    const seen: string[] = []
    let offset: number | undefined = 0
    while (offset !== undefined) {
      const { data, hasMore, content } = await run(tool('read_file'), { path: 'a.txt', offset, limit: 10 })
      seen.push(...(data['lines'] as { text: string }[]).map((line) => line.text))
      offset = data['nextOffset'] as number | undefined
      expect(hasMore).toBe(offset !== undefined)
      if (offset !== undefined) expect(content).toMatch(new RegExp(`of 25 lines\\) more: offset=${offset}$`))
    }
    expect(`${seen.join('\n')}\n`).toBe(lines(25))
  })

  test('pages by bytes', async () => {
    const { tool } = fixture({ 'a.txt': lines(1000) }, { limits: { pageBytes: 100 } })
    const { data } = await run(tool('read_file'), { path: 'a.txt' })
    expect(data).toMatchObject({ nextOffset: 13, totalLines: 1000 })
    expect((await run(tool('read_file'), { path: 'a.txt', offset: 13 })).data['lines']).toContainEqual({
      number: 14,
      text: 'line 14',
      cut: 0,
    })
  })

  test('cuts long lines and says by how much', async () => {
    const { tool } = fixture({ 'a.txt': `${'x'.repeat(5000)}\nshort\n` })
    const { content } = await run(tool('read_file'), { path: 'a.txt' })
    expect(content).toContain('… [3000 more characters]\n     2\tshort')
  })

  test.each([
    ['UTF-8 with BOM', Buffer.from('\ufeffgrüß\n'), 'utf-8-bom'],
    ['UTF-16 LE', Buffer.from('\ufeffgrüß\n', 'utf16le'), 'utf-16le'],
    ['UTF-16 BE', Buffer.from('\ufeffgrüß\n', 'utf16le').swap16(), 'utf-16be'],
  ])('decodes %s', async (_, bytes, encoding) => {
    const { tool } = fixture({ 'a.txt': bytes })
    const { content, data } = await run(tool('read_file'), { path: 'a.txt' })
    expect(content).toBe('     1\tgrüß')
    expect(data['encoding']).toBe(encoding)
  })

  test('a character cut by a chunk is whole', async () => {
    const text = `${'ü'.repeat(300_000)}\nend\n`
    const { tool } = fixture({ 'a.txt': `x${text}` })
    const result = await run(tool('read_file'), { path: 'a.txt' })
    expect(result.notes).toBeUndefined()
    expect(result.content).toContain('     2\tend')
  })

  test('a few bytes that are not UTF-8 are shown and noted', async () => {
    const { tool } = fixture({ 'a.log': Buffer.concat([Buffer.from(lines(20)), Buffer.from([0xff]), Buffer.from('\n')]) })
    expect((await run(tool('read_file'), { path: 'a.log' })).notes?.[0]).toContain('not UTF-8')
  })

  test.each([
    ['a PNG image', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'models? that takes images|image viewer'],
    ['a PDF document', Buffer.from('%PDF-1.7\n1 0 obj\n'), 'qpdf'],
    ['gzip data', Buffer.from('1f8b080000', 'hex'), 'A person can read it with gunzip'],
    ['a SQLite database', Buffer.from('SQLite format 3\0rest'), 'sqlite3'],
    ['a binary file', Buffer.from([1, 0, 2, 3, 0, 9, 9, 9]), 'A person can read it with "xxd"'],
    ['UTF-16 without a byte order mark', Buffer.from('hello there, this is text', 'utf16le'), 'iconv'],
    ['an 8-bit or East Asian encoding', Buffer.from('93fa967b8cea82c582b70a93fa967b8cea', 'hex'), 'iconv'],
  ])('says what it is: %s', async (what, bytes, reader) => {
    const { tool } = fixture({ file: bytes })
    const error = await refused(tool('read_file'), { path: 'file' })
    expect(error).toMatchObject({ name: 'ToolFailure', errorType: 'unsupported', status: 'failed' })
    expect(error.message).toContain(what)
    expect(error.message).toMatch(new RegExp(reader))
    expect(error.message).not.toContain('shell')
  })

  test.each([
    ['PNG', '89504e470d0a1a0a0000000d494844520000028000000168', '640 × 360'],
    ['GIF', '474946383961800268010000', '640 × 360'],
    ['JPEG', 'ffd8ffe000104a46494600010100000100010000ffc4000401aaffc0000b0801680280010111', '640 × 360'],
    ['JPEG with fill bytes', 'ffd8ffffffc2000b0801680280010111', '640 × 360'],
    ['WebP (lossy)', '5249464600000000574542505650382000000000000000009d012a80026801', undefined],
    ['WebP (lossy, whole)', '52494646000000005745425056503820000000000000009d012a80026801', '640 × 360'],
    ['WebP (lossless)', '5249464600000000574542505650384c000000002f7fc2590000', '640 × 360'],
    ['WebP (extended)', '5249464600000000574542505650385800000000000000007f0200670100', '640 × 360'],
    ['PNG cut off', '89504e470d0a1a0a0000', undefined],
  ])('an image that the model does not take is told by its size: %s', async (_, hex, pixels) => {
    const { tool } = fixture({ file: Buffer.from(hex, 'hex') })
    const { message } = await refused(tool('read_file'), { path: 'file' })
    if (pixels) expect(message).toContain(`${pixels} pixels`)
    else expect(message).not.toContain('640 × 360')
    expect(message).toMatch(/image viewer, or a model that takes images/)
  })

  test('an image goes to a model that takes it', async () => {
    const { tool } = fixture({ 'a.png': Buffer.from('89504e470d0a1a0a00', 'hex') }, { limits: { media: ['image/png'] } })
    expect((await run(tool('read_file'), { path: 'a.png' })).content).toContainEqual({
      type: 'media',
      mediaType: 'image/png',
      data: 'iVBORw0KGgoA',
    })
  })

  test('a file that may not be read is a matter of permission', async () => {
    const { root } = fixture({ 'a.txt': 'secret' })
    chmodSync(join(root, 'a.txt'), 0o000)
    chmodSync(root, 0o755)
    const script = `
      const { withFile } = await import(${JSON.stringify(new URL('../../workspace/contain.ts', import.meta.url).href)})
      process.setuid?.(65534)
      await withFile(${JSON.stringify(root)}, ${JSON.stringify(join(root, 'a.txt'))}, () => undefined).then(() => console.log('read'), (error) => console.log(error.code))`
    if (process.getuid?.() === 0) {
      const src = (file: string) => JSON.stringify(new URL(`../../../../core/src/${file}`, import.meta.url).href)
      const hook = `import { registerHooks } from 'node:module'
        const own = { '@mulligan/core': ${src('index.ts')}, '@mulligan/core/executor': ${src('executor.ts')} }
        registerHooks({ resolve: (name, context, next) => next(own[name] ?? name, context) })`
      const out = execFileSync(process.execPath, [
        '--import',
        `data:text/javascript,${encodeURIComponent(hook)}`,
        '--input-type=module',
        '--eval',
        script,
      ])
      expect(out.toString().trim()).toBe('EACCES')
    }
    const { fsError } = await import('../../workspace/errors.ts')
    expect(fsError(Object.assign(new Error(`EACCES: ${root}`), { code: 'EACCES' }), 'a.txt', 'read')).toMatchObject({
      name: 'ToolFailure',
      errorType: 'permission',
      message: 'No permission to read "a.txt".',
    })
  })

  test('a directory is listed in the hint', async () => {
    const { tool } = fixture({ 'src/a.ts': '', 'src/lib/b.ts': '' })
    const error = await refused(tool('read_file'), { path: 'src' })
    expect(error.message).toContain('In it: a.ts, lib/')
    expect(error.details).toMatchObject({ call: { tool: 'list_dir', input: { path: 'src' } }, candidates: ['src/a.ts'] })
  })

  test.each([
    [-1, ['line 25'], undefined],
    [-3, ['line 23', 'line 24', 'line 25'], undefined],
    [-100, Array.from({ length: 25 }, (_, at) => `line ${at + 1}`), undefined],
  ])('an offset of %i counts from the end', async (offset, expected) => {
    for (const readThroughBytes of [1_000_000, 1]) {
      const { tool } = fixture({ 'a.txt': lines(25) }, { limits: { readThroughBytes } })
      const { data } = await run(tool('read_file'), { path: 'a.txt', offset })
      expect((data['lines'] as { text: string }[]).map((line) => line.text)).toEqual(expected)
      expect(data['offset']).toBe(25 - expected.length)
    }
  })

  test('from the end, a last line without a newline counts, and UTF-16 too', async () => {
    const { tool } = fixture({ 'a.txt': 'one\ntwo', 'b.txt': Buffer.from('\ufeffone\r\ntwo', 'utf16le'), 'empty.txt': '' })
    for (const path of ['a.txt', 'b.txt']) expect((await run(tool('read_file'), { path, offset: -1 })).content).toBe('     2\ttwo')
    expect(await run(tool('read_file'), { path: 'empty.txt', offset: -1 })).toMatchObject({ count: 0 })
    const small = fixture({ 'b.txt': Buffer.from('\ufeffone\r\ntwo', 'utf16le') }, { limits: { readThroughBytes: 1 } })
    expect(await refused(small.tool('read_file'), { path: 'b.txt', offset: -1 })).toMatchObject({ details: { parameter: 'offset' } })
  })

  test('a large file is paged as a small one is', async () => {
    const text = `\ufeff${lines(30)}ü\r\n\n${'x'.repeat(3000)}\nlast`
    const pages = async (readThroughBytes: number) => {
      const { tool } = fixture({ 'a.txt': text }, { limits: { readThroughBytes } })
      const seen: unknown[] = []
      for (let offset: number | undefined = 0; offset !== undefined; ) {
        const { data } = await run(tool('read_file'), { path: 'a.txt', offset, limit: 7 })
        seen.push(data['lines'])
        offset = data['nextOffset'] as number | undefined
      }
      return seen
    }
    expect(await pages(1)).toEqual(await pages(1_000_000))
  })

  test('a spilled result is read in pages', async () => {
    const outputs = fixture({ 'c1.txt': lines(5000) })
    const { tool } = fixture({}, { outputs: { dir: outputs.root } })
    const { content, data } = await run(tool('read_file'), { path: '@output/c1.txt', offset: 4000, limit: 2 })
    expect(content).toContain('4001\tline 4001')
    expect(content).toContain('(@output/c1.txt: lines 4001-4002 of 5,000 lines) more: offset=4002')
    expect(data['path']).toBe('@output/c1.txt')
  })

  test('the nearest to a missing file, also among what git ignores', async () => {
    const { tool } = fixture({ '.gitignore': 'dist\n', 'dist/bundle.js': '', 'dist/deep/a.js': '', 'src/main.ts': '' })
    for (const [path, suggestion] of [
      ['dist/bundel.js', 'dist/bundle.js'],
      ['src/mian.ts', 'src/main.ts'],
      ['lib/main.ts', 'src/main.ts'],
    ])
      expect(await refused(tool('read_file'), { path })).toMatchObject({ errorType: 'not_found', details: { suggestion } })
  })

  test.each([
    ['x', '.'],
    ['src/lib/zzz.py', 'src/lib'],
    ['src/nowhere/qqq/zzz.py', 'src'],
  ])('nothing near %s: the listing of the deepest folder there is', async (path, folder) => {
    const { tool } = fixture({ 'src/lib/main.ts': '', 'README.md': '' })
    const { details, errorType } = await refused(tool('read_file'), { path })
    expect([errorType, details.call, details.suggestion]).toEqual(['not_found', { tool: 'list_dir', input: { path: folder } }, undefined])
    await run(tool('list_dir'), details.call?.input)
  })

  test('past the end: the last line there is', async () => {
    const { tool } = fixture({ 'a.txt': lines(3) })
    expect(await refused(tool('read_file'), { path: 'a.txt', offset: 3 })).toMatchObject({
      details: { parameter: 'offset', suggestion: 2 },
    })
    expect((await run(tool('read_file'), { path: 'a.txt', offset: 2 })).content).toContain('line 3')
  })

  test('stops when aborted', async () => {
    const { tool } = fixture({ 'a.txt': 'x' })
    await expect(run(tool('read_file'), { path: 'a.txt' }, context(AbortSignal.abort(new Error('stop'))))).rejects.toThrow('stop')
  })

  test('a spilled result is read by its virtual path', async () => {
    const outputs = fixture({ 'c1.txt': 'long result\n' })
    const { tool } = fixture({}, { outputs: { dir: outputs.root } })
    expect((await run(tool('read_file'), { path: '@output/c1.txt' })).content).toBe('     1\tlong result')
  })

  test.each([
    ['view', { path: 'a', view_range: [3, 5] }, { path: 'a', offset: 2, limit: 3 }],
    ['view', { path: 'a', view_range: [3, -1] }, { path: 'a', offset: 2 }],
    ['read', { filePath: 'a', offset: 5 }, { filePath: 'a', offset: 5 }],
    ['cat', { file: 'a', start_line: 1, end_line: 2 }, { file: 'a', offset: 0, limit: 2 }],
    ['cat', { file: 'a', start_line: '4', end_line: '5' }, { file: 'a', offset: 3, limit: 2 }],
    ['cat', { file: 'a', end_line: 3 }, { file: 'a', offset: 0, limit: 3 }],
  ])('%s %j is adapted', (name, input, adapted) => {
    const { tool } = fixture()
    expect(
      tool('read_file')
        .aliases.find((alias) => alias.name === name)
        ?.adapt?.(input),
    ).toEqual(adapted)
  })
})

describe('what the model reads', () => {
  const { tool } = fixture({ 'a.txt': lines(9) })
  const call = async (name: string, input: unknown): Promise<string> => {
    const executor = createExecutor({ tools: [tool('read_file')] })
    const prepared = await executor.prepare({ id: 't/1/0', step: 1, ordinal: 0, name, input })
    if (prepared.kind !== 'ready') throw new Error(prepared.kind)
    return render((await executor.execute(prepared.call)).result)
  }

  test('says how to go on by offset, as there are no pages', async () => {
    const text = await call('read_file', { path: 'a.txt', limit: 4 })
    expect(text).toContain('more: offset=4')
    expect(text).not.toContain('page=')
    expect(await run(tool('read_file'), { path: 'a.txt', limit: 4 })).not.toHaveProperty('page')
  })

  test.each(['read_file', 'view'])('a range of lines, by the name %s', async (name) => {
    for (const range of [{ start_line: 3, end_line: 4 }, { view_range: [3, 4] }]) {
      const text = await call(name, { path: 'a.txt', ...range })
      expect(text).toMatch(/^ +3\tline 3\n +4\tline 4\n/)
      expect(text).not.toContain('no such parameter')
    }
  })
})

describe('a large file', () => {
  const MEGABYTES = 50
  const { root, tool, workspace } = fixture()
  const path = join(root, 'big.log')
  const line = `${'0123456789'.repeat(10)}\n`
  const block = line.repeat(10_000)
  const blocks = Math.ceil((MEGABYTES * 1024 * 1024) / block.length)
  const file = openSync(path, 'w')
  for (let at = 0; at < blocks; at++) writeSync(file, block)
  writeSync(file, 'last')
  closeSync(file)

  test('gives its first page without being read through', async () => {
    const { data } = await run(tool('read_file'), { path: 'big.log', limit: 10 })
    expect(data).toMatchObject({ nextOffset: 10 })
    expect(data).not.toHaveProperty('totalLines')
    expect(workspace.seen.get(path)).toEqual({})
  })

  test('gives its last page in memory that does not grow with it', async () => {
    const before = process.memoryUsage().arrayBuffers
    const { data } = await run(tool('read_file'), { path: 'big.log', offset: blocks * 10_000 })
    expect(data).toMatchObject({ totalLines: blocks * 10_000 + 1, lines: [{ text: 'last' }] })
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 * 1024)
  })

  test('past its end the number of lines is known', async () => {
    expect(await refused(tool('read_file'), { path: 'big.log', offset: 900_000_000 })).toMatchObject({
      details: { suggestion: blocks * 10_000 },
    })
  })

  test('one line without end is held only as far as it is shown', () => {
    const window = lineWindow({ offset: 0, limit: 10, bytes: 50_000, chars: 100 })
    for (let at = 0; at < 1000; at++) window.push('x'.repeat(1000))
    window.end()
    expect(window.lines).toEqual([{ number: 1, text: 'x'.repeat(100), cut: 999_900 }])
  })

  test('the fixture is what it says', () => expect(readFileSync(path).length).toBeGreaterThan(MEGABYTES * 1024 * 1024))
})
