/** Which elements the style sheets of a page hide. */
import { itemsOf, withoutComments } from './css.ts'
import { hides } from './hidden.ts'

/** Style sheets may be of megabytes, and rules within each other without end. */
const MAX_SHEET_CHARS = 1_000_000
const MAX_SELECTOR_CHARS = 1000
const MAX_NESTING = 6

/**
 * Selectors of the rules in a style sheet that hide, whatever the state of the page and the size of its window: what
 * other conditions enclose is left out, because it need not apply.
 */
export function hidingSelectors(sheet: string): string[] {
  const selectors: string[] = []
  collect(withoutComments(sheet.slice(0, MAX_SHEET_CHARS)), '', 0, selectors)
  return selectors
}

function collect(css: string, parent: string, depth: number, selectors: string[]): void {
  if (depth > MAX_NESTING) return
  const { declarations, blocks } = itemsOf(css)
  if (parent !== '' && hides(declarations)) selectors.push(parent)
  for (const { prelude, body } of blocks) {
    if (prelude.startsWith('@')) {
      if (isGiven(prelude)) collect(body, parent, depth + 1, selectors)
    } else if (prelude.length <= MAX_SELECTOR_CHARS && !DYNAMIC.test(prelude)) {
      const selector = within(parent, prelude)
      if (selector.length <= MAX_SELECTOR_CHARS) collect(body, selector, depth + 1, selectors)
    }
  }
}

/** By the state of the page, or made to grow. */
const DYNAMIC = /:(?:hover|focus|active|target|checked|not|has|before|after|popover-open|:)|\bno-?js\b|^$|&[^&]*&[^&]*&/i

function within(parent: string, selector: string): string {
  if (parent === '') return selector
  return selector.includes('&') ? selector.replaceAll('&', `:is(${parent})`) : `:is(${parent}) :is(${selector})`
}

const isGiven = (rule: string): boolean =>
  /^@layer\b/i.test(rule) || /^@supports\s(?!\s*not\b)/i.test(rule) || (/^@media\b/i.test(rule) && isForScreens(rule.slice(6)))

/** Whether a list of media queries holds for any screen. */
export const isForScreens = (media: string): boolean =>
  media.split(',').some((query) => /^\s*(?:(?:only\s+)?(?:all|screen))?\s*$/i.test(query))

/** A name of an element, a class or an id, the latter two also of one element: `p`, `.a`, `p.a`, `#b`. */
const SIMPLE = /^(?:[a-z][a-z0-9-]*)?(?:[.#][\w\u0080-\uffff-]+)?$/i

export interface HidingRules {
  /** Looked up, because there may be many. */
  readonly simple: ReadonlySet<string>
  readonly others: readonly string[]
}

export function rulesOf(sheets: Iterable<string>): HidingRules {
  const simple = new Set<string>()
  const others: string[] = []
  for (const sheet of sheets)
    for (const selector of hidingSelectors(sheet)) {
      const parts = selector.split(',').map((part) => part.trim())
      if (parts.every((part) => SIMPLE.test(part)))
        for (const part of parts) simple.add(part.replace(/^[a-z0-9-]+/i, (name) => name.toLowerCase()))
      else others.push(selector)
    }
  return { simple, others }
}

/** Whether a simple rule is for this element. */
export function isMeant({ simple }: HidingRules, name: string, id: string, classes: string): boolean {
  if (simple.size === 0) return false
  const marks = classes.split(/\s+/).map((one) => `.${one}`)
  return simple.has(name) || [`#${id}`, ...marks].some((mark) => mark.length > 1 && (simple.has(mark) || simple.has(name + mark)))
}
