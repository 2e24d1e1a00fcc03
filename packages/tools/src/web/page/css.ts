/** The little of CSS syntax that is needed to tell rules and declarations apart. Each walk passes over a text once. */

export interface Block {
  readonly prelude: string
  readonly body: string
}

export interface Items {
  /** As `name: value`. */
  readonly declarations: readonly string[]
  readonly blocks: readonly Block[]
}

/** Past what begins at `at`: an escape, a comment, a string, a URL, or one character. Always beyond `at`. */
export function step(css: string, at: number): number {
  const char = css.charCodeAt(at)
  if (char === 92) return at + 2
  if (char === 47 && css.charCodeAt(at + 1) === 42) return afterComment(css, at)
  if (char === 34 || char === 39) return afterQuoted(css, at + 1, char)
  if ((char | 32) === 117 && css.slice(at, at + 4).toLowerCase() === 'url(') return afterUrl(css, at + 4)
  return at + 1
}

function afterComment(css: string, at: number): number {
  const end = css.indexOf('*/', at + 2)
  return end === -1 ? css.length : end + 2
}

/** A string ends with its quote, with its line, or with the text. */
function afterQuoted(css: string, from: number, quote: number): number {
  for (let at = from; at < css.length; at++) {
    const char = css.charCodeAt(at)
    if (char === 92) at++
    else if (char === quote || char === 10) return at + 1
  }
  return css.length
}

/** Quotes count only where they come first. */
function afterUrl(css: string, from: number): number {
  for (let at = from, isFirst = true; at < css.length; at++) {
    const char = css.charCodeAt(at)
    if (char === 92) at++
    else if (isFirst && (char === 34 || char === 39)) return at
    else if (char === 41) return at + 1
    if (char > 32) isFirst = false
  }
  return css.length
}

/** A comment parts what stands before and after it. */
export function withoutComments(css: string): string {
  if (!css.includes('/*')) return css
  const out: string[] = []
  let from = 0
  for (let at = 0, next = 0; at < css.length; at = next) {
    next = step(css, at)
    if (!css.startsWith('/*', at)) continue
    out.push(css.slice(from, at))
    from = next
  }
  return [...out, css.slice(from)].join(' ')
}

/** What stands on the outermost level of a sheet, of the body of a rule or of a style attribute without comments. */
export function itemsOf(css: string): Items {
  const declarations: string[] = []
  const blocks: Block[] = []
  let from = 0
  let parens = 0
  const cut = (at: number): void => {
    if (at > from) declarations.push(css.slice(from, at))
  }
  for (let at = 0; at < css.length; ) {
    const char = css.charCodeAt(at)
    const next = step(css, at)
    if (char === 40) parens++
    else if (char === 41) parens = Math.max(0, parens - 1)
    else if (char === 123) {
      const close = closing(css, at)
      blocks.push({ prelude: css.slice(from, at).trim(), body: css.slice(at + 1, close) })
      from = at = close + 1
      parens = 0
      continue
    } else if ((char === 59 && parens === 0) || char === 125) {
      cut(at)
      from = next
    }
    at = next
  }
  cut(css.length)
  return { declarations, blocks }
}

function closing(css: string, open: number): number {
  let depth = 0
  for (let at = open; at < css.length; at = step(css, at)) {
    const char = css.charCodeAt(at)
    if (char === 123) depth++
    else if (char === 125 && --depth === 0) return at
  }
  return css.length
}

/** `d\69splay` is `display`. */
export const unescaped = (css: string): string =>
  css.replace(/\\(?:([0-9a-f]{1,6})\s?|([\s\S]))/gi, (_, hex?: string, char?: string) => {
    if (hex === undefined) return char ?? ''
    const code = Number.parseInt(hex, 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  })
