import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { droppedImages, mentionOf, mentionsIn, openMention } from '../../mentions.ts'
import { type Completer, createCompleter } from './completion.ts'
import { candidate, type FileList, rank, workspaceFiles } from './files.ts'

describe('mentions', () => {
  test.each<[text: string, paths: string[]]>([
    ['see @src/a.ts and @b.md.', ['src/a.ts', 'b.md']],
    ['(@a.ts), "@b.ts" [@c.ts]: @d.ts? @e/!', ['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e/']],
    ['@"my file.txt" and @"a \\"b\\" \\\\c"', ['my file.txt', 'a "b" \\c']],
    ['@a.ts\n@a.ts', ['a.ts']],
    ['bob@example.com, a@b, @, @@x, @"", @.', []],
    ['@.env @../up @~/home @/etc/hosts', ['.env', '../up', '~/home', '/etc/hosts']],
    ['@日本/ファイル.md、', ['日本/ファイル.md、']],
    ['@"not closed', []],
  ])('%j', (text, paths) => expect(mentionsIn(text)).toEqual(paths))

  test('a path that is written as a mention is found, and while it is typed', () => {
    const path = fc
      .oneof(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.string({ unit: fc.constantFrom('a', '.', '/', ' ', '"', '\\', ')', '@', '`'), minLength: 1 }),
      )
      .filter((text) => !/[\p{Cc}\u2028\u2029]/u.test(text))
    fc.assert(
      fc.property(path, (text) => {
        expect(mentionsIn(`see ${mentionOf(text)} please`)).toEqual([text])
        expect(openMention(`see ${mentionOf(text).replace(/"$/, '')}`)).toEqual({ from: 4, path: text })
      }),
    )
  })
})

describe('pasted paths of images', () => {
  const files = new Set(['/w/a.png', '/w/sub/b.JPG', '/home/ann/Screen Shot.png', '/etc/passwd', '/x/ü.webp'])
  test.each([
    ['/w/a.png', '@a.png '],
    ['/w/a.png \n', '@a.png '],
    ['/home/ann/Screen\\ Shot.png', '@"/home/ann/Screen Shot.png" '],
    ["'/home/ann/Screen Shot.png'", '@"/home/ann/Screen Shot.png" '],
    ['"/home/ann/Screen Shot.png" /w/sub/b.JPG', '@"/home/ann/Screen Shot.png" @sub/b.JPG '],
    ['file:///home/ann/Screen%20Shot.png', '@"/home/ann/Screen Shot.png" '],
    ['file:///x/%C3%BC.webp', '@/x/ü.webp '],
    ['/w/gone.png', undefined],
    ['/etc/passwd', undefined],
    ['a.png', undefined],
    ['see /w/a.png', undefined],
    ['file://other/w/a.png', undefined],
    ['file:///w/%ff.png', undefined],
    ["it's", undefined],
    ['', undefined],
    [`/${'x'.repeat(5000)}.png`, undefined],
  ])('%j', (text, mentions) => expect(droppedImages(text, '/w', (path) => files.has(path))).toBe(mentions))
})

describe('ranking', () => {
  const paths = [
    'src/',
    'src/server.ts',
    'src/server/index.ts',
    'docs/server-side.md',
    'lib/observer.ts',
    'a/s/e/r/ver.txt',
    'README.md',
    'reader.ts',
  ]
  const ranked = (query: string): Promise<string[]> => rank(query, paths.map(candidate), { most: 9 })

  test('the name before the path, as a whole before letters', async () => {
    expect(await ranked('server')).toEqual([
      'src/server.ts',
      'docs/server-side.md',
      'lib/observer.ts',
      'src/server/index.ts',
      'a/s/e/r/ver.txt',
    ])
    expect((await ranked('SRV')).slice(0, 3)).toEqual(['src/server.ts', 'lib/observer.ts', 'docs/server-side.md'])
    expect(await ranked('read')).toEqual(['README.md', 'reader.ts'])
    expect(await ranked('src/')).toEqual(['src/', 'src/server.ts', 'src/server/index.ts'])
    expect(await ranked('src/in')).toEqual(['src/server/index.ts'])
    expect(await ranked('zzz')).toEqual([])
  })

  test('many files: other work has its turn, and the signal ends it', async () => {
    const many = Array.from({ length: 100_000 }, (_, at) => candidate(`packages/p${at % 100}/src/module-${at}/index-${at}.ts`))
    let turns = 0
    const count = (): void => {
      turns++
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    expect((await rank('index-99999', many, { most: 5 }))[0]).toBe('packages/p99/src/module-99999/index-99999.ts')
    clearImmediate(next)
    expect(turns).toBeGreaterThan(10)
    const controller = new AbortController()
    const ranking = rank('i', many, { most: 5, signal: controller.signal })
    setImmediate(() => controller.abort(new Error('the next key')))
    await expect(ranking).rejects.toThrow('the next key')
  })
})

describe('completions', () => {
  const root = mkdtempSync(join(tmpdir(), 'mulligan-complete-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  const put = (path: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), path === '.gitignore' ? '*.log\nnode_modules\n' : '')
  }
  for (const path of ['.gitignore', 'src/main.ts', 'my file.txt', 'my dir/in it.md', 'x.log', 'node_modules/x/main.js', '.git/config'])
    put(path)
  if (process.platform !== 'win32') put('evil\x1b[2J.ts')

  const signal = new AbortController().signal
  const complete = createCompleter({
    commands: [
      { name: 'help', aliases: ['models'], description: 'what can\x1b[2J be\ndone' },
      {
        name: 'model',
        description: 'which model',
        values: () => [{ value: 'ollama/qwen' }, { value: 'openai/gpt', description: 'far' }, { value: 'a\x1b[2Jb' }],
      },
      { name: 'mode', description: 'how much is asked', takesText: true },
    ],
    files: workspaceFiles(root),
  })
  test('show what an own command takes, which is not inserted', async () => {
    const own = createCompleter({
      commands: [{ name: 'fix', description: 'fix it', usage: `[ISSUE] \x1b[2J${'x'.repeat(50)}`, takesText: true }],
    })
    const [item] = (await own('/f', 2, signal))?.items ?? []
    expect([item?.insert, item?.label.slice(0, 14), item?.label.includes('\x1b'), item?.label.length]).toEqual([
      '/fix ',
      '/fix [ISSUE] x',
      false,
      35,
    ])
  })

  /** Returns the text after accepting each of the completions. */
  const taken = async (text: string, by: Completer = complete): Promise<string[] | undefined> => {
    const cursor = text.indexOf('|')
    const plain = text.replace('|', '')
    const found = await by(plain, cursor, signal)
    return found?.items.map(({ insert }) => plain.slice(0, found.from) + insert + plain.slice(found.to))
  }

  test.each<[text: string, taken: string[] | undefined]>([
    ['/|', ['/help ', '/model ', '/mode ']],
    ['/mod|', ['/model ', '/mode ']],
    ['/mode|', ['/mode ', '/model ']],
    ['/models|', ['/models ']],
    ['/modelsx|', []],
    ['/h|elp', ['/help ']],
    ['/zzz|', []],
    ['/model |', ['/model ollama/qwen ', '/model openai/gpt ']],
    ['/model gp|', ['/model openai/gpt ']],
    ['/help |', undefined],
    ['say /he|', undefined],
    ['plain|', undefined],
    ['see @main|', ['see @src/main.ts ']],
    ['see @mai|n.ts now', ['see @src/main.ts  now']],
    ['@./src/m|', ['@src/main.ts ']],
    ['@my f|', undefined],
    ['@"my f|"', ['@"my file.txt" ']],
    ['@myd|', ['@"my dir/', '@"my dir/in it.md" ']],
    ['@log|', []],
    ['@evil|', []],
    ['bob@ma|', undefined],
  ])('%j', async (text, all) => expect(await taken(text)).toEqual(all))

  test('what a terminal sees of them', async () => {
    const found = await complete('/', 1, signal)
    expect(found?.items.map(({ label, description, submits }) => [label, description, submits])).toEqual([
      ['/help', 'what can be done', true],
      ['/model', 'which model', false],
      ['/mode', 'how much is asked', false],
    ])
    expect((await complete('@main', 5, signal))?.items[0]?.label).toBe('src/main.ts')
  })

  test('a new mention sees new files; the same one does not list again', async () => {
    put('later.ts')
    expect(await taken('@later|')).toEqual([])
    await taken('@|')
    expect(await taken('@later|')).toEqual(['@later.ts '])
  })

  test('a folder that can not be listed has none; a search that is stopped throws', async () => {
    const files: FileList = workspaceFiles(join(root, 'gone'))
    expect(await taken('@a|', createCompleter({ commands: [], files }))).toEqual([])
    // Control: without the filter, such a name would be offered.
    expect(await rank('evil', [candidate('evil\x1b[2J.ts')], { most: 5 })).toHaveLength(1)
    await expect(complete('@a', 2, AbortSignal.abort(new Error('the next key')))).rejects.toThrow('the next key')
  })
})
