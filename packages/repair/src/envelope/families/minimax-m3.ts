/**
 * MiniMax M3: elements with any name, each tag after a token, `]<]minimax[>[<invoke name="f">]<]minimax[>[<key>v]<]minimax[>[</key>`.
 * Nested elements are objects or lists.
 */
import { matchAt, past, skip } from '../../text.ts'
import type { Family, Source } from '../family.ts'
import { blockOf, type CallRead, Draft, endsAt } from '../syntax/tags.ts'

const TOKEN = ']<]minimax[>['
const tag = (source: string): RegExp => new RegExp(String.raw`\]<\]minimax\[>\[<${source}>`, 'y')
const LIST = tag('(/?)tool_call')
const INVOKE = tag(String.raw`invoke\s+name="([^"<>]{1,128})"\s*`)
const INVOKE_END = tag('/invoke')
const OPEN = tag(String.raw`([A-Za-z_][^<>/\s]{0,127})`)
const CLOSE = tag('/([^<>]{1,128})')
const DEPTH = 50

type Value = string | readonly Value[] | { readonly [key: string]: Value }
type Read = { readonly value: Value; readonly end: number } | 'cut' | 'broken'

export const minimaxM3: Family = {
  id: 'minimax-m3',
  openers: [`${TOKEN}<tool_call>`, `${TOKEN}<invoke `],
  read(source, from) {
    const { text } = source
    const calls: CallRead[] = []
    for (let end = past(LIST, text, from); ; ) {
      const next = skip(text, end)
      const head = matchAt(INVOKE, text, next)
      const close = matchAt(LIST, text, next)
      if (!head?.[1]) return close?.[1] ? blockOf(calls, next + close[0].length, true) : blockOf(calls, end, false)
      const call = readCall(source, next + head[0].length, head[1])
      calls.push(call)
      end = call.end
    }
  },
}

function readCall(source: Source, from: number, name: string): CallRead {
  const { text } = source
  const draft = new Draft(name)
  for (let at = skip(text, from); ; at = skip(text, at)) {
    const close = past(INVOKE_END, text, at)
    if (close > at) return draft.done(close, true)
    const [whole = '', key] = matchAt(OPEN, text, at) ?? []
    if (key === undefined && endsAt(text, at)) return draft.cutOff(text)
    const read = key === undefined ? 'broken' : readValue(source, at + whole.length, key, 0)
    if (read === 'cut') return draft.cutOff(text)
    if (key === undefined || read === 'broken') return draft.unreadable(text.slice(from, at), at)
    const { value } = read
    // Nested texts are typed by the schema, as those at the top level are.
    draft.add(typeof value === 'string' ? { key, text: value } : { key, text: JSON.stringify(value), as: 'json' })
    at = read.end
  }
}

/** Reads the value of the element `key` whose opening tag ends at `from`. */
function readValue(source: Source, from: number, key: string, depth: number): Read {
  const { text } = source
  const children: [string, Value][] = []
  for (let at = from; ; ) {
    const token = source.find(TOKEN, at)
    if (token === -1) return 'cut'
    const between = text.slice(at, token)
    const isMixed = between.trim() !== ''
    const close = matchAt(CLOSE, text, token)
    if (close && (close[1] !== key || (children.length > 0 && isMixed))) return 'broken'
    if (close) return { value: children.length > 0 ? grouped(children) : between, end: token + close[0].length }
    const [whole = '', child] = matchAt(OPEN, text, token) ?? []
    if (child === undefined && token + TOKEN.length >= text.length) return 'cut'
    if (child === undefined || isMixed || depth > DEPTH) return 'broken'
    const read = readValue(source, token + whole.length, child, depth + 1)
    if (typeof read === 'string') return read
    children.push([child, read.value])
    at = read.end
  }
}

/** Groups children: `<item>`s form a list, and a repeated name gets a list of its values. */
function grouped(children: readonly (readonly [string, Value])[]): Value {
  if (children.every(([name]) => name === 'item')) return children.map(([, value]) => value)
  const groups = Object.entries(Object.groupBy(children, ([name]) => name))
  return Object.fromEntries(
    groups.map(([name, group = []]) => [name, group.length > 1 ? group.map(([, value]) => value) : (group[0]?.[1] as Value)]),
  )
}
