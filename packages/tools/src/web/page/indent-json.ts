/** JSON on indented lines, its tokens untouched: numbers keep all their digits, keys their order and doubles. */

const DEEPEST = 50
/** Indentation that makes more than this of it is no help. */
const MAX_GROWTH = 4

/** @param text valid JSON; what is too deep to be helped comes back as it is */
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
