/** Parses just enough CSS to tell what it hides. Each function makes a single pass. */

interface Items {
  /** As `name: value`. */
  readonly declarations: readonly string[]
  readonly blocks: readonly { readonly prelude: string; readonly body: string }[]
}

/** An escape, a comment, a string (up to its quote, the line end or the end of the text) or a URL (only the opening if quoted). */
const TOKEN =
  /\\[\s\S]?|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[\s\S])*["\n]?|'(?:[^'\\\n]|\\[\s\S])*['\n]?|url\((?:\s*(?=["'])|(?:[^\\)]|\\[\s\S])*\)?)|[\s\S]/iy

/** Returns the position after the {@link TOKEN} or character at `at`, always greater than `at`. */
export function step(css: string, at: number): number {
  // Most characters do not start a token.
  if (!/["'/\\Uu]/.test(css[at] ?? '')) return at + 1
  TOKEN.lastIndex = at
  return TOKEN.test(css) ? TOKEN.lastIndex : at + 1
}

/** Replaces comments by a space, because they separate tokens. */
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

/** Returns the top-level items of a sheet, a rule body or a style attribute. The text must not contain comments. */
export function itemsOf(css: string): Items {
  const declarations: string[] = []
  const blocks: { prelude: string; body: string }[] = []
  let from = 0
  let parens = 0
  for (let at = 0, next = 0; at <= css.length; at = next) {
    next = step(css, at)
    const char = css[at]
    if (char === '(') parens++
    else if (char === ')') parens = Math.max(0, parens - 1)
    else if (char === '{') {
      const close = closing(css, at)
      blocks.push({ prelude: css.slice(from, at).trim(), body: css.slice(at + 1, close) })
      from = next = close + 1
      parens = 0
    } else if ((char === ';' && parens === 0) || char === '}' || char === undefined) {
      if (at > from) declarations.push(css.slice(from, at))
      from = next
    }
  }
  return { declarations, blocks }
}

function closing(css: string, open: number): number {
  let depth = 0
  for (let at = open; at < css.length; at = step(css, at))
    if (css[at] === '{') depth++
    else if (css[at] === '}' && --depth === 0) return at
  return css.length
}
