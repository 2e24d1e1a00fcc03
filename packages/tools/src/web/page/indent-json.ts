/** Indents JSON without changing its tokens: numbers keep all digits, and keys keep their order and duplicates. */

const DEEPEST = 50
/** Give up if indentation makes the text larger by more than this factor. */
const MAX_GROWTH = 4

/**
 * Indents JSON.
 * @param text valid JSON; returned unchanged if it is nested too deeply
 */
export function indentJson(text: string): string {
  const out: string[] = []
  let size = 0
  let depth = 0
  const put = (piece: string): void => {
    out.push(piece)
    size += piece.length
  }
  const line = (): void => put(`\n${'  '.repeat(depth)}`)
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g)) {
    const last = out.at(-1)
    if (token === '}' || token === ']') {
      depth--
      if (last !== '{' && last !== '[') line()
      put(token)
    } else {
      if (last === '{' || last === '[') line()
      put(token === ':' ? ': ' : token)
      if (token === ',') line()
      if (token === '{' || token === '[') depth++
    }
    if (depth > DEEPEST || size > text.length * MAX_GROWTH + 1000) return text
  }
  return out.join('')
}
