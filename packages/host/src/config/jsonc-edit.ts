/** Sets, removes or inserts a value in JSON with comments, and leaves every other byte unchanged. */
import { isDeepStrictEqual } from 'node:util'
import { type Node, stripComments } from 'jsonc-parser'
import { isObject } from '../common/is-object.ts'
import { parseJsonc, treeOf } from './jsonc.ts'
import { withoutValue, withValue } from './value-at.ts'

/** Sets a value. @returns undefined if the text is not an object, or if the rest of the text would have to change */
export function setIn(text: string, path: readonly string[], value: unknown): string | undefined {
  const before = objectIn(text)
  return (
    before &&
    checked(
      put(text, path, () => spaced(value)),
      withValue(before, path, value),
    )
  )
}

/** Removes a key. @returns undefined as in {@link setIn}; the text unchanged if the key does not exist */
export function unsetIn(text: string, path: readonly string[]): string | undefined {
  const before = objectIn(text)
  if (!before) return undefined
  let changed = text
  // A key may occur twice; the last one would count.
  for (let at = found(changed, path); at; at = found(changed, path)) changed = without(changed, at.parent, at.member)
  return checked(changed, withoutValue(before, path))
}

/**
 * Inserts an entry into a list.
 * @param key of the top-level object; the list is created if needed
 * @param index position to insert at. Default: at the end
 * @returns undefined as in {@link setIn}
 */
export function insertInto(text: string, key: string, entry: unknown, index?: number): string | undefined {
  const before = objectIn(text)
  const list = before?.[key] ?? []
  if (!before || !Array.isArray(list)) return undefined
  const at = index ?? list.length
  const node = memberOf(treeOf(text).root, key)?.children?.[1]
  const line = lineEnd(text)
  const changed = node
    ? insert(text, node, at, () => spaced(entry))
    : put(text, [key], (indent, step) => `[${line}${indent}${step}${spaced(entry)}${line}${indent}]`)
  return checked(changed, { ...before, [key]: list.toSpliced(at, 0, entry) })
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const parsed = parseJsonc(text)
  return parsed.ok && isObject(parsed.value) ? parsed.value : undefined
}

function checked(text: string | undefined, expected: unknown): string | undefined {
  const after = text === undefined ? undefined : parseJsonc(text)
  return after?.ok && isDeepStrictEqual(after.value, expected) ? text : undefined
}

const memberOf = (object: Node | undefined, name: string): Node | undefined =>
  object?.type === 'object' ? object.children?.findLast(({ children: [key] = [] }) => key?.value === name) : undefined

type Render = (indent: string, step: string) => string

/** Puts a value at a path: replaces an existing one, otherwise appends it to the innermost object that exists. */
function put(text: string, path: readonly string[], value: Render): string | undefined {
  const { root } = treeOf(text)
  const [line, step] = [lineEnd(text), stepIn(text, root)]
  /** Renders a value inside the objects that lead to it, each on its own lines. */
  const nested = ([name, ...rest]: readonly string[], indent: string): string =>
    name === undefined
      ? value(indent, step)
      : `{${line}${indent}${step}${JSON.stringify(name)}: ${nested(rest, indent + step)}${line}${indent}}`
  if (!root) return `${text === '' || text.endsWith('\n') ? text : text + line}${nested(path, '')}${line}`
  let object = root
  for (const [depth, name] of path.entries()) {
    const rest = path.slice(depth + 1)
    const member = memberOf(object, name)
    const inner = member?.children?.[1]
    if (!member || !inner) return insert(text, object, undefined, (indent) => `${JSON.stringify(name)}: ${nested(rest, indent)}`)
    if (rest.length === 0 || inner.type !== 'object')
      return text.slice(0, inner.offset) + nested(rest, indentOfLine(text, member.offset)) + text.slice(endOf(inner))
    object = inner
  }
  return undefined
}

/** Inserts a part before a child of an object or a list, or at the end. */
function insert(text: string, parent: Node, index: number | undefined, part: (indent: string) => string): string {
  const { children = [] } = parent
  const line = lineEnd(text)
  const indent = (children[0] && indentIfAlone(text, children[0])) || indentOfLine(text, parent.offset) + stepIn(text, treeOf(text).root)
  const next = children[index ?? children.length]
  if (next) return `${text.slice(0, next.offset)}${part(indent)},${isAlone(text, next) ? line + indent : ' '}${text.slice(next.offset)}`
  const last = children.at(-1)
  const close = endOf(parent) - 1
  const comma = last && commaAfter(text, endOf(last))
  const end = comma ?? (last ? endOf(last) : parent.offset + 1)
  const tail = text.slice(end, close)
  // Keep a comment after the last entry where it is.
  const stays = tail.search(/\s*$/)
  const outer = tail.includes('\n') ? '' : line + indentOfLine(text, parent.offset)
  const before = `${text.slice(0, end)}${last && comma === undefined ? ',' : ''}${tail.slice(0, stays)}`
  return `${before}${line}${indent}${part(indent)}${tail.slice(stays)}${outer}${text.slice(close)}`
}

/** Finds the last member at a path, and the object that contains it. */
function found(text: string, path: readonly string[]): { readonly parent: Node; readonly member: Node } | undefined {
  let [parent, member]: (Node | undefined)[] = [undefined, undefined]
  let inner = treeOf(text).root
  for (const name of path) {
    parent = inner
    member = memberOf(parent, name)
    inner = member?.children?.[1]
  }
  return parent && member && inner ? { parent, member } : undefined
}

/** Removes a member, and its line if nothing else is on it. */
function without(text: string, { children = [] }: Node, member: Node): string {
  const comma = commaAfter(text, endOf(member))
  const end = comma ?? endOf(member)
  const rest = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end))?.[0]
  const isLine = rest !== undefined && isAlone(text, member)
  const start = isLine ? text.lastIndexOf('\n', member.offset - 1) + 1 : member.offset
  const kept = text.slice(0, start) + (isLine ? text.slice(end + rest.length) : text.slice(end).replace(/^[ \t]+(?=\S)/, ''))
  // Otherwise the comma before it would be the last thing in the object.
  const previous = comma === undefined ? children[children.indexOf(member) - 1] : undefined
  const before = previous && commaAfter(text, endOf(previous))
  return before === undefined ? kept : kept.slice(0, before - 1) + kept.slice(before)
}

const endOf = ({ offset, length }: Node): number => offset + length

/** Returns the offset after the following comma, skipping comments; undefined if there is no comma. */
function commaAfter(text: string, at: number): number | undefined {
  const [space] = /^\s*,/.exec(stripComments(text.slice(at), ' ')) ?? []
  return space === undefined ? undefined : at + space.length
}

const stepIn = (text: string, root: Node | undefined): string => (root?.children?.[0] && indentIfAlone(text, root.children[0])) || '  '
const indentOfLine = (text: string, at: number): string => /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1))?.[0] ?? ''
const isAlone = (text: string, { offset }: Node): boolean => /^[ \t]*$/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))
const indentIfAlone = (text: string, node: Node): string => (isAlone(text, node) ? indentOfLine(text, node.offset) : '')
const lineEnd = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** Formats JSON on one line, spaced as people write it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${spaced(one)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}
