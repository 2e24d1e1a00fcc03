/** Puts an entry into a list of a JSON text with comments, and leaves every other byte as it is. */

import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../common/is-object.ts'
import { parseJsonc } from './jsonc.ts'
import { before, indentOf, lineEnd, nameOf, spaced, type Token, tokensOf } from './jsonc-tokens.ts'

/**
 * @param key of the object that the text is; the list is made where there is none
 * @param index before which entry. Default: last
 * @returns undefined if the text is no such object, or where it can't be done without a change to the rest
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

function inserted(text: string, key: string, entry: unknown, index: number): string | undefined {
  const tokens = tokensOf(text)
  const line = lineEnd(text)
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

/** The first token of an entry of the list that opens at `open`. */
function startsEntry(tokens: readonly Token[], at: number, open: number): boolean {
  const inside = (tokens[open]?.depth ?? 0) + 1
  const end = tokens.findIndex((token, place) => place > open && token.depth < inside)
  const token = tokens[at]
  const previous = tokens[at - 1]
  return at < end && token?.depth === inside && !/^[,\]}]$/.test(token.text) && (at - 1 === open || previous?.text === ',')
}
