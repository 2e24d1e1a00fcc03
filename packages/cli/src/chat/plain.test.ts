/** Tests the chat as plain lines, and its themes, in a real terminal. */
import { dirname } from 'node:path'
import { call, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { BIN, type CliFixture, NO_SERVERS, place, using } from '../../test/cli.fixture.ts'
import { hasScreen, openScreen } from '../../test/screen.fixture.ts'
import { askedTheme, colorsFor, colorsOf, setBackground, setTheme, themeFor } from '../ui/colors.ts'

/** @param term replaces the terminal's name, which tmux sets */
const start = (here: CliFixture, args: readonly string[], env: Readonly<Record<string, string>> = {}, term = 'xterm-256color') =>
  openScreen(['env', `TERM=${term}`, process.execPath, BIN, 'chat', ...args], {
    ...{ cwd: here.dir, rows: 60 },
    env: { HOME: dirname(here.dir), MULLIGAN_DATA_DIR: here.data, ...NO_SERVERS, ...env },
  })

const ANSWER = '# Done\n\n- [x] one\n- two\n\n> quoted\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n---\n\n\x1b[2Jend.'

// In CI, these tests fail if tmux is missing.
describe.skipIf(!hasScreen).concurrent('in a terminal', () => {
  it('plain lines say everything once, and nothing is drawn', async ({ expect }) => {
    using here = place({ 'notes.md': 'Budget: 40,000\n' })
    await using model = await scriptedModel([
      call('read_file', { path: 'notes.md' }),
      call('write_file', { path: 'a.txt', content: 'one\n' }),
      say(ANSWER),
      say('Two lines.'),
      say('Begun', { fault: { hang: 'mid-text' } }),
    ])
    await using screen = await start(here, using(model), { NO_COLOR: '' }, 'dumb')
    await screen.until(/\/help lists the commands\n>$/)
    await screen.type('write it')
    await screen.keys('Enter')
    await screen.until(/\[N?n?\]o and why:$/)
    await screen.type('y')
    await screen.keys('Enter')
    await screen.until(/2?3 requests[\s\S]*\n>$/)
    await screen.type('one \\')
    await screen.keys('Enter')
    await screen.type('two')
    await screen.keys('Enter')
    await screen.until(/Two lines\.[\s\S]*\n>$/)
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('one \\ntwo')
    await screen.type('/resume')
    await screen.keys('Enter')
    await screen.until(/write it\n\/resume ID continues one\.\n>$/)
    await screen.type('hang')
    await screen.keys('Enter')
    await screen.until(/hang\nWorking\.[^>]*$/)
    await screen.type('and more')
    await screen.keys('Enter')
    await screen.until('steering: and more')
    await screen.keys('C-c')
    await screen.until(/Cancelled\.[\s\S]*\n>$/)
    expect(await screen.text()).toMatch(/Not sent: "and more"\.$/m)
    await screen.keys('C-d')
    expect(await screen.ended()).toBe(0)
    const all = await screen.text({ colors: true })
    expect(all).not.toMatch(/\x1b|[─│┌•☑✓]/)
    expect(all.match(/write it$/gm)).toHaveLength(2)
    expect(all.replace(/\d{8}-\d{4}-\w{6}/g, 'ID').replace(/[\d,]+ tokens/g, 'N tokens')).toMatch(
      /> write it\nWorking\. Ctrl-C stops\.\n(?:\n?running read_file notes\.md\n)?\n?ok read_file notes\.md {2}1 line[\s\S]*\n\? write_file \(write\) a\.txt\n {4}a\.txt \(new\)\n {4}1 \+ one\n[\s\S]*why: y\n[\s\S]*ok write_file a\.txt[\s\S]*\nDone\n\n\[x\] one\n {0,2}- {0,3}two\n\n> quoted\n\na: 1\nb: 2\n\n---\n\nend\.\n/,
    )
    expect(all).toMatch(/To continue: mulligan chat --session/)
  })

  it('/theme changes the colors at once, and for the next time', async ({ expect }) => {
    using here = place()
    await using model = await scriptedModel([say('```ts\nconst a = 1\n```'), say('```ts\nlet b = 2\n```'), say('```ts\nlet c = 3\n```')])
    const colored = { NO_COLOR: '' }
    await using screen = await start(here, using(model), colored)
    const colors = async (): Promise<string> => screen.text({ colors: true })
    await screen.ready('What should be done?')
    await screen.type('one')
    await screen.keys('Enter')
    await screen.until(/const a = 1[\s\S]*1 request/)
    expect(await colors()).toMatch(/\x1b\[35mconst/)
    await screen.type('/theme light')
    await screen.keys('Enter')
    await screen.until(/Written to .*config\.json[\s\S]*> +light/)
    await screen.type('two')
    await screen.keys('Enter')
    await screen.until(/let b = 2[\s\S]*1 request/)
    expect(await colors()).toMatch(/\x1b\[(?:\d+;)*38;5;90mlet/)
    await screen.type('/theme')
    await screen.keys('Enter')
    await screen.until(/^> \/theme$[\s\S]*^> +light/m)
    await screen.type('/theme pink')
    await screen.keys('Enter')
    await screen.until('The themes are auto, dark, light, terminal, none.')
    expect(here.read('../.config/mulligan/config.json')).toContain('"theme": "light"')
    await using again = await start(here, using(model), colored)
    await again.ready('What should be done?')
    await again.type('three')
    await again.keys('Enter')
    await again.until(/let c = 3[\s\S]*1 request/)
    expect(await again.text({ colors: true })).toMatch(/\x1b\[(?:\d+;)*38;5;90mlet/)
  })
})

it('the theme is chosen by what the terminal tells', () => {
  const has256 = { TERM: 'xterm-256color' }
  expect(themeFor('auto', has256)).toBe('terminal')
  expect(themeFor('auto', { ...has256, COLORFGBG: '15;0' })).toBe('dark')
  expect(themeFor('auto', { ...has256, COLORFGBG: '0;default;15' })).toBe('light')
  expect(themeFor('auto', { TERM: 'linux', COLORFGBG: '15;0' })).toBe('terminal')
  expect(themeFor('auto', { TERM: 'linux', COLORTERM: 'truecolor', COLORFGBG: '12;8' })).toBe('dark')
  expect(themeFor('light', {})).toBe('light')
})

it('what a person chooses counts more than what the terminal says of itself later', () => {
  const has256 = { TERM: 'xterm-256color' }
  const { FORCE_COLOR, NO_COLOR } = process.env
  try {
    delete process.env['NO_COLOR']
    process.env['FORCE_COLOR'] = '1'
    const colors = colorsFor({ isTTY: true })
    setTheme('auto', has256)
    setTheme('light', has256)
    setBackground('dark', has256)
    expect([askedTheme(), colors.code.keyword('x')]).toEqual(['light', colorsOf('light').code.keyword('x')])
    setTheme('auto', has256)
    expect(colors.code.keyword('x')).toBe(colorsOf('dark').code.keyword('x'))
    setBackground('light', has256)
    expect([askedTheme(), colors.code.keyword('x')]).toEqual(['auto', colorsOf('light').code.keyword('x')])
  } finally {
    setTheme('terminal', {})
    Object.assign(process.env, { NO_COLOR, FORCE_COLOR })
    for (const [name, value] of Object.entries({ NO_COLOR, FORCE_COLOR })) if (value === undefined) delete process.env[name]
  }
})

it('colors follow the theme in force, and NO_COLOR counts more', () => {
  const tty = { isTTY: true }
  const { NO_COLOR, FORCE_COLOR } = process.env
  try {
    delete process.env['NO_COLOR']
    process.env['FORCE_COLOR'] = '1'
    const colors = colorsFor(tty)
    setTheme('dark', {})
    expect(colors.code.keyword('x')).toBe(colorsOf('dark').code.keyword('x'))
    setTheme('none', {})
    expect([colors.code.keyword('x'), colors.bold('x'), colors.isColorSupported]).toEqual(['x', 'x', false])
    process.env['NO_COLOR'] = '1'
    setTheme('dark', {})
    expect(colorsFor(tty).bold('x')).toBe('x')
  } finally {
    setTheme('terminal', {})
    Object.assign(process.env, { NO_COLOR, FORCE_COLOR })
    for (const [name, value] of Object.entries({ NO_COLOR, FORCE_COLOR })) if (value === undefined) delete process.env[name]
  }
})
