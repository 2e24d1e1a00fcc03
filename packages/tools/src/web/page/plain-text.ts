/** Converts HTML to text in one pass without building a tree: for pages too complex for a tree, and for short HTML fragments. */

import { isHiddenBy, UNSHOWN } from './hidden.ts'
import { isForScreens, isMeant, rulesOf } from './hiding-rules.ts'

/** Elements whose content is not part of the page's text. */
const SKIPPED: ReadonlySet<string> = new Set([...UNSHOWN, 'head', 'dialog'])
/** Elements whose content is raw text, so tags in it do not count. */
const RAW: ReadonlySet<string> = new Set(['script', 'style', 'textarea', 'title', 'iframe', 'noframes', 'noembed'])
const VOID: ReadonlySet<string> = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))
const BLOCK: ReadonlySet<string> = new Set(
  'address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
)

/** The start of a comment or a tag; `<` before anything else is text. */
const START = /<(?:(!--)|[!?]|(\/?)([a-z][a-z0-9-]*)|\/)/gi
const MAX_NAME = 30

/**
 * Returns the text of an HTML fragment, with block elements on separate lines and hidden elements left out. Takes linear time and constant
 * stack.
 */
export function plainText(html: string): string {
  const out: string[] = []
  const rules = rulesOf(sheetsIn(html))
  /** The element being skipped, and how many elements of that name are open inside it. */
  let skipped = ''
  let open = 0
  let preformatted = false
  let lineStart = true
  const put = (piece: string): void => {
    if (piece === '') return
    out.push(piece)
    lineStart = /\s$/.test(piece)
  }
  const text = (from: number, to: number): void => {
    if (skipped !== '' || to <= from) return
    const piece = html.slice(from, to)
    const flowing = preformatted ? piece : piece.replace(/[\s\u00a0]+/g, ' ')
    put(lineStart && !preformatted ? flowing.trimStart() : flowing)
  }
  const next = (at: number): RegExpExecArray | null => {
    START.lastIndex = at
    return START.exec(html)
  }
  /** Start of the text before the next tag. */
  let from = 0
  for (let found = next(0); found; found = next(from)) {
    const [, comment, end, letters = ''] = found
    text(from, found.index)
    if (comment) {
      const close = html.indexOf('-->', found.index + 4)
      from = close === -1 ? html.length : close + 3
      continue
    }
    const isEnd = end === '/'
    const name = letters.slice(0, MAX_NAME).toLowerCase()
    const tag = readTag(html, found.index + 1)
    from = tag.end
    if (skipped !== '') {
      if (name !== skipped) continue
      open += isEnd ? -1 : 1
      if (open === 0) skipped = ''
      continue
    }
    if (BLOCK.has(name) || name === 'br') put('\n')
    if (name === 'pre') preformatted = !isEnd
    if (name === 'td' || name === 'th') put(isEnd ? ' ' : '| ')
    if (name === 'li' && !isEnd) put('- ')
    if (isEnd || VOID.has(name) || name === '') continue
    if (RAW.has(name)) from = afterRaw(html, name, tag.end)
    else if (SKIPPED.has(name) || isHidden(name, tag)) {
      skipped = name
      open = 1
    }
  }
  text(from, html.length)
  return tidy(decodeEntities(out.join('')))

  function isHidden(name: string, { attributes }: ReturnType<typeof readTag>): boolean {
    // A page may be hidden until its scripts have run.
    if (name === 'html' || name === 'body') return false
    const attribute = (key: string): string | undefined => {
      const value = attributes.get(key)
      return value === undefined ? undefined : decodeEntities(value)
    }
    return isHiddenBy(attribute) || isMeant(rules, name, attribute('id') ?? '', attribute('class') ?? '')
  }
}

function rawEnd(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  end.lastIndex = from
  return end.exec(html)?.index ?? html.length
}

function afterRaw(html: string, name: string, from: number): number {
  const end = rawEnd(html, name, from)
  return end === html.length ? end : readTag(html, end + 1).end
}

/** Returns the style sheets embedded in a page that apply to screens. */
function sheetsIn(html: string): string[] {
  const sheets: string[] = []
  const start = /<style(?=[\s/>])/gi
  for (let found = start.exec(html); found; found = start.exec(html)) {
    const { end, attributes } = readTag(html, found.index + 1)
    // Continue after its end; otherwise a page of unclosed ones would be read once for each.
    start.lastIndex = rawEnd(html, 'style', end)
    if (isForScreens(attributes.get('media') ?? '')) sheets.push(html.slice(end, start.lastIndex))
  }
  return sheets
}

const tidy = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(/(?<![^\S\n])[^\S\n]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

/** Deeper nesting is an attack or a mistake; building a tree would take forever. */
const MAX_DEPTH = 1000
/** Elements whose end tag may be omitted, so many open ones do not mean deep nesting. */
const LOOSE: ReadonlySet<string> = new Set('p li dt dd td th tr tbody thead tfoot option optgroup colgroup'.split(' '))

/** Estimates in one pass whether elements are nested too deeply to build a tree. */
export function tooDeep(html: string): boolean {
  let depth = 0
  for (const [, end, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9-]{0,30})/gi)) {
    const lower = name.toLowerCase()
    if (VOID.has(lower) || LOOSE.has(lower)) continue
    depth = end ? Math.max(0, depth - 1) : depth + 1
    if (depth > MAX_DEPTH) return true
  }
  return false
}

/** Returns a page's title without building a tree. */
export function titleIn(html: string): string {
  const from = html.search(/<title[\s>]/i)
  return from === -1 ? '' : oneLine(decodeEntities(html.slice(html.indexOf('>', from) + 1, from + 2000).split('<')[0] ?? ''))
}

export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** White space and slashes, followed by the end of the tag or an attribute. A leading `=` is part of the attribute's name. */
const ATTRIBUTE = /[\s/]*(?:(>)|([^\s>/][^\s=>/]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(["'])|([^\s>]*)))?)/y

/**
 * Reads one tag as browsers do: attribute names in lower case, and the first of any duplicates.
 * @param from position inside the tag's name
 * @returns the attributes, and the position after the closing `>`
 */
function readTag(html: string, from: number): { readonly end: number; readonly attributes: ReadonlyMap<string, string> } {
  const attributes = new Map<string, string>()
  const name = /[\s/>]|$/g
  name.lastIndex = from
  ATTRIBUTE.lastIndex = name.exec(html)?.index ?? html.length
  for (let found = ATTRIBUTE.exec(html); found; found = ATTRIBUTE.exec(html)) {
    const [, end, key = '', double, single, open, bare = ''] = found
    if (end) return { end: ATTRIBUTE.lastIndex, attributes }
    // Unterminated quote: end at the first `>` instead.
    if (open) break
    const lower = key.toLowerCase()
    if (!attributes.has(lower)) attributes.set(lower, double ?? single ?? bare)
  }
  const plain = html.indexOf('>', from)
  return { end: plain === -1 ? html.length : plain + 1, attributes: new Map() }
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', shy: '' },
  ...{ copy: '©', reg: '®', trade: '™', hellip: '…', mdash: '—', ndash: '–', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”' },
  ...{ laquo: '«', raquo: '»', bull: '•', middot: '·', times: '×', deg: '°', euro: '€', pound: '£', sect: '§', rarr: '→', larr: '←' },
}

/** Decodes common character references; all others are left unchanged. */
const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));?/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? NAMED[name.toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '\ufffd'
  })
