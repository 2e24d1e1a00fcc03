/** What a page does not show to people is not read to a model: that is where instructions to it are hidden. */

/** Declarations that take an element out of sight. */
const UNSEEN =
  /(?:^|[;\s{])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*(?:\.0+)?%?\s*(?:;|!|$)|font-size\s*:\s*0*(?:\.0+)?(?:px|r?em|%|pt)?\s*(?:;|!|$)|content-visibility\s*:\s*hidden|(?:text-indent|left|top|margin-left)\s*:\s*-\d{4,}|clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0)|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?\s*\)|transform\s*:\s*scale\(\s*0\s*[,)])/i

/** Whether a style attribute, or the body of a rule, hides. */
export const isUnseen = (declarations: string): boolean => UNSEEN.test(declarations.replace(/\/\*[\s\S]*?\*\//g, ''))

/** Rules longer than this are of no interest, and style sheets may be of megabytes. */
const MAX_SHEET_CHARS = 500_000
const MAX_RULES = 300

/**
 * Selectors of the rules in a style sheet that hide, whatever the medium: what `@media`, `@supports` and the like
 * enclose is left out, because it need not apply.
 */
export function hidingSelectors(sheet: string): string[] {
  const selectors: string[] = []
  const css = sheet.slice(0, MAX_SHEET_CHARS).replace(/\/\*[\s\S]*?\*\//g, '')
  let at = 0
  while (at < css.length && selectors.length < MAX_RULES) {
    const open = css.indexOf('{', at)
    if (open === -1) break
    const close = closing(css, open)
    const prelude = css.slice(at, open)
    const selector = prelude.slice(prelude.lastIndexOf(';') + 1).trim()
    const isDynamic = /:(?:hover|focus|active|target|checked|not|has|is|where|before|after|:)|\bno-?js\b|^$/i.test(selector)
    if (!selector.startsWith('@') && !isDynamic && selector.length < 1000 && isUnseen(css.slice(open + 1, close))) selectors.push(selector)
    at = close + 1
  }
  return selectors
}

function closing(css: string, open: number): number {
  let depth = 0
  for (let at = open; at < css.length; at++) {
    const char = css.charCodeAt(at)
    if (char === 123) depth++
    else if (char === 125 && --depth === 0) return at
  }
  return css.length
}
