/** HTML to Markdown or text: the article where there is one, else the whole body. Runs in a worker: a page may be made to take for ever. */
import * as turndownGfm from '@joplin/turndown-plugin-gfm'
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'
import type { PageDocument, PageElement } from './dom.ts'
import { isHiddenBy, UNSHOWN } from './hidden.ts'
import { oneLine, plainText } from './plain-text.ts'
import { isForScreens, isMeant, rulesOf } from './sheet.ts'

export interface Readable {
  readonly title: string
  readonly text: string
}

/** Never text of the page, or not without its scripts. */
const NO_TEXT = [...UNSHOWN, 'link', 'input', 'button', 'dialog:not([open])'].join(',')
/** Selectors that each element is held against, and not only looked up by. */
const MAX_SELECTORS = 2000

/** An article with less of the page's text than this is taken for a mistake, unless it is long by itself. */
const ARTICLE_SHARE = 0.3
const LONG_ARTICLE = 5000
/** Of a larger page the whole body is taken: looking for an article takes longest. */
const MAX_ELEMENTS = 30_000

export function readable(html: string, url: string, format: 'markdown' | 'text'): Readable {
  const document = parse(html)
  lowerCaseAttributes(document)
  const base = URL.parse(document.querySelector('base[href]')?.getAttribute('href') ?? '', url)?.href ?? url
  const title = oneLine(document.querySelector('title')?.textContent || document.querySelector('h1')?.textContent || '')
  removeUnseen(document)
  absolute(document, base)
  // The search for an article takes the document apart.
  const body = document.body.cloneNode(true)
  const whole = body.textContent.length
  const article = articleOf(document)
  const useArticle = article && (article.length >= whole * ARTICLE_SHARE || article.length >= LONG_ARTICLE)
  const chosen = useArticle ? article.element : body
  return { title, text: format === 'text' ? plainText(chosen.innerHTML) : markdown(chosen) }
}

/** All of it in one body: the parser makes none by itself, and loses what stands outside. */
function parse(html: string): PageDocument {
  const inner = html.replace(/<!doctype[^>]{0,500}>|<\/?(?:html|head|body)(?:\s[^>]{0,2000})?>/gi, '')
  return parseHTML(`<!doctype html><html><head></head><body>${inner}</body></html>`).document as unknown as PageDocument
}

/** The parser leaves the names of attributes as they are written; of several with one name the first counts. */
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
  // The sheets in these are not for a browser that runs scripts.
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

/** Links that can be fetched as they stand; images only where a text says what they show. */
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
  // What tables are turned by needs a tree of turndown's own making.
  const source = element.querySelector('table') ? element.innerHTML : (element as never)
  return turndown
    .turndown(source)
    .replace(/[^\S\n]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
