/** HTML to text in one pass, without a tree: for pages that no tree should be made of, and for short pieces of HTML. */
import { decodeEntities } from './entities.ts'
import { isHiddenBy, UNSHOWN } from './hidden.ts'
import { isForScreens, isMeant, rulesOf } from './sheet.ts'
import { readTag, type Tag } from './tag.ts'

/** Their content is not text of the page. */
const SKIPPED: ReadonlySet<string> = new Set([...UNSHOWN, 'head', 'dialog'])
/** Within these, tags are no tags. */
const RAW: ReadonlySet<string> = new Set(['script', 'style', 'textarea', 'title', 'iframe', 'noframes', 'noembed'])
const VOID: ReadonlySet<string> = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))
const BLOCK: ReadonlySet<string> = new Set(
  'address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
)

/** The text of a piece of HTML, blocks on lines of their own, hidden elements left out. Linear in time, flat in stack. */
export function plainText(html: string): string {
  const out: string[] = []
  const rules = rulesOf(sheetsIn(html))
  /** The element that is being skipped, and how many of its name are open within it. */
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
  /** Where to look for the next tag, and where the text before it began. */
  let at = 0
  let from = 0
  for (let start = html.indexOf('<'); start !== -1; start = html.indexOf('<', at)) {
    const next = html.charCodeAt(start + 1)
    // `<` before anything else is text.
    if (next !== 47 && next !== 33 && next !== 63 && !isLetter(next)) {
      at = start + 1
      continue
    }
    text(from, start)
    if (html.startsWith('<!--', start)) {
      from = at = after(html, '-->', start + 4)
      continue
    }
    const isEnd = next === 47
    const name = nameAt(html, start + (isEnd ? 2 : 1))
    const tag = readTag(html, start + 1)
    from = at = tag.end
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
    if (RAW.has(name)) from = at = afterRaw(html, name, tag.end)
    else if (SKIPPED.has(name) || isHidden(name, tag)) {
      skipped = name
      open = 1
    }
  }
  text(from, html.length)
  return tidy(decodeEntities(out.join('')))

  function isHidden(name: string, { attributes }: Tag): boolean {
    // A page may stay out of sight until its scripts have run.
    if (name === 'html' || name === 'body') return false
    const attribute = (key: string): string | undefined => {
      const value = attributes.get(key)
      return value === undefined ? undefined : decodeEntities(value)
    }
    return isHiddenBy(attribute) || isMeant(rules, name, attribute('id') ?? '', attribute('class') ?? '')
  }
}

const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122

function nameAt(html: string, from: number): string {
  const [name = ''] = /^[a-z][a-z0-9-]*/i.exec(html.slice(from, from + 30)) ?? []
  return name.toLowerCase()
}

function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from)
  return found === -1 ? html.length : found + mark.length
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

/** The style sheets that stand in a page and are for screens. */
function sheetsIn(html: string): string[] {
  const sheets: string[] = []
  const start = /<style(?=[\s/>])/gi
  for (let found = start.exec(html); found; found = start.exec(html)) {
    const { end, attributes } = readTag(html, found.index + 1)
    // The next one is looked for behind it, or a page of open ones would be read once for each.
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

/** Elements within each other beyond this are no page but an attack, or a mistake: trees of them take for ever. */
const MAX_DEPTH = 1000
/** Those whose end may be left out: many open ones are no depth. */
const LOOSE: ReadonlySet<string> = new Set('p li dt dd td th tr tbody thead tfoot option optgroup colgroup'.split(' '))

/** Whether elements lie too deep within each other for a tree, as far as one pass can tell. */
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

/** The title of a page, where no tree is made of it. */
export function titleIn(html: string): string {
  const from = html.search(/<title[\s>]/i)
  return from === -1 ? '' : oneLine(decodeEntities(html.slice(html.indexOf('>', from) + 1, from + 2000).split('<')[0] ?? ''))
}

export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
