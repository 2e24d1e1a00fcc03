/** The reply to the question about the background: found in any pieces, and never typed into the input. */
import { dirname } from 'node:path'
import { scriptedModel } from '@mulligan/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { place, using } from '../../test/cli.fixture.ts'
import { hasTerminal, typeInTerminal } from '../../test/terminal.fixture.ts'
import { asksBackground, backgroundOf, createBackground } from './background.ts'

const XTERM = { TERM: 'xterm-256color' }

it.each<[string, Readonly<Record<string, string>>, boolean]>([
  ['auto', XTERM, true],
  ['auto', { TERM: 'xterm', COLORTERM: 'truecolor' }, true],
  ['auto', { ...XTERM, COLORFGBG: '15;0' }, false],
  ['auto', { ...XTERM, NO_COLOR: '1' }, false],
  ['auto', { ...XTERM, TMUX: '/tmp/tmux-0/default,1,0' }, false],
  ['auto', { ...XTERM, STY: '1.pts-0' }, false],
  ['auto', { TERM: 'screen-256color' }, false],
  ['auto', { TERM: 'dumb', COLORTERM: 'truecolor' }, false],
  ['auto', { TERM: 'xterm' }, false],
  ['dark', XTERM, false],
  ['none', XTERM, false],
])('theme %s with %j: asked is %s', (theme, env, isAsked) => expect(asksBackground(theme as 'auto', env)).toBe(isAsked))

it.each([
  ['rgb:ffff/ffff/ffff', 'light'],
  ['rgb:fd/f6/e3', 'light'],
  ['rgb:0000/2b2b/3636', 'dark'],
  ['rgba:0/0/0/f', 'dark'],
  ['rgb:ffff/ffff', undefined],
  ['#ffffff', undefined],
  ['', undefined],
])('%j is %s', (color, background) => expect(backgroundOf(color)).toBe(background))

describe('the input', () => {
  let time = 0
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** @param pieces what arrives; a number is milliseconds that pass */
  function given(pieces: readonly (string | number)[]) {
    const known: string[] = []
    let typed = ''
    const background = createBackground({
      write: () => undefined,
      onKnown: (what) => known.push(what),
      onReady: () => (typed += background.input(null) ?? ''),
      now: () => time,
    })
    background.ask()
    for (const piece of pieces) {
      if (typeof piece === 'string') typed += background.input(piece) ?? ''
      else {
        time += piece
        vi.advanceTimersByTime(piece)
      }
    }
    return { typed, known }
  }

  const REPLY = '\x1b]11;rgb:1e1e/1e1e/1e1e\x07'
  const one = (text: string): readonly string[] => [...text]

  it.each<[string, readonly (string | number)[], string, string[]]>([
    ['whole', [REPLY], '', ['dark']],
    ['ended by ST', [REPLY.replace('\x07', '\x1b\\')], '', ['dark']],
    ['between keys', [`a${REPLY}b`], 'ab', ['dark']],
    ['byte by byte', one(REPLY), '', ['dark']],
    ['byte by byte with ST', one(REPLY.replace('\x07', '\x1b\\')), '', ['dark']],
    ['twice', [REPLY, REPLY], '', ['dark']],
    ['too late', [1000, REPLY], '', []],
    ['too late, in two pieces', [1000, REPLY.slice(0, 9), REPLY.slice(9), 'x'], 'x', []],
    ['never ended', [REPLY.slice(0, 9), 1000, 'x'], 'x', []],
    ['of no color', ['\x1b]11;?\x07', 'x'], 'x', []],
  ])('a reply that comes %s is taken out', (_, pieces, typed, known) => expect(given(pieces)).toEqual({ typed, known }))

  it.each<[string, readonly (string | number)[], string]>([
    ['Escape alone', ['\x1b', 20], '\x1b'],
    ['Escape, and a key soon after it', ['\x1b', 5, 'x'], '\x1bx'],
    ['an arrow', ['\x1b[A'], '\x1b[A'],
    ['an arrow in pieces', ['\x1b', '[A'], '\x1b[A'],
    ['a reply to another question', ['\x1b]10;rgb:0/0/0\x07'], '\x1b]10;rgb:0/0/0\x07'],
    ['the text of a reply', [']11;rgb:0/0/0'], ']11;rgb:0/0/0'],
  ])('%s is not', (_, pieces, typed) => expect(given(pieces)).toEqual({ typed, known: [] }))

  it('an Escape is not held back once the time for a reply is over', () =>
    expect(given([1000, '\x1b'])).toEqual({ typed: '\x1b', known: [] }))
})

it.skipIf(!hasTerminal)('a real terminal is asked, and its reply changes the colors but not the input', async () => {
  using here = place()
  await using model = await scriptedModel([])
  const env = { NO_COLOR: '', TERM: 'xterm-256color', HOME: dirname(here.dir) }
  const { stdout } = await typeInTerminal(
    here,
    ['chat', ...using(model)],
    [
      ['\x1b]11;?\x07', '\x1b]11;rgb:ffff/ffff/ffff\x07/theme\r'],
      ['no colours', '\x04'],
    ],
    env,
  )
  // The mark of the input is cyan: first of the terminal, then of the light theme.
  expect(stdout).toContain('\x1b[36m> ')
  expect(stdout).toContain('\x1b[38;5;30m')
  expect(stdout).not.toContain('rgb:ffff')
})
