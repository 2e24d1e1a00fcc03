/** MiniMax M3: elements of any name, each tag behind a token, `]<]minimax[>[<invoke name="f">]<]minimax[>[<key>v]<]minimax[>[</key>`. What is nested is an object or a list. */
import type { Family, MarkupCall, Source, TextEntry } from '../family.ts'
import { skip } from '../syntax/json-extent.ts'
import { type CallRead, Draft, endsAt, matchAt } from '../syntax/tags.ts'

const TOKEN = ']<]minimax[>['
const at = (tag: string): RegExp => new RegExp(String.raw`\]<\]minimax\[>\[<${tag}>`, 'y')
const LIST = at('tool_call')
const LIST_END = at('/tool_call')
const INVOKE = at(String.raw`invoke\s+name="([^"<>]{1,128})"\s*`)
const INVOKE_END = at('/invoke')
const OPEN = at(String.raw`([A-Za-z_][^<>/\s]{0,127})`)
const CLOSE = at('/([^<>]{1,128})')
const DEPTH = 50

type Value = string | readonly Value[] | { readonly [key: string]: Value }
type Read = { readonly value: Value; readonly end: number } | 'cut' | 'broken'

export const minimaxM3: Family = {
  id: 'minimax-m3',
  openers: [`${TOKEN}<tool_call>`, `${TOKEN}<invoke `],
  strong: true,
  read(source, from) {
    const { text } = source
    const calls: MarkupCall[] = []
    let end = from + (matchAt(LIST, text, from)?.[0].length ?? 0)
    for (;;) {
      const next = skip(text, end)
      const head = matchAt(INVOKE, text, next)
      if (!head?.[1]) break
      const { call, end: after } = readCall(source, next + head[0].length, head[1])
      calls.push(call)
      end = after
    }
    if (calls.length === 0) return undefined
    const next = skip(text, end)
    const close = matchAt(LIST_END, text, next)
    return { calls, end: close ? next + close[0].length : end, complete: close !== undefined }
  },
}

function readCall(source: Source, from: number, name: string): CallRead {
  const { text } = source
  const draft = new Draft(name)
  for (let position = skip(text, from); ; position = skip(text, position)) {
    const close = matchAt(INVOKE_END, text, position)
    if (close) return draft.done(position + close[0].length, true)
    const open = matchAt(OPEN, text, position)
    const key = open?.[1]
    if (!open || key === undefined)
      return endsAt(text, position) ? draft.cutOff(text) : draft.unreadable(text.slice(from, position), position)
    const read = readValue(source, position + open[0].length, key, 0)
    if (read === 'cut') return draft.cutOff(text)
    if (read === 'broken') return draft.unreadable(text.slice(from, position), position)
    draft.add(entry(key, read.value))
    position = read.end
  }
}

/** Texts in what is nested become what the schema says, as those at the top do. */
const entry = (key: string, value: Value): TextEntry =>
  typeof value === 'string' ? { key, text: value } : { key, text: JSON.stringify(value), as: 'json' }

/** The value of the element `key` whose opening tag ends at `from`. */
function readValue(source: Source, from: number, key: string, depth: number): Read {
  const { text } = source
  const children: [string, Value][] = []
  for (let position = from; ; ) {
    const token = source.find(TOKEN, position)
    if (token === -1) return 'cut'
    const between = text.slice(position, token)
    const close = matchAt(CLOSE, text, token)
    if (close) {
      if (close[1] !== key || (children.length > 0 && between.trim() !== '')) return 'broken'
      return { value: children.length > 0 ? grouped(children) : between, end: token + close[0].length }
    }
    const open = matchAt(OPEN, text, token)
    const child = open?.[1]
    if (!open || child === undefined) return token + TOKEN.length >= text.length ? 'cut' : 'broken'
    if (between.trim() !== '' || depth > DEPTH) return 'broken'
    const read = readValue(source, token + open[0].length, child, depth + 1)
    if (typeof read === 'string') return read
    children.push([child, read.value])
    position = read.end
  }
}

/** `<item>`s are a list; a name that comes again has a list of its values. */
function grouped(children: readonly (readonly [string, Value])[]): Value {
  if (children.every(([name]) => name === 'item')) return children.map(([, value]) => value)
  const names = [...new Set(children.map(([name]) => name))]
  const values = (name: string): readonly Value[] => children.filter(([one]) => one === name).map(([, value]) => value)
  return Object.fromEntries(names.map((name) => [name, values(name).length > 1 ? values(name) : (values(name)[0] as Value)]))
}
