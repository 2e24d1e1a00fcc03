/**
 * Plays the scenes in a real terminal, in three sizes. Nothing may be drawn twice, be wider than the terminal, or act on it; each screen is
 * compared with the one that is kept.
 */
import { dirname, join } from 'node:path'
import { scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { isAll } from '../../../../../scripts/test-scope.fixture.ts'
import { BIN, NO_SERVERS, place, using } from '../../../test/cli.fixture.ts'
import { hasScreen, openScreens, type Screen, type Screens } from '../../../test/screen.fixture.ts'
import { HOSTILE, sceneModel } from './model.fixture.ts'
import { FILES, type Scene, SIZES, STORIES, type Story } from './scenes.fixture.ts'

const kept = (size: string, name: string): string => join(import.meta.dirname, '../screens', size, `${name}.txt`)

/** Replaces what differs between runs. */
const stable = (screen: string): string =>
  `${screen
    .replace(/\d{8}-\d{4}-[a-z0-9]{6}/g, 'SESSION')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'YYYY-MM-DD HH:MM')
    .replace(/about [\d,]+ to [\d,]+ of/g, 'about N to N of')
    .replace(/[\d,]+ tokens/g, 'N tokens')
    .replace(/[\d,]+ of N tokens/g, 'N of N tokens')
    .replace(/(scripted\s+\d+\s+\d+\s+)[\d,]+(\s+)[\d,]+/g, '$1N$2N')
    .replace(/context \d+ %/g, 'context N %')
    .replace(/Mulligan \d\S+/, 'Mulligan VERSION')
    .replace(/in \d+\.\d s\b/g, 'in N s')
    .replace(/(?: · | {2})\d+(?:\.\d+)? m?s\b/g, '')
    .replace(/ (?:\d+ min )?\d+ s\b/g, '')
    // A reply may be there before it is drawn that one is waited for.
    .replace(/^Working\. Ctrl-C stops\.\n/gm, '')
    .trimEnd()}\n`

/** The escape sequences that the chat itself writes: colors, moves, erasing, modes, the keyboard protocol and questions about it. */
const OWN = /\x1b\[(?:[\d;]*m|\d*[ABCDEFGJK]|\d*;?\d*H|\?(?:25|1004|1049|2004|2026)[hl]|[<>=?]?[\d;]*u|\?u|c)/g
const STATUS = /^ {2}(?:scripted|other) on /gm

interface Seen {
  readonly all: string
  /** The same with the lines that the terminal has wrapped joined. */
  readonly joined: string
  readonly written: string
  readonly columns: number
}

/** Returns what is wrong with a screen. */
function faultsOf({ all, joined, written, columns }: Seen, { once = [], is }: Pick<Scene, 'once' | 'is'>): readonly string[] {
  const count = (what: string | RegExp): number => (typeof what === 'string' ? all.split(what).length - 1 : [...all.matchAll(what)].length)
  const expected = is === undefined || is === 'start' ? [...once, STATUS] : once
  const escapes = written.replace(OWN, '').match(/[\x1b\x80-\x9f\u202e][\s\S]{0,12}/g) ?? []
  return [
    ...expected.filter((what) => count(what) !== 1).map((what) => `${what} is there ${count(what)} times`),
    ...(is === 'plain' || is === 'ended' || joined.split('\n').length === all.split('\n').length
      ? []
      : [`a line is wider than ${columns}`]),
    ...escapes.map((text) => `written: ${JSON.stringify(text)}`),
    ...(is === 'plain' && written.includes('\x1b') ? ['an escape sequence'] : []),
  ]
}

const seenOn = async (screen: Screen, columns: number, from: number): Promise<Seen> => ({
  ...{ all: await screen.all(), joined: await screen.all({ joined: true }), written: screen.written().slice(from), columns },
})

const upToGoodbye = (text: string): string => text.slice(0, text.indexOf('\n', text.indexOf('To continue')) + 1 || undefined)

/** Clears the screen and what has scrolled away, once nothing is running. */
async function clear(screen: Screen): Promise<void> {
  await screen.keys('C-l')
  await screen.until((shown) => shown.trimStart().startsWith('>') && shown.trim().split('\n').length <= 3)
  await screen.forget()
}

async function play(story: Story, screens: Screens, [columns, rows]: readonly [number, number]): Promise<void> {
  const files = { ...FILES, 'hostile.txt': `${HOSTILE}\n`, ...story.files }
  using here = place(files)
  if (story.config) here.write('../.config/mulligan/config.json', JSON.stringify(story.config(here)))
  await using model = await scriptedModel(sceneModel(), { toolsRequired: false })
  await using screen = await screens.open([process.execPath, BIN, 'chat', ...(story.args ?? []), ...using(model)], {
    ...{ columns, rows, cwd: here.dir },
    env: { HOME: dirname(here.dir), MULLIGAN_DATA_DIR: here.data, ...NO_SERVERS, ...story.env },
  })
  for (const [at, scene] of story.scenes.entries()) {
    const isFresh = scene.is !== 'start' && scene.is !== 'plain'
    if (isFresh && at === 0) await screen.ready('What should be done?')
    if (isFresh && scene.is !== 'ended') await clear(screen)
    const from = screen.written().length
    await scene.act(screen, here)
    const seen = await seenOn(screen, columns, from)
    const shown = scene.is === 'panel' ? await screen.text() : scene.is === 'ended' ? upToGoodbye(seen.joined) : seen.all
    await expect.soft(stable(shown), scene.name).toMatchFileSnapshot(kept(`${columns}x${rows}`, scene.name))
    expect.soft(faultsOf(seen, scene), `${scene.name}:\n${shown}`).toEqual([])
    await scene.after?.(screen)
  }
  expect(model.violations).toEqual([])
}

// In CI, these tests fail if tmux is missing.
describe.skipIf(!hasScreen)('the scenes', () => {
  for (const size of isAll ? SIZES : SIZES.slice(0, 1))
    it(`in ${size.join(' × ')}`, async () => {
      await using screens = await openScreens()
      for (const story of STORIES) if (isAll || story.isSample) await play(story, screens, size)
    })

  it('what is drawn twice, too wide, or acts on the terminal is found', async () => {
    await using screens = await openScreens()
    const text = `  scripted on x\n  scripted on x\n${'w'.repeat(60)}\n${HOSTILE}`
    await using screen = await screens.open(['/bin/sh', '-c', `while :; do printf '%s\\n' "$0"; sleep 0.1; done`, text], {
      columns: 50,
      rows: 20,
    })
    await screen.until(() => screen.written().includes('#0'))
    const faults = faultsOf({ ...(await seenOn(screen, 50, 0)), all: '  scripted on x\n  scripted on x\n', joined: '' }, {}).join('\n')
    expect(faults).toMatch(/scripted.* is there 2 times\na line is wider than 50\n(?:written: .*\n)*.*\]0;PWNED/)
  })
})
