/**
 * Detects content that a page does not show to people, so that it is not shown to a model either: instructions to models are hidden there.
 * It covers the common techniques but cannot cover all (such as text in the background colour), so pages remain untrusted.
 */
import { itemsOf, withoutComments } from './css.ts'

/** Elements whose content is never shown as text, or only without scripts or when media cannot be played. */
export const UNSHOWN: readonly string[] =
  'script style title noscript template iframe object embed canvas svg math select textarea datalist video audio progress meter noframes noembed rp'.split(
    ' ',
  )

export function isHiddenBy(attribute: (name: string) => string | null | undefined): boolean {
  if (attribute('hidden') != null || attribute('popover') != null) return true
  if (attribute('aria-hidden')?.trim().toLowerCase() === 'true') return true
  const style = attribute('style')
  return style != null && isUnseen(style)
}

/** Longer values are cut. White space does not count. */
const MAX_VALUE_CHARS = 1000

/** True if a style attribute hides the element. */
export const isUnseen = (style: string): boolean => hides(itemsOf(withoutComments(style)).declarations)

/** True if any declaration hides the element, even if a later one overrides it, because that one may be invalid. */
export function hides(declarations: readonly string[]): boolean {
  const style = declarations.map(declaration).filter((one) => one !== undefined)
  const has = (name: RegExp, value: RegExp): boolean => style.some((one) => name.test(one.name) && value.test(one.value))
  const isPainted = has(/^(?:-webkit-)?background(?:-clip)?$/, /\btext\b/) || has(/^text-shadow$/, /^(?!none)/)
  const isCut = has(/^overflow/, /hidden|clip/)
  return style.some(({ name, value }) => {
    if (name === 'color' || name === '-webkit-text-fill-color') return !isPainted && isTransparent(value)
    if (/^(?:max-)?(?:height|width|block-size|inline-size)$/.test(name)) return isCut && isTiny(value, 1)
    return Object.hasOwn(HIDING, name) && HIDING[name]?.(value)
  })
}

function declaration(text: string): { readonly name: string; readonly value: string } | undefined {
  const colon = text.indexOf(':')
  if (colon === -1) return undefined
  const value = unescaped(
    text
      .slice(colon + 1)
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, MAX_VALUE_CHARS),
  ).toLowerCase()
  return { name: unescaped(text.slice(0, colon).trim().slice(0, 100)).toLowerCase(), value: value.replace(/ ?! ?important$/, '') }
}

/** Resolves CSS escapes: `d\69splay` becomes `display`. */
const unescaped = (css: string): string =>
  css.replace(/\\(?:([0-9a-f]{1,6})\s?|([\s\S]))/gi, (_, hex?: string, char?: string) => {
    const code = Number.parseInt(hex ?? '', 16)
    return hex === undefined ? (char ?? '') : code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  })

type Hides = (value: string) => boolean

const oneOf =
  (...values: readonly string[]): Hides =>
  (value) =>
    values.includes(value)
const far: Hides = (value) => isFar(value, 500)
/** Layouts compensate for large margins elsewhere. */
const farMargin: Hides = (value) => isFar(value, 1000)
const isFaint: Hides = (value) => {
  const { number, unit } = quantity(value) ?? { number: 1, unit: '' }
  return number < (unit === '%' ? 5 : 0.05)
}
const moves: Hides = (value) =>
  calls(value).some(({ name, args }) =>
    name.startsWith('translate') ? args.some(far) : name.startsWith('scale') && args.some((arg) => Math.abs(numberOf(arg)) < 0.05),
  )

const manyOf = (names: string, is: Hides): Record<string, Hides> => Object.fromEntries(names.split(' ').map((name) => [name, is]))
const some =
  (is: Hides): Hides =>
  (value) =>
    value.split(' ').some(is)

/** Values that hide an element, by property. */
const HIDING: Readonly<Record<string, Hides>> = {
  display: oneOf('none'),
  visibility: oneOf('hidden', 'collapse'),
  'content-visibility': oneOf('hidden'),
  'font-size': (value) => isTiny(value, 2),
  font: some((part) => isTiny(part.split('/')[0] ?? '', 2)),
  ...manyOf('opacity zoom', isFaint),
  ...manyOf('left right top bottom inset-inline-start inset-block-start text-indent', far),
  ...manyOf('inset translate', some(far)),
  ...manyOf('margin-left margin-right margin-top margin', some(farMargin)),
  ...manyOf('transform -webkit-transform', moves),
  scale: some((part) => numberOf(part) < 0.05),
  filter: (value) => calls(value).some(({ name, args }) => name === 'opacity' && isFaint(args[0] ?? '')),
  clip: (value) => calls(value).some(({ name, args }) => name === 'rect' && isNoRect(args.map(numberOf))),
  ...manyOf('clip-path -webkit-clip-path', (value) => calls(value).some(isNoShape)),
}

function quantity(value: string): { readonly number: number; readonly unit: string } | undefined {
  const plain = value.startsWith('calc(') && value.endsWith(')') ? value.slice(5, -1).trim() : value
  const [, number, unit = ''] = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)([a-z]*|%)$/.exec(plain) ?? []
  return number === undefined ? undefined : { number: Number(number), unit }
}

const numberOf = (value: string): number => quantity(value)?.number ?? Number.NaN

/** Approximate pixels per unit of length. */
const PIXELS: Readonly<Record<string, number>> = { '': 1, px: 1, pt: 1.3, pc: 16, em: 16, rem: 16, ex: 8, ch: 8, cm: 38, mm: 3.8, in: 96 }

function isTiny(value: string, pixels: number): boolean {
  const { number, unit } = quantity(value) ?? { number: Number.NaN, unit: '' }
  if (number === 0) return true
  // Bare numbers are not lengths; in `font` they are weights.
  return unit !== '' && number > 0 && number * (PIXELS[unit] ?? (unit === '%' ? 0.16 : 16)) < pixels + (pixels === 1 ? 0.01 : 0)
}

/** True if moved off-screen: this far to the left or top, or much further in the other direction than any page is wide. */
function isFar(value: string, pixels: number): boolean {
  const { number, unit } = quantity(value) ?? { number: 0, unit: '' }
  if (/^[sdl]?v(?:w|h|i|b|min|max)$/.test(unit)) return number <= -100 || number >= 200
  if (unit === '%') return number <= -200 || number >= 1000
  const distance = number * (PIXELS[unit] ?? 1)
  return distance <= -pixels || distance >= 5000
}

function isTransparent(value: string): boolean {
  if (value === 'transparent' || /^#(?:[0-9a-f]{3}0|[0-9a-f]{6}0\d)$/.test(value)) return true
  return calls(value).some(({ name, args }) => /^(?:rgb|hsl)a?$/.test(name) && args.length === 4 && isFaint(args[3] ?? ''))
}

type Call = ReturnType<typeof calls>[number]

/** Parses the function calls in a value. */
const calls = (value: string) =>
  value.split(')').flatMap((piece) => {
    const open = piece.lastIndexOf('(')
    if (open === -1) return []
    const args = piece.slice(open + 1).split(/[\s,/]+/)
    return [{ name: piece.slice(piece.lastIndexOf(' ', open) + 1, open), args: args.filter((arg) => arg !== '') }]
  })

const isNoRect = ([top = Number.NaN, right = Number.NaN, bottom = Number.NaN, left = Number.NaN]: readonly number[]): boolean =>
  right - left <= 1 || bottom - top <= 1

function isNoShape({ name, args }: Call): boolean {
  const first = quantity(args[0] ?? '')
  if (name === 'circle' || name === 'ellipse') return first?.number === 0
  if (name === 'polygon') return args.length > 0 && new Set(args.map(numberOf)).size === 1
  if (name !== 'inset') return false
  const cuts = args.map(quantity).filter((one) => one?.unit === '%' || one?.number === 0)
  const [top = 0, right = top, bottom = top, left = right] = cuts.map((one) => one?.number ?? 0)
  return top + bottom >= 100 || right + left >= 100
}
