import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { context, fixture, refused, run } from '../../../workspace.fixture.ts'
import { bomb, LOCKED, makePdf } from './pdf.fixture.ts'
import { type ExtractOptions, extractPdf } from './pdf.ts'

const SOURCES = join(import.meta.dirname, '../../..')

const page = (number: number): string[] => [`Heading ${number}`, `text (of page ${number})`]
const pages = (count: number): string[][] => Array.from({ length: count }, (_, at) => page(at + 1))

const extract = (pdf: Buffer, options: Partial<ExtractOptions> = {}) =>
  extractPdf(new Uint8Array(pdf), { signal: new AbortController().signal, onPage: () => true, ...options })

describe('a PDF', () => {
  test('is read as text, its pages marked', async () => {
    const { tool } = fixture({ 'a.pdf': makePdf({ pages: [page(1), [], page(3)] }) })
    const { content, data, hasMore } = await run(tool('read_file'), { path: 'a.pdf' })
    expect(content).toBe(
      [
        '--- page 1 of 3 ---',
        'Heading 1',
        'text (of page 1)',
        '--- page 2 of 3 ---',
        '(no text)',
        '--- page 3 of 3 ---',
        'Heading 3',
        'text (of page 3)',
      ]
        .map((line, at) => `     ${at + 1}\t${line}`)
        .join('\n'),
    )
    expect(data).toMatchObject({ mediaType: 'application/pdf', totalLines: 8 })
    expect(hasMore).toBe(false)
  })

  test('is paged by lines, and the pages make the whole', async () => {
    const { tool } = fixture({ 'a.pdf': makePdf({ pages: pages(7) }) })
    const whole = (await run(tool('read_file'), { path: 'a.pdf' })).data['lines']
    const seen: unknown[] = []
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const { data } = await run(tool('read_file'), { path: 'a.pdf', offset, limit: 10 })
      seen.push(...(data['lines'] as unknown[]))
      offset = data['nextOffset'] as number | undefined
    }
    expect(seen).toEqual(whole)
    expect((await run(tool('read_file'), { path: 'a.pdf', offset: -1 })).content).toBe('    21\ttext (of page 7)')
    expect(await refused(tool('read_file'), { path: 'a.pdf', offset: 50 })).toMatchObject({ details: { suggestion: 20 } })
  })

  test('is read no further than the page asked for', async () => {
    let came = 0
    const onPage = () => ++came < 3
    expect(await extract(makePdf({ pages: pages(50) }), { onPage })).toEqual({ end: 'stopped', pages: 50 })
    expect(came).toBe(3)
  })

  test('goes whole to a model that takes it, and as text when a part is asked for', async () => {
    const media = { limits: { media: ['application/pdf'] } }
    const { tool } = fixture({ 'a.pdf': makePdf({ pages: pages(2) }) }, media)
    expect((await run(tool('read_file'), { path: 'a.pdf' })).content).toContainEqual(
      expect.objectContaining({ type: 'media', mediaType: 'application/pdf' }),
    )
    expect((await run(tool('read_file'), { path: 'a.pdf', offset: 3 })).content).toContain('page 2 of 2')
  })

  test.each([
    ['is encrypted', makePdf({ pages: [page(1)], trailer: LOCKED }), /only with a password.*qpdf/],
    ['is broken', makePdf({ pages: [page(1)] }).subarray(0, 300), /no page of it could be read/],
    ['is broken beyond its first bytes', Buffer.from('%PDF-1.7\nnothing else'), /no page of it could be read/],
    ['has pictures only', makePdf({ pages: [[], []] }), /its 2 pages are pictures, probably scanned.*ocrmypdf/],
    ['has no page', makePdf({ pages: [] }), /no page of it could be read/],
  ])('that %s is said to be so', async (_, bytes, says) => {
    const { tool } = fixture({ 'a.pdf': bytes })
    const error = await refused(tool('read_file'), { path: 'a.pdf' })
    expect(error).toMatchObject({ name: 'ToolFailure', status: 'failed', errorType: 'unsupported', details: { parameter: 'path' } })
    expect(error.message).toMatch(says)
  })

  test('stops with the turn', async () => {
    const { tool } = fixture({ 'a.pdf': makePdf({ pages: pages(1), packed: bomb(200) }) })
    const stop = new AbortController()
    const running = run(tool('read_file'), { path: 'a.pdf' }, context(stop.signal))
    setTimeout(() => stop.abort(new Error('stop')), 50)
    await expect(running).rejects.toThrow('stop')
    expect(process.getActiveResourcesInfo().filter((one) => one === 'Worker')).toEqual([])
  })
})

describe('a hostile PDF is bounded', () => {
  const blanks = makePdf({ pages: [['x']], packed: bomb(200) })

  test('in memory', async () => {
    expect(await extract(blanks, { memory: 64 * 1024 * 1024 })).toMatchObject({ end: 'too_much_memory' })
  })

  test('control: with room and time it is read', async () => {
    expect(await extract(makePdf({ pages: [['x']], packed: bomb(4) }), {})).toMatchObject({ end: 'all' })
  })

  test('in time', async () => {
    expect(await extract(blanks, { seconds: 0 })).toMatchObject({ end: 'too_long' })
  })

  test('in pages and in text', async () => {
    const many = makePdf({ pages: pages(30) })
    expect(await extract(many, { maxPages: 10 })).toEqual({ end: 'cut', pages: 30 })
    expect(await extract(many, { maxChars: 10 })).toEqual({ end: 'cut', pages: 30 })
  })

  test('a page tree in a circle, and a count that lies', async () => {
    const text = makePdf({ pages: [page(1)] }).toString('latin1')
    for (const lie of [text.replace('/Count 1', '/Count 9'), text.replace(/\/Kids \[[^\]]*\]/, '/Kids [2 0 R]')])
      expect(['all', 'broken']).toContain((await extract(Buffer.from(lie, 'latin1'), { seconds: 5 })).end)
  })

  test('the parser is loaded by the thread alone, never at the start', () => {
    const sources = globSync('**/*.ts', { cwd: SOURCES }).filter((file) => !/\.(?:test|fixture)\.ts$/.test(file))
    expect(sources.filter((file) => /from 'unpdf|import\('unpdf/.test(readFileSync(join(SOURCES, file), 'utf8')))).toEqual([
      'files/read_file/pdf/worker.ts',
    ])
    expect(sources.filter((file) => /from '.*\/worker.ts'/.test(readFileSync(join(SOURCES, file), 'utf8')))).toEqual([])
  })
})
