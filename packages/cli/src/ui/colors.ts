/** Terminal colors by theme, for text, code and diffs. */
import type { Env } from '@mulligan/host/light'
import picocolors from 'picocolors'

export const THEMES = ['auto', 'dark', 'light', 'terminal', 'none'] as const
/** What may be asked for. */
export type ThemeName = (typeof THEMES)[number]
export type Theme = Exclude<ThemeName, 'auto'>

/** Kinds of text in code. */
export const CODE_KINDS = ['keyword', 'string', 'number', 'comment', 'type', 'name', 'property'] as const
export type CodeKind = (typeof CODE_KINDS)[number]
export type Side = 'added' | 'removed'

type Paint = ReturnType<typeof picocolors.createColors>['red']

export interface Colors extends ReturnType<typeof picocolors.createColors> {
  readonly code: Readonly<Record<CodeKind, Paint>>
  /** The sign and the number of a changed line. */
  readonly side: Readonly<Record<Side, Paint>>
  /** The words that differ in a changed line. */
  readonly changed: Readonly<Record<Side, Paint>>
  /** Whether the text of a changed line has the color of its side instead of those of its code. */
  readonly isSideColored: boolean
}

const same: Paint = String
const each = <K extends string>(keys: readonly K[], paint: Paint) => Object.fromEntries(keys.map((key) => [key, paint])) as Record<K, Paint>
const SIDES = ['added', 'removed'] as const

/** Paints in a color of the 256; text inside may have colors of its own. */
const color =
  (open: string, close: string): Paint =>
  (text) =>
    `\x1b[${open}m${String(text).replaceAll(`\x1b[${close}m`, `\x1b[${open}m`)}\x1b[${close}m`
const text256 = (code: number): Paint => color(`38;5;${code}`, '39')
const back256 = (code: number): Paint => color(`48;5;${code}`, '49')

const basic = picocolors.createColors(true)

export const plain: Colors = {
  ...picocolors.createColors(false),
  ...{ code: each(CODE_KINDS, same), side: each(SIDES, same), changed: each(SIDES, same), isSideColored: false },
}

const COLORS: Readonly<Record<Theme, Colors>> = {
  none: plain,
  terminal: {
    ...basic,
    code: {
      ...{ keyword: basic.magenta, string: basic.green, number: basic.cyan, comment: basic.dim },
      ...{ type: basic.cyan, name: basic.bold, property: basic.cyan },
    },
    side: { added: basic.green, removed: basic.red },
    changed: { added: basic.inverse, removed: basic.inverse },
    isSideColored: true,
  },
  dark: {
    ...basic,
    ...{ cyan: text256(80), green: text256(114), red: text256(210), yellow: text256(221), magenta: text256(176), blue: text256(111) },
    code: {
      ...{ keyword: text256(176), string: text256(114), number: text256(215), comment: text256(245) },
      ...{ type: text256(80), name: text256(111), property: text256(152) },
    },
    side: { added: text256(114), removed: text256(210) },
    changed: { added: back256(22), removed: back256(52) },
    isSideColored: false,
  },
  light: {
    ...basic,
    ...{ cyan: text256(30), green: text256(28), red: text256(124), yellow: text256(130), magenta: text256(90), blue: text256(25) },
    code: {
      ...{ keyword: text256(90), string: text256(28), number: text256(130), comment: text256(243) },
      ...{ type: text256(30), name: text256(25), property: text256(24) },
    },
    side: { added: text256(28), removed: text256(124) },
    changed: { added: back256(194), removed: back256(224) },
    isSideColored: false,
  },
}

/** Whether to use color. `NO_COLOR` takes precedence, then `FORCE_COLOR` (0 means no), then whether it is a terminal. */
function wantsColor(env: Env, isTerminal: boolean): boolean {
  if (env['NO_COLOR']) return false
  const force = env['FORCE_COLOR']
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false'
  return isTerminal && env['TERM'] !== 'dumb'
}

export type Background = Extract<Theme, 'dark' | 'light'>

/** What the terminal has said of its background. */
let known: Background | undefined

/** Returns the background in `COLORFGBG`, which some terminals set. */
function backgroundIn(env: Env): Background | undefined {
  const color = /;(\d+)$/.exec(env['COLORFGBG'] ?? '')?.[1]
  if (color === undefined) return undefined
  return Number(color) < 7 || color === '8' ? 'dark' : 'light'
}

const has256 = (env: Env): boolean => /256|truecolor|24bit/.test(`${env['TERM']} ${env['COLORTERM']}`) && env['FORCE_COLOR'] !== '1'

/** Whether a theme is `auto` and would be another one if the background were known. */
export const isAutoOpen = (asked: ThemeName, env: Env): boolean =>
  asked === 'auto' && has256(env) && wantsColor(env, true) && backgroundIn(env) === undefined

/**
 * Returns the theme that `auto` stands for. Where the background is not known, or not yet, the terminal's own 16 colors fit it.
 */
export function themeFor(asked: ThemeName, env: Env): Theme {
  if (asked !== 'auto') return asked
  return (has256(env) ? (backgroundIn(env) ?? known) : undefined) ?? 'terminal'
}

/** The theme in force, which is one for the whole process: what was asked for last, and what it stands for. */
let asked: ThemeName = 'terminal'
let theme: Theme = 'terminal'

export const askedTheme = (): ThemeName => asked

export function setTheme(name: ThemeName, env: Env): void {
  asked = name
  theme = themeFor(name, env)
}

/** Notes what the terminal has said of its background. It counts if `auto` is asked for, however late it comes. */
export function setBackground(background: Background, env: Env): void {
  known = background
  theme = themeFor(asked, env)
}

/** Paints in the theme in force, so that a change of it applies at once. */
const themed = new Proxy(basic as Colors, { get: (_, key) => COLORS[theme][key as keyof Colors] })

export const colorsFor = (stream: { readonly isTTY?: boolean }): Colors => (wantsColor(process.env, stream.isTTY === true) ? themed : plain)

/** Returns the colors of a theme. */
export const colorsOf = (name: Theme): Colors => COLORS[name]
