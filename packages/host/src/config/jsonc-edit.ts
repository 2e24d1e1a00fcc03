/** Sets or removes a key in JSON with comments, and leaves every other byte as it is. */

import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../common/is-object.ts'
import { parseJsonc } from './jsonc.ts'
import { before, indentOf, indentOfLine, isAlone, lineEnd, nameOf, spaced, type Token, tokensOf } from './jsonc-tokens.ts'
import { valueAt, withoutValue, withValue } from './value-at.ts'

/** @returns undefined if the text is not an object, or where it can't be done without a change to the rest */
export function setIn(text: string, path: readonly string[], value: unknown): string | undefined {
  const parsed = parseJsonc(text)
  if (!parsed.ok || !isObject(parsed.value) || path.length === 0) return undefined
  return checked(withSet(text, path, value), withValue(parsed.value, path, value))
}

/** @returns undefined as {@link setIn}; the same text where the key does not exist */
export function unsetIn(text: string, path: readonly string[]): string | undefined {
  const parsed = parseJsonc(text)
  if (!parsed.ok || !isObject(parsed.value)) return undefined
  let changed = text
  // A key may be there twice, and then the last one counts.
  for (let next = withoutLast(changed, path); next !== undefined; next = withoutLast(changed, path)) changed = next
  return checked(changed, withoutValue(parsed.value, path))
}

function checked(text: string | undefined, expected: unknown): string | undefined {
  const after = text === undefined ? undefined : parseJsonc(text)
  return after?.ok && isDeepStrictEqual(after.value, expected) ? text : undefined
}

interface Member {
  /** Of its name, among the tokens. */
  readonly at: number
  /** The first and the last token of its value. */
  readonly first: number
  readonly last: number
}

function memberOf(tokens: readonly Token[], open: number, name: string): Member | undefined {
  const inside = (tokens[open]?.depth ?? 0) + 1
  const close = closeOf(tokens, open)
  const at = tokens.findLastIndex(
    (token, place) => place > open && place < close && token.depth === inside && nameOf(token) === name && tokens[place + 1]?.text === ':',
  )
  if (at === -1 || tokens[at + 2] === undefined) return undefined
  return { at, first: at + 2, last: /^[[{]$/.test(tokens[at + 2]?.text ?? '') ? closeOf(tokens, at + 2) : at + 2 }
}

const closeOf = (tokens: readonly Token[], open: number): number =>
  tokens.findIndex((token, at) => at > open && token.depth === tokens[open]?.depth && /^[\]}]$/.test(token.text))

function withSet(text: string, path: readonly string[], value: unknown): string | undefined {
  const tokens = tokensOf(text)
  const line = lineEnd(text)
  if (tokens.length === 0) return `${text === '' || text.endsWith('\n') ? text : text + line}${nested(path, value, '', '  ', line)}${line}`
  const step = indentOf(text, tokens[1]) || '  '
  let open = 0
  for (const [depth, name] of path.entries()) {
    const rest = path.slice(depth + 1)
    const member = memberOf(tokens, open, name)
    if (member === undefined) {
      const indent = indentIn(text, tokens, open, step)
      const part = `${JSON.stringify(name)}: ${nested(rest, value, indent, step, line)}`
      return before(text, tokens, open, undefined, part, indent, line)
    }
    const [first, last] = [tokens[member.first], tokens[member.last]]
    if (rest.length > 0 && first?.text === '{') {
      open = member.first
      continue
    }
    const indent = indentOfLine(text, tokens[member.at]?.start ?? 0)
    if (first && last) return text.slice(0, first.start) + nested(rest, value, indent, step, line) + text.slice(last.end)
    return undefined
  }
  return undefined
}

/** Of the members of an object: that of the first one, otherwise one step more than its own line. */
function indentIn(text: string, tokens: readonly Token[], open: number, step: string): string {
  const bracket = tokens[open]
  return (
    indentOf(text, tokens[open + 1]?.depth === (bracket?.depth ?? 0) + 1 ? tokens[open + 1] : undefined) ||
    indentOfLine(text, bracket?.start ?? 0) + step
  )
}

/** A value in the objects that lead to it, each on lines of its own. */
function nested(path: readonly string[], value: unknown, indent: string, step: string, line: string): string {
  const [name, ...rest] = path
  if (name === undefined) return spaced(value)
  return `{${line}${indent}${step}${JSON.stringify(name)}: ${nested(rest, value, indent + step, step, line)}${line}${indent}}`
}

/** Without the last member of that path; undefined if there is none. */
function withoutLast(text: string, path: readonly string[]): string | undefined {
  const parsed = parseJsonc(text)
  if (!parsed.ok || path.length === 0 || valueAt(parsed.value, path) === undefined) return undefined
  const tokens = tokensOf(text)
  let open = 0
  let member: Member | undefined
  for (const name of path) {
    member = memberOf(tokens, member?.first ?? open, name)
    if (member === undefined) return undefined
    open = member.first
  }
  const [start, last] = [tokens[member?.at ?? 0], tokens[member?.last ?? 0]]
  const [previous, next] = [tokens[(member?.at ?? 0) - 1], tokens[(member?.last ?? 0) + 1]]
  if (!start || !last) return undefined
  const hasComma = next?.text === ','
  const kept = cutLine(text, start, hasComma ? next.end : last.end)
  // The comma before it would be the last thing in the object, which plain JSON does not take.
  return !hasComma && previous?.text === ',' ? kept.slice(0, previous.start) + kept.slice(previous.end) : kept
}

/** With its line, where nothing else is in it. */
function cutLine(text: string, start: Token, end: number): string {
  const rest = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end))?.[0]
  if (rest === undefined || !isAlone(text, start)) return text.slice(0, start.start) + text.slice(end).replace(/^[ \t]+(?=\S)/, '')
  return text.slice(0, text.lastIndexOf('\n', start.start - 1) + 1) + text.slice(end + rest.length)
}
