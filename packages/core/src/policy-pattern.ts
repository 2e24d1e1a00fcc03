/** Patterns of rules: `*` stands for any text, `\*` for a star. */

/** A pattern for this very text. */
export const literalPattern = (text: string): string => text.replace(/[\\*]/g, '\\$&')

const PIECES = /\\[\\*]|\*|[^\\*]+|\\/g

/** `npm test *` is `npm test` too: a last ` *` may stand for nothing. */
export function wildcard(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined || pattern === '*') return () => true
  const parts = ['']
  for (const piece of pattern.match(PIECES) ?? []) {
    if (piece === '*') parts.push('')
    else parts.push(parts.pop() + (piece.length === 2 && /^\\[\\*]$/.test(piece) ? piece.slice(1) : piece))
  }
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return (text) => text === first
  const bare = parts.length === 2 && last === '' && first.endsWith(' ') ? first.slice(0, -1) : undefined
  // By hand, because a regex with several stars takes for ever on a long target that almost matches.
  return (text) => {
    if (text === bare) return true
    let at = first.length
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    for (const part of rest) {
      const found = text.indexOf(part, at)
      if (found === -1) return false
      at = found + part.length
    }
    return at + last.length <= text.length
  }
}
