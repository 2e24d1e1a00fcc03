/**
 * Converts HTML to Markdown or text: the article if there is one, otherwise the whole body. Runs in a worker, because a page may be crafted
 * to take forever.
 */
import * as turndownGfm from '@joplin/turndown-plugin-gfm'
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'
import { isHiddenBy, UNSHOWN } from './hidden.ts'
import { isForScreens, isMeant, rulesOf } from './hiding-rules.ts'
import { oneLine, plainText } from './plain-text.ts'

/** The parts of the DOM needed here. Including the browser types would make them available to the whole program. */
interface PageElement {
  readonly localName: string
  readonly innerHTML: string
  readonly textContent: string
  readonly remove: () => void
  readonly getAttribute: (name: string) => string | null
  readonly getAttributeNames: () => readonly string[]
  readonly setAttribute: (name: string, value: string) => void
  readonly removeAttribute: (name: string) => void
  readonly cloneNode: (deep: boolean) => PageElement
  readonly querySelector: (selector: string) => PageElement | null
  readonly querySelectorAll: (selector: string) => Iterable<PageElement> & { readonly length: number }
}

interface PageDocument extends PageElement {
  readonly documentElement: PageElement
  readonly head: PageElement
  readonly body: PageElement
}

export interface Readable {
  readonly title: string
  readonly text: string
}

/** Elements that never contain the page's text, or only with scripts. */
const NO_TEXT = [...UNSHOWN, 'link', 'input', 'button', 'dialog:not([open])'].join(',')
/** Maximum selectors that have to be matched against every element instead of being looked up. */
const MAX_SELECTORS = 2000

/** An article with a smaller share of the page's text is considered a misdetection, unless it is long. */
const ARTICLE_SHARE = 0.3
const LONG_ARTICLE = 5000
/** For larger pages the whole body is used, because finding the article is the slowest step. */
const MAX_ELEMENTS = 30_000

export function readable(html: string, url: string, format: 'markdown' | 'text'): Readable {
  const document = parse(html)
  lowerCaseAttributes(document)
  const base = URL.parse(document.querySelector('base[href]')?.getAttribute('href') ?? '', url)?.href ?? url
  const title = oneLine(document.querySelector('title')?.textContent || document.querySelector('h1')?.textContent || '')
  removeUnseen(document)
  absolute(document, base)
  // Readability takes the document apart.
  const body = document.body.cloneNode(true)
  const whole = body.textContent.length
  const article = articleOf(document)
  const useArticle = article && (article.length >= whole * ARTICLE_SHARE || article.length >= LONG_ARTICLE)
  const chosen = useArticle ? article.element : body
  return { title, text: format === 'text' ? plainText(chosen.innerHTML) : markdown(chosen) }
}

/** Parses the page, wrapped in a single body. The parser does not create one and loses text outside it. */
function parse(html: string): PageDocument {
  const inner = html.replace(/<!doctype[^>]{0,500}>|<\/?(?:html|head|body)(?:\s[^>]{0,2000})?>/gi, '')
  return parseHTML(`<!doctype html><html><head></head><body>${inner}</body></html>`).document as unknown as PageDocument
}

/** Lower-cases attribute names, which the parser does not do. Of duplicates, the first one counts. */
function lowerCaseAttributes(document: PageDocument): void {
  for (const element of document.querySelectorAll('*')) {
    const names = element.getAttributeNames()
    if (!names.some((name) => name !== name.toLowerCase())) continue
    const values = new Map<string, string>()
    for (const name of names) {
      const value = element.getAttribute(name) ?? ''
      element.removeAttribute(name)
      if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), value)
    }
    for (const [name, value] of values) element.setAttribute(name, value)
  }
}

function removeUnseen(document: PageDocument): void {
  const remove = (element: PageElement): void => {
    if (element !== document.body && element !== document.documentElement && element !== document.head) element.remove()
  }
  // Browsers that run scripts ignore the style sheets in these.
  for (const element of document.querySelectorAll('noscript,template')) remove(element)
  const styles = [...document.querySelectorAll('style')].filter((style) => isForScreens(style.getAttribute('media') ?? ''))
  const rules = rulesOf(styles.map((style) => style.textContent ?? ''))
  for (const element of document.querySelectorAll(NO_TEXT)) remove(element)
  for (const element of document.querySelectorAll('*')) {
    const attribute = (name: string) => element.getAttribute(name)
    if (isHiddenBy(attribute) || isMeant(rules, element.localName, attribute('id') ?? '', attribute('class') ?? '')) remove(element)
  }
  for (const rule of rules.others.slice(0, MAX_SELECTORS)) for (const element of matching(document, rule)) remove(element)
}

function matching(document: PageDocument, selector: string): Iterable<PageElement> {
  try {
    return document.querySelectorAll(selector)
  } catch {
    return []
  }
}

/** Makes links absolute and drops unusable ones. Keeps images only if they have alternative text. */
function absolute(document: PageDocument, base: string): void {
  for (const link of document.querySelectorAll('a[href]')) {
    const to = URL.parse(link.getAttribute('href') ?? '', base)
    if (to && /^(?:https?|mailto):$/.test(to.protocol)) link.setAttribute('href', to.href)
    else link.removeAttribute('href')
    link.removeAttribute('title')
    if (link.textContent.trim() === '' && !link.querySelector('img')) link.remove()
  }
  for (const image of document.querySelectorAll('img')) {
    const to = URL.parse(image.getAttribute('src') ?? '', base)
    const isPixel = ['width', 'height'].some((side) => /^\s*[01]\s*(?:px)?$/.test(image.getAttribute(side) ?? ''))
    if (to && /^https?:$/.test(to.protocol) && image.getAttribute('alt')?.trim() && !isPixel) image.setAttribute('src', to.href)
    else image.remove()
  }
}

function articleOf(document: PageDocument): { readonly element: PageElement; readonly length: number } | undefined {
  if (document.querySelectorAll('*').length > MAX_ELEMENTS) return undefined
  const options = { charThreshold: 200, keepClasses: true, serializer: (node: unknown) => node as PageElement }
  const { content, textContent } = new Readability(document as never, options).parse() ?? {}
  return content && textContent ? { element: content, length: textContent.trim().length } : undefined
}

function markdown(element: PageElement): string {
  const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---' })
  turndown.use(turndownGfm.gfm)
  // The table plugin needs a tree created by turndown itself.
  const source = element.querySelector('table') ? element.innerHTML : (element as never)
  return turndown
    .turndown(source)
    .replace(/[^\S\n]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
