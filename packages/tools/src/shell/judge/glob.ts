/** Patterns of file names. */

type Token = { readonly kind: 'star' } | { readonly kind: 'one'; readonly literal?: boolean; readonly takes: (char: string) => boolean }

/** A longer one is no name of a file. */
const MOST = 1000

/**
 * The pattern as the shell takes it, part of the path by part; `**` as `*`.
 *
 * @param hidden whether `*` takes names with a dot in front
 */
export function globMatcher(pattern: string, hidden = true): (path: string) => boolean {
  if (pattern.length > MOST) return () => false
  const parts = pattern.split('/').map(tokensOf)
  return (path) => {
    const names = path.split('/')
    return (
      names.length === parts.length &&
      parts.every((tokens, at) => (hidden || shows(tokens, names[at] as string)) && matches(tokens, names[at] as string))
    )
  }
}

const shows = ([first]: readonly Token[], name: string): boolean =>
  !name.startsWith('.') || (first?.kind === 'one' && first.literal === true)

const tokensOf = (pattern: string): Token[] =>
  [...pattern.matchAll(/\[(!|\^)?(\]?[^\]]*)\]|\*+|[\s\S]/g)].map(([text, not, set]): Token => {
    if (text.startsWith('*')) return { kind: 'star' }
    if (text === '?') return { kind: 'one', takes: () => true }
    if (set === undefined) return { kind: 'one', literal: true, takes: (char) => char === text }
    return { kind: 'one', takes: (char) => inSet(char, set) === (not === undefined) }
  })

function inSet(char: string, set: string): boolean {
  const named = /^\[:(\w+):$/.exec(set)?.[1]
  if (named !== undefined) return true
  for (let at = 0; at < set.length; at++) {
    if (set[at + 1] === '-' && set[at + 2] !== undefined) {
      if (char >= (set[at] as string) && char <= (set[at + 2] as string)) return true
      at += 2
    } else if (set[at] === char) return true
  }
  return false
}

/** Greedy: on a mismatch only the last star takes one character more. */
function matches(tokens: readonly Token[], name: string): boolean {
  let [token, at, star, from] = [0, 0, -1, 0]
  while (at < name.length) {
    const one = tokens[token]
    if (one?.kind === 'one' && one.takes(name[at] as string)) {
      token++
      at++
    } else if (one?.kind === 'star') {
      star = token++
      from = at
    } else if (star !== -1) {
      token = star + 1
      at = ++from
    } else return false
  }
  while (tokens[token]?.kind === 'star') token++
  return token === tokens.length
}
