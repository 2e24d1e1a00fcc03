import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { hasScreen, openScreen, type Screen } from '../../../test/screen.fixture.ts'

const FIXTURE = fileURLToPath(new URL('./prompt.fixture.ts', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'mulligan-prompt-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Opens a folder with some files, and only the input on a screen. */
async function opened(name: string, size: { columns?: number; rows?: number } = {}, env: Record<string, string> = {}): Promise<Screen> {
  const cwd = join(root, name)
  mkdirSync(join(cwd, 'src', 'deep'), { recursive: true })
  for (const file of ['.gitignore', 'src/deep/server.ts', 'my file.txt', 'server.log']) writeFileSync(join(cwd, file), '*.log\n')
  const screen = await openScreen([process.execPath, FIXTURE], {
    columns: 50,
    rows: 14,
    cwd,
    env: { DATA: join(root, `${name}-data`), ...env },
    ...size,
  })
  await screen.ready('What should be')
  return screen
}

const place = async (screen: Screen): Promise<string> => {
  const { column, row, shown } = await screen.cursor()
  return shown ? `${column},${row}` : 'hidden'
}

describe.skipIf(!hasScreen)('the input on a terminal', () => {
  test('typing, wide characters, several lines, and the cursor among them', async () => {
    await using screen = await opened('typing')
    expect([await screen.text(), await place(screen)]).toEqual(['> What should be done?', '2,0'])
    await screen.type('日本 ok')
    await screen.until('日本 ok')
    expect(await place(screen)).toBe('9,0')
    await screen.keys('Left', 'Left', 'Left', 'Left', 'e\u0301')
    await screen.until('e\u0301')
    expect(await place(screen)).toBe('5,0')
    await screen.keys('C-e', 'M-Enter')
    await screen.type('two\x1b[13;2uthree')
    expect(await screen.until('three')).toBe('> 日e\u0301本 ok\n  two\n  three')
    expect(await place(screen)).toBe('7,2')
    // The content above grows. The cursor moves with the input, also on a narrowed screen.
    await screen.keys('C-l')
    expect(await screen.until('above')).toBe('above\n\n> 日e\u0301本 ok\n  two\n  three')
    expect(await place(screen)).toBe('7,4')
    await screen.resize(7, 14)
    await screen.until('  thre\n  e')
    expect(await place(screen)).toBe('3,7')
    await screen.resize(50, 14)
    await screen.until('> 日e\u0301本 ok\n  two\n  three')
    await screen.keys('Enter')
    expect(await screen.until('What')).toMatchInlineSnapshot(`
      "sent "日é本 ok\\ntwo\\nthree"
      above

      > What should be done?"
    `)
  })

  test('a paste shows what is in it, folded when it is long, and is sent whole', async () => {
    await using screen = await opened('paste')
    await screen.paste('one\ntwo \x1b[31m\tred\n')
    await screen.until('red')
    await screen.paste(Array.from({ length: 120 }, (_, at) => `line ${at}`).join('\n'))
    expect(await screen.until('pasted')).toMatchInlineSnapshot(`
      "> one
        two ␛[31m    red
        [pasted 120 lines]"
    `)
    await screen.keys('Enter')
    await screen.until('sent 987 characters')
    await screen.keys('Up')
    await screen.until('> [pasted 122 lines]')
    // Input taller than half of the screen is shown in part.
    await screen.keys('C-c')
    await screen.paste(Array.from({ length: 12 }, (_, at) => `row ${at}`).join('\n'))
    expect(await screen.until('row 11')).toMatchInlineSnapshot(`
      "sent 987 characters
      ↑ row 5
        row 6
        row 7
        row 8
        row 9
        row 10
        row 11"
    `)
    await screen.keys('Up', 'Up', 'Up', 'Up', 'Up', 'Up', 'Up', 'Up')
    await screen.until('↓')
    expect(await screen.until('> row 0')).toMatchInlineSnapshot(`
      "sent 987 characters
      > row 0
        row 1
        row 2
        row 3
        row 4
        row 5
      ↓ row 6"
    `)
  })

  test('completions: commands, their values, files; NO_COLOR', async () => {
    await using screen = await opened('menu')
    await screen.keys('/')
    expect(await screen.until('/mode ')).toMatchInlineSnapshot(`
      "> /
      › /help   what can be done
        /model  which model answers
        /mode   how much is asked"
    `)
    expect(await screen.text({ colors: true })).not.toContain('\x1b[')
    await screen.keys('Down', 'Tab')
    await screen.until('openai/gpt')
    await screen.keys('Down', 'Enter')
    await screen.until('sent "/model openai/gpt"')
    await screen.keys('see @')
    await screen.until('deep/')
    await screen.keys('ser')
    await screen.until((text) => text.includes('@ser') && !text.includes('my file'))
    expect(await screen.text()).toMatchInlineSnapshot(`
      "sent "/model openai/gpt"
      > see @ser
      › src/deep/server.ts"
    `)
    await screen.keys('Tab', '@m')
    await screen.until('› my file.txt')
    await screen.keys('Enter')
    await screen.until('@"my file.txt"')
    await screen.keys('Enter')
    await screen.until('sent "see')
    expect(await screen.until('What')).toMatchInlineSnapshot(`
      "sent "/model openai/gpt"
      sent "see @src/deep/server.ts @\\"my file.txt\\""
      > What should be done?"
    `)
    await screen.keys('/')
    await screen.until('/help')
    await screen.keys('Escape')
    await screen.until((text) => !text.includes('/help'))
  })

  test('history and search, also of the process before', async () => {
    {
      await using first = await opened('history')
      await first.keys('first of all', 'Enter')
      await first.until('sent "first of all"')
      await first.paste('!echo\n two')
      await first.until('$ !echo')
      await first.keys('Enter')
      await first.until('sent "!echo')
      await first.keys('C-c')
      await first.until('interrupt')
      await first.keys('C-d')
      expect(await first.ended()).toBe(0)
    }
    await using screen = await opened('history')
    await screen.keys('Up')
    await screen.until('$ !echo\n   two')
    await screen.keys('Up', 'Up')
    await screen.until('> first of all')
    await screen.keys('C-c', 'C-r', 'ech')
    expect(await screen.until('search: ech')).toMatchInlineSnapshot(`
      "$ !echo
         two
        search: ech  (Ctrl-R older, Esc keep)"
    `)
    await screen.keys('C-g')
    await screen.until('What should be')
  })

  test('with colours', async () => {
    await using coloured = await opened('coloured', {}, { NO_COLOR: '' })
    await coloured.keys('/')
    await coloured.until('/help')
    expect(await coloured.text({ colors: true })).toContain('\x1b[')
  })
})
