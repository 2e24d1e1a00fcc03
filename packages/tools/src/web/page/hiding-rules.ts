/** Finds the elements that a page's style sheets hide. */
import { itemsOf, withoutComments } from './css.ts'
import { hides } from './hidden.ts'

/** Limits: style sheets can be megabytes long and rules nested arbitrarily deep. */
const MAX_SHEET_CHARS = 1_000_000
const MAX_SELECTOR_CHARS = 1000
const MAX_NESTING = 6

/**
 * Returns selectors of the rules that always hide elements, regardless of page state and window size. Rules inside other conditions are
 * left out, because the condition may not apply.
 */
export const hidingSelectors = (sheet: string): string[] => selectorsIn(withoutComments(sheet.slice(0, MAX_SHEET_CHARS)), '', 0)

function selectorsIn(css: string, parent: string, depth: number): string[] {
  if (depth > MAX_NESTING) return []
  const { declarations, blocks } = itemsOf(css)
  const inner = blocks.flatMap(({ prelude, body }) => {
    if (prelude.startsWith('@')) return isGiven(prelude) ? selectorsIn(body, parent, depth + 1) : []
    if (prelude.length > MAX_SELECTOR_CHARS || DYNAMIC.test(prelude)) return []
    const nested = prelude.includes('&') ? prelude.replaceAll('&', `:is(${parent})`) : `:is(${parent}) :is(${prelude})`
    const selector = parent === '' ? prelude : nested
    return selector.length > MAX_SELECTOR_CHARS ? [] : selectorsIn(body, selector, depth + 1)
  })
  return parent !== '' && hides(declarations) ? [parent, ...inner] : inner
}

/** Selectors that depend on page state, or that grow exponentially. */
const DYNAMIC = /:(?:hover|focus|active|target|checked|not|has|before|after|popover-open|:)|\bno-?js\b|^$|&[^&]*&[^&]*&/i

const isGiven = (rule: string): boolean =>
  /^@layer\b/i.test(rule) || /^@supports\s(?!\s*not\b)/i.test(rule) || (/^@media\b/i.test(rule) && isForScreens(rule.slice(6)))

/** True if a list of media queries matches any screen. */
export const isForScreens = (media: string): boolean =>
  media.split(',').some((query) => /^\s*(?:(?:only\s+)?(?:all|screen))?\s*$/i.test(query))

/** An element name, class or id, or an element name with a class or id: `p`, `.a`, `p.a`, `#b`. */
const SIMPLE = /^(?:[a-z][a-z0-9-]*)?(?:[.#][\w\u0080-\uffff-]+)?$/i

export type HidingRules = ReturnType<typeof rulesOf>

/** Collects the hiding rules. Simple selectors go into a set for lookup, because there may be many. */
export function rulesOf(sheets: Iterable<string>) {
  const simple = new Set<string>()
  const others: string[] = []
  for (const selector of [...sheets].flatMap(hidingSelectors)) {
    const parts = selector.split(',').map((part) => part.trim())
    if (parts.every((part) => SIMPLE.test(part)))
      for (const part of parts) simple.add(part.replace(/^[a-z0-9-]+/i, (name) => name.toLowerCase()))
    else others.push(selector)
  }
  return { simple, others }
}

/** True if a simple rule matches this element. */
export function isMeant({ simple }: HidingRules, name: string, id: string, classes: string): boolean {
  if (simple.size === 0) return false
  const marks = [`#${id}`, ...classes.split(/\s+/).map((one) => `.${one}`)].filter((mark) => mark.length > 1)
  return simple.has(name) || marks.some((mark) => simple.has(mark) || simple.has(name + mark))
}
