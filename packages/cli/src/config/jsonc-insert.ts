/** Puts an entry into a list of a JSON text with comments, and leaves every other byte as it is. */
import { isDeepStrictEqual } from 'node:util'
import { parseJsonc } from './jsonc.ts'

/** Strings, comments, brackets and commas, words: what lies between is space. Each is read once. */
const TOKENS = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[{}[\],:]|[^\s{}[\],:"/]+|\//g

interface Token {
  readonly text: string
  readonly start: number
  readonly end: number
  /** How many brackets it stands in. */
  readonly depth: number
}

/**
 * @param key of the object that the text is; the list is made where there is none
 * @param index before which entry. Default: last
 * @returns undefined where the text is no such object, or where it can't be done without a change to the rest
 */
export function insertInto(text: string, key: string, entry: unknown, index?: number): string | undefined {
  const before = parseJsonc(text)
  if (!before.ok || !isObject(before.value)) return undefined
  const list = before.value[key] ?? []
  if (!Array.isArray(list)) return undefined
  const changed = inserted(text, key, entry, index ?? list.length)
  const after = changed === undefined ? undefined : parseJsonc(changed)
  const expected = { ...before.value, [key]: list.toSpliced(index ?? list.length, 0, entry) }
  return after?.ok && isDeepStrictEqual(after.value, expected) ? changed : undefined
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

function inserted(text: string, key: string, entry: unknown, index: number): string | undefined {
  const tokens = tokensOf(text)
  const line = text.includes('\r\n') ? '\r\n' : '\n'
  const json = spaced(entry)
  const open = tokens[0]
  if (!open)
    return `${text === '' || text.endsWith('\n') ? text : text + line}{${line}  "${key}": [${line}    ${json}${line}  ]${line}}${line}`
  const at = tokens.findLastIndex((token, at) => token.depth === 1 && nameOf(token) === key && tokens[at + 1]?.text === ':')
  if (at === -1) {
    const step = indentOf(text, tokens[1]) || '  '
    return before(text, tokens, 0, undefined, `"${key}": [${line}${step.repeat(2)}${json}${line}${step}]`, step, line)
  }
  const step = indentOf(text, tokens[at]) || '  '
  const entries = tokens.flatMap((token, place) => (place > at + 2 && startsEntry(tokens, place, at + 2) ? [token] : []))
  return before(text, tokens, at + 2, entries[index], json, indentOf(text, entries[0]) || step.repeat(2), line)
}

/** Puts a part before an entry of the bracket that opens at a token, or last. */
function before(text: string, tokens: readonly Token[], open: number, next: Token | undefined, part: string, indent: string, line: string) {
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

function tokensOf(text: string): readonly Token[] {
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

/** The first token of an entry of the list that opens at `open`. */
function startsEntry(tokens: readonly Token[], at: number, open: number): boolean {
  const inside = (tokens[open]?.depth ?? 0) + 1
  const end = tokens.findIndex((token, place) => place > open && token.depth < inside)
  const token = tokens[at]
  const previous = tokens[at - 1]
  return at < end && token?.depth === inside && !/^[,\]}]$/.test(token.text) && (at - 1 === open || previous?.text === ',')
}

function nameOf({ text }: Token): unknown {
  try {
    return text.startsWith('"') ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

const indentOfLine = (text: string, at: number): string => /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1))?.[0] ?? ''
/** Of an entry with a line of its own. */
const indentOf = (text: string, token: Token | undefined): string => (token && isAlone(text, token) ? indentOfLine(text, token.start) : '')
const isAlone = (text: string, { start }: Token): boolean => /^[ \t]*$/.test(text.slice(text.lastIndexOf('\n', start - 1) + 1, start))

/** On one line, as one writes it by hand. */
const spaced = (value: unknown): string => {
  if (!isObject(value)) return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${spaced(one)}`)
    .join(', ')} }`
}
