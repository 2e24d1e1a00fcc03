/** Helpers for scanning text: sticky expressions, brackets, strings and fixed tokens. */
import { isTooDeep } from './canonical.ts'

/** Matches the sticky `pattern` at one position. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(text) ?? undefined
}

/** Returns the end of a match of the sticky `pattern` at `at`, or -1. */
export function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

/** Returns the end of a match at `at`, or `at` if there is none. */
export const past = (pattern: RegExp, text: string, at: number): number => Math.max(at, matchEnd(pattern, text, at))

/** Returns the first position at or after `at` whose character is not in `characters`. */
export function skip(text: string, at: number, characters = ' \t\r\n'): number {
  let i = at
  while (i < text.length && characters.includes(text[i] as string)) i++
  return i
}

/** Returns the longest of `tokens` at `at`, or ''. */
export const tokenAt = (text: string, at: number, tokens: readonly string[]): string =>
  tokens.reduce((best, token) => (token.length > best.length && text.startsWith(token, at) ? token : best), '')

/**
 * Returns the position after the closing bracket of the first bracket at or after `at`, considering only brackets and strings; -1 if
 * it is not before `limit`.
 * @param kind `prose` also has round brackets, and `code` Python's other strings; an apostrophe in prose is not a quote
 */
export function closing(text: string, at: number, limit: number, kind: 'json' | 'prose' | 'code' = 'json'): number {
  const part = text.slice(0, limit)
  const hasRound = kind !== 'json'
  let depth = 0
  for (let i = at; i < limit; i++) {
    const character = part[i] as string
    if (character === '"' || (character === "'" && kind === 'code')) {
      const quote = kind === 'code' && part.startsWith(character.repeat(3), i) ? character.repeat(3) : character
      const end = stringEnd(part, i + quote.length, quote)
      if (end === -1) return -1
      i = end + quote.length - 1
    } else if (character === '{' || character === '[' || (character === '(' && hasRound)) depth++
    else if ((character === '}' || character === ']' || (character === ')' && hasRound)) && --depth === 0) return i + 1
  }
  return -1
}

/** Returns the position of the closing quote of the string that continues at `from`, or -1. */
export function stringEnd(text: string, from: number, quote: string): number {
  for (let end = text.indexOf(quote, from); end !== -1; end = text.indexOf(quote, end + 1)) {
    let slashes = 0
    while (end - slashes > from && text[end - slashes - 1] === '\\') slashes++
    if (slashes % 2 === 0) return end
  }
  return -1
}

/** Parses strict JSON. Returns undefined if the text is not valid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses a text that is an object or a list. Returns undefined for any other text. */
export function tryJson(text: string): unknown {
  const parsed = /^\s*[[{]/.test(text) ? parseJson(text) : undefined
  return isTooDeep(parsed) ? undefined : parsed
}
