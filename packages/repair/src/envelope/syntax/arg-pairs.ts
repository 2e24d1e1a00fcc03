/** `name<arg_key>k</arg_key><arg_value>v</arg_value>`: the call as GLM and Hunyuan write it, and as it arrives damaged. */
import type { Source, ToolIndex } from '../family.ts'
import { isKeyAfter, type Tag, tagAt, wordsAt } from './arg-tags.ts'
import { readValue } from './arg-value.ts'
import { blankEnd, type CallRead, Draft, endsAt, endsClosedAt, isName, parametersOf } from './tags.ts'

/** Of other families, written here to close something. */
const FOREIGN = ['/invoke', '/function', '/parameter']

/** Reads a call from its name on. Undefined: there is no name, or nothing of the grammar after it. */
export function readPairs({ text, tools }: Source, from: number): CallRead | undefined {
  const head = wordsAt(text, from)
  // A tool may have spaces in its name.
  const spaced = head.words.length > 1 ? tools.exact(head.words.join(' '))?.name : undefined
  const [name, second] = spaced === undefined ? head.words : [spaced]
  if (name === undefined || (spaced === undefined && (head.words.length > 2 || !isName(name)))) return undefined
  const next = tagAt(text, head.end)
  if (!next) return second === undefined && endsAt(text, head.end) ? new Draft(name).cutOff(text) : undefined
  const runTogether = next.name === '/arg_key' && !isNamed(text, name, second, next, tools)
  if (!runTogether) {
    const isValue = next.name === 'arg_value' || next.name === '/arg_value'
    if (second !== undefined || (isValue && !isKeyAfter(text, next))) return undefined
    const draft = new Draft(name)
    if (next.name === '/arg_key') draft.damaged('the name was closed by another tag')
    return readParameters(text, from, next.name === 'tool_sep' || next.name === '/arg_key' ? next.end : head.end, draft, tools)
  }
  const split = second === undefined ? splitName(name, tools) : { name, key: second }
  if (!split) return undefined
  const draft = new Draft(split.name)
  draft.damaged('the opening <arg_key> was missing')
  return readParameters(text, from, next.end, draft, tools, split.key)
}

/** The `</arg_key>` after a name closes the name: a key comes after it, no value. */
function isNamed(text: string, name: string, second: string | undefined, close: Tag, tools: ToolIndex): boolean {
  const after = tagAt(text, blankEnd(text, close.end))?.name
  return second === undefined && (after === 'arg_key' || after === '/tool_call') && tools.resolve(name) !== undefined
}

/** Name and key run together: the longest tool name that leaves one of the tool's parameters. */
function splitName(joined: string, tools: ToolIndex): { readonly name: string; readonly key: string } | undefined {
  const names = tools.names.filter((name) => joined.length > name.length && joined.startsWith(name))
  const longest = names.sort((a, b) => b.length - a.length)
  const fits = longest.find((name) => parametersOf(name, tools)?.has(joined.slice(name.length)))
  const name = fits ?? longest.find((one) => !parametersOf(one, tools))
  return name === undefined ? undefined : { name, key: joined.slice(name.length) }
}

function readParameters(text: string, from: number, start: number, draft: Draft, tools: ToolIndex, first?: string): CallRead {
  if (text.slice(from, start).includes('\\n')) draft.damaged('line breaks came escaped')
  let at = start
  if (first !== undefined) {
    const value = readValue(text, at, first, draft, tools)
    if (value === 'cut') return draft.cutOff(text)
    if (value === 'none') return draft.unreadable(text.slice(from, at), at)
    at = value
  }
  let end = at
  let closed = false
  for (;;) {
    at = blankEnd(text, end)
    const tag = tagAt(text, at)
    if (draft.size > 0 && !tag && endsClosedAt(text, at)) return draft.done(text.length, closed)
    if (!tag && endsAt(text, at)) return draft.cutOff(text)
    const isKey = tag !== undefined && tag.name !== 'arg_key' && isKeyAfter(text, tag)
    if (!isKey && tag?.name === '/tool_call') return draft.done(closersEnd(text, tag.end, draft), true)
    if (!isKey && tag && FOREIGN.includes(tag.name)) {
      draft.damaged('the call was closed by another tag')
      closed = true
      end = tag.end
      continue
    }
    if (!isKey && (tag?.name === '/arg_value' || tag?.name === '/arg_key')) {
      // It may be the end of what was written as the value.
      if (tag.name === '/arg_value') draft.doubted('a closing tag stood twice')
      else draft.damaged('a closing tag stood twice')
      end = tag.end
      continue
    }
    const key = readKey(text, at, tag, draft)
    if (key === 'cut') return draft.cutOff(text)
    if (!key) return tag?.name === 'arg_key' ? draft.unreadable(text.slice(from, tag.end), tag.end) : draft.done(end, closed)
    const value = readValue(text, key.end, key.key, draft, tools)
    if (value === 'cut') return draft.cutOff(text)
    if (value === 'none') return draft.unreadable(text.slice(from, key.end), key.end)
    end = value
  }
}

/** Closing tags that stand twice at the end of the call. */
function closersEnd(text: string, from: number, draft: Draft): number {
  let end = from
  for (;;) {
    const tag = tagAt(text, blankEnd(text, end))
    if (tag?.name !== '/tool_call' && tag?.name !== '/arg_value' && tag?.name !== '/arg_key') return end
    draft.damaged('a closing tag stood twice')
    end = tag.end
  }
}

function readKey(text: string, from: number, tag: Tag | undefined, draft: Draft): { key: string; end: number } | 'cut' | undefined {
  let at = tag?.end ?? from
  if (tag && tag.name !== 'arg_key' && !isKeyAfter(text, tag)) return undefined
  for (let again = tagAt(text, at); tag?.name === 'arg_key' && again?.name === 'arg_key'; again = tagAt(text, at)) {
    draft.damaged('an opening tag stood twice')
    at = again.end
  }
  const { words, end } = wordsAt(text, at)
  const [key] = words
  const close = tagAt(text, end)
  if (!close && tag?.name === 'arg_key' && words.length < 2 && endsAt(text, end)) return 'cut'
  if (words.length !== 1 || key === undefined || !isName(key) || !close) return undefined
  if (close.name === '/arg_key') {
    if (tag?.name !== 'arg_key') draft.damaged(`the opening <arg_key> was ${tag ? 'another tag' : 'missing'}`)
    let after = close.end
    for (let again = tagAt(text, after); again?.name === '/arg_key'; again = tagAt(text, after)) {
      draft.damaged('a closing tag stood twice')
      after = again.end
    }
    return { key, end: after }
  }
  if (tag?.name !== 'arg_key' || (close.name !== 'arg_value' && tagAt(text, blankEnd(text, close.end))?.name !== 'arg_value'))
    return undefined
  draft.damaged('a key was not closed by its tag')
  return { key, end: close.name === 'arg_value' ? end : close.end }
}
