/** A JSON text with comments as tokens with their places, to change one part of it and leave every other byte as it is. */
import { isObject } from '../common/is-object.ts'

/** Strings, comments, brackets and commas, words: what lies between is space. Each is read once. */
const TOKENS = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[{}[\],:]|[^\s{}[\],:"/]+|\//g

export interface Token {
  readonly text: string
  readonly start: number
  readonly end: number
  /** How many brackets it is in. */
  readonly depth: number
}

export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  let depth = 0
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token.startsWith('//') || token.startsWith('/*') || token === '\ufeff') continue
    if (/^[\]}]$/.test(token)) depth--
    tokens.push({ text: token, start: index, end: index + token.length, depth })
    if (/^[[{]$/.test(token)) depth++
  }
  return tokens
}

/** What a name says; undefined for what is none. */
export function nameOf({ text }: Token): unknown {
  try {
    return text.startsWith('"') ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

/** Puts a part before an entry of the bracket that opens at a token, or last. */
export function before(
  text: string,
  tokens: readonly Token[],
  open: number,
  next: Token | undefined,
  part: string,
  indent: string,
  line: string,
) {
  const opening = tokens[open]
  const close = tokens.findIndex((token, at) => at > open && token.depth === opening?.depth && /^[\]}]$/.test(token.text))
  const closing = tokens[close]
  const last = tokens[close - 1]
  if (!opening || !closing || !last) return undefined
  if (next) return `${text.slice(0, next.start)}${part},${isAlone(text, next) ? line + indent : ' '}${text.slice(next.start)}`
  const comma = last === opening || last.text === ',' ? '' : ','
  const outer = /[\r\n]/.test(text.slice(last.end, closing.start)) ? '' : line + indentOfLine(text, opening.start)
  const tail = text.slice(last.end, closing.start)
  // A comment behind the last entry stays behind it.
  const stays = tail.search(/\s*$/)
  return `${text.slice(0, last.end)}${comma}${tail.slice(0, stays)}${line}${indent}${part}${tail.slice(stays)}${outer}${text.slice(closing.start)}`
}

export const indentOfLine = (text: string, at: number): string => /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1))?.[0] ?? ''
/** Of an entry with a line of its own. */
export const indentOf = (text: string, token: Token | undefined): string =>
  token && isAlone(text, token) ? indentOfLine(text, token.start) : ''
export const isAlone = (text: string, { start }: Token): boolean =>
  /^[ \t]*$/.test(text.slice(text.lastIndexOf('\n', start - 1) + 1, start))

/** On one line, as one writes it by hand. */
export function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${spaced(one)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

/** How the text ends its lines. */
export const lineEnd = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')
