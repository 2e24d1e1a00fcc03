/** Reads `name<arg_key>k</arg_key><arg_value>v</arg_value>`: calls as GLM and Hunyuan write them, including damaged ones. */
import { allowedTypes, recordOf } from '../../schema/validate.ts'
import { matchAt, matchEnd, parseJson, past } from '../../text.ts'
import type { Source, ToolIndex } from '../family.ts'
import { blankEnd, type CallRead, Draft, endsAt, endsClosedAt, isName, parametersOf } from './tags.ts'
import { endOfValue, type Mark, type Markup } from './value.ts'

/** Closing tags of other families that models write here. */
const FOREIGN = ['/invoke', '/function', '/parameter']
const CLOSERS = ['/tool_call', '/arg_value', '/arg_key']
const TWICE = 'a closing tag stood twice'
const OPENED_TWICE = 'an opening tag stood twice'

/** Reads a call from its name on. Returns undefined if there is no name or the text after it does not fit the grammar. */
export function readPairs({ text, tools }: Source, from: number): CallRead | undefined {
  const head = wordsAt(text, from)
  // Tool names may contain spaces.
  const spaced = head.words.length > 1 ? tools.exact(head.words.join(' '))?.name : undefined
  const [name, second] = spaced === undefined ? head.words : [spaced]
  if (name === undefined || (spaced === undefined && (head.words.length > 2 || !isName(name)))) return undefined
  const next = tagAt(text, head.end)
  if (!next) return second === undefined && endsAt(text, head.end) ? new Draft(name).cutOff(text) : undefined
  const closesKey = next.name === '/arg_key'
  if (closesKey && !isNamed(text, name, second, next, tools)) {
    const split = second === undefined ? splitName(name, tools) : { name, key: second }
    return split && readParameters(text, from, next.end, new Draft(split.name), tools, split.key)
  }
  const isValue = next.name === 'arg_value' || next.name === '/arg_value'
  if (second !== undefined || (isValue && !isKeyAfter(text, next))) return undefined
  const draft = new Draft(name)
  draft.damaged(closesKey ? 'the name was closed by another tag' : undefined)
  return readParameters(text, from, next.name === 'tool_sep' || closesKey ? next.end : head.end, draft, tools)
}

/** Returns whether the `</arg_key>` after a name closes the name, so that a key follows rather than a value. */
function isNamed(text: string, name: string, second: string | undefined, close: Tag, tools: ToolIndex): boolean {
  const after = tagAt(text, blankEnd(text, close.end))?.name
  return second === undefined && (after === 'arg_key' || after === '/tool_call') && tools.resolve(name) !== undefined
}

/** Splits a name that runs into a key: the longest tool name after which one of the tool's parameters remains. */
function splitName(joined: string, tools: ToolIndex): { readonly name: string; readonly key: string } | undefined {
  const names = tools.names.filter((name) => joined.length > name.length && joined.startsWith(name))
  const longest = names.sort((a, b) => b.length - a.length)
  const fits = longest.find((name) => parametersOf(name, tools)?.has(joined.slice(name.length)))
  const name = fits ?? longest.find((one) => !parametersOf(one, tools))
  return name === undefined ? undefined : { name, key: joined.slice(name.length) }
}

/** @param first the key of the first value, if its tag came with the name */
function readParameters(text: string, from: number, start: number, draft: Draft, tools: ToolIndex, first?: string): CallRead {
  if (text.slice(from, start).includes('\\n')) draft.damaged('line breaks came escaped')
  if (first !== undefined) draft.damaged('the opening <arg_key> was missing')
  let key: ReturnType<typeof readKey> = first === undefined ? undefined : { key: first, end: start }
  let end = start
  let closed = false
  for (;;) {
    if (key === 'cut') return draft.cutOff(text)
    const value = key && readValue(text, key.end, key.key, draft, tools)
    if (value === 'cut') return draft.cutOff(text)
    if (value === 'none') return draft.unreadable(text.slice(from, key?.end), key?.end ?? end)
    end = value ?? end
    key = undefined
    const at = blankEnd(text, end)
    const tag = tagAt(text, at)
    if (draft.size > 0 && !tag && endsClosedAt(text, at)) return draft.done(text.length, closed)
    if (!tag && endsAt(text, at)) return draft.cutOff(text)
    const isKey = tag !== undefined && tag.name !== 'arg_key' && isKeyAfter(text, tag)
    if (!isKey && tag?.name === '/tool_call') return draft.done(repeatedEnd(text, tag.end, CLOSERS, draft), true)
    if (!isKey && tag && FOREIGN.includes(tag.name)) {
      draft.damaged('the call was closed by another tag')
      closed = true
      end = tag.end
    } else if (!isKey && (tag?.name === '/arg_value' || tag?.name === '/arg_key')) {
      // It may be the end of a value that contains such a tag.
      if (tag.name === '/arg_value') draft.doubted(TWICE)
      else draft.damaged(TWICE)
      end = tag.end
    } else {
      key = readKey(text, at, tag, draft)
      if (!key) return tag?.name === 'arg_key' ? draft.unreadable(text.slice(from, tag.end), tag.end) : draft.done(end, closed)
    }
  }
}

/** Returns the end of repeated tags. */
function repeatedEnd(text: string, from: number, names: readonly string[], draft: Draft, damage = TWICE): number {
  let end = from
  for (let tag = tagAt(text, blankEnd(text, end)); tag && names.includes(tag.name); tag = tagAt(text, blankEnd(text, end))) {
    draft.damaged(damage)
    end = tag.end
  }
  return end
}

function readKey(text: string, from: number, tag: Tag | undefined, draft: Draft): { key: string; end: number } | 'cut' | undefined {
  let at = tag?.end ?? from
  if (tag && tag.name !== 'arg_key' && !isKeyAfter(text, tag)) return undefined
  if (tag?.name === 'arg_key') at = repeatedEnd(text, at, ['arg_key'], draft, OPENED_TWICE)
  const { words, end } = wordsAt(text, at)
  const [key] = words
  const close = tagAt(text, end)
  if (!close && tag?.name === 'arg_key' && words.length < 2 && endsAt(text, end)) return 'cut'
  if (words.length !== 1 || key === undefined || !isName(key) || !close) return undefined
  if (close.name === '/arg_key') {
    if (tag?.name !== 'arg_key') draft.damaged(`the opening <arg_key> was ${tag ? 'another tag' : 'missing'}`)
    return { key, end: repeatedEnd(text, close.end, ['/arg_key'], draft) }
  }
  if (tag?.name !== 'arg_key' || (close.name !== 'arg_value' && tagAt(text, blankEnd(text, close.end))?.name !== 'arg_value'))
    return undefined
  draft.damaged('a key was not closed by its tag')
  return { key, end: close.name === 'arg_value' ? end : close.end }
}

/** A misplaced tag at the end of a value that has no closing tag. */
const STANDS_LAST = /<\/?(?:tool_call|arg_key|arg_value)>\s*$/

/** Adds the value after a key to the draft and returns its end. */
export function readValue(text: string, from: number, key: string, draft: Draft, tools: ToolIndex): number | 'cut' | 'none' {
  const open = typedEnd(text, from)
  const tag = tagAt(text, open)
  if (!tag && endsAt(text, open)) return 'cut'
  const opened = tag?.name === 'arg_value' || (tag !== undefined && standsIn(text, open, tag.end))
  if (tag && !opened) return 'none'
  // Without an opening tag, a value begins immediately or on the next line.
  const start = opened && tag ? tag.end : text.startsWith('\r\n', from) ? from + 2 : text[from] === '\n' ? from + 1 : from
  if (tag?.name !== 'arg_value') draft.damaged(`the opening <arg_value> was ${tag ? 'another tag' : 'missing'}`)
  const found = endOfValue(text, start, PAIR_MARKUP)
  if (!found) return 'cut'
  draft.doubted(found.damage)
  const inside = text.slice(start, found.end)
  const whole = found.next === found.end ? inside.replace(STANDS_LAST, '').replace(/\r?\n[ \t]*$/, '') : inside
  draft.add({ key, text: unescaped(once(whole, draft), key, draft, tools) })
  return found.next
}

/** Removes a repeated opening tag from a value. A quoted tag has its closing tag. */
const once = (text: string, draft: Draft): string =>
  text.includes('</arg_value') ? text : text.slice(repeatedEnd(text, 0, ['arg_value'], draft, OPENED_TWICE))

/** Unescapes JSON that a server escaped a second time, if the tool does not take a string. */
function unescaped(text: string, key: string, draft: Draft, tools: ToolIndex): string {
  if (!/^(?:\s|\\[nrt])*[[{]/.test(text) || !text.includes('\\"')) return text
  const root = tools.resolve(draft.name)?.parameters ?? {}
  const properties = recordOf(root['properties'])
  if (Object.hasOwn(properties, key) && allowedTypes(properties[key], root).has('string')) return text
  if (parseJson(text) !== undefined) return text
  const inner = parseJson(`"${text.replace(/[\n\r\t]/g, (one) => JSON.stringify(one).slice(1, -1))}"`)
  if (typeof inner !== 'string' || parseJson(inner) === undefined) return text
  draft.doubted('a value was escaped twice')
  return inner
}

/** Spaces or attributes in a tag, and the suffix of a checkpoint: `<arg_key >`, `<arg_key:opensource>`. */
const REST = '(?::[\\w-]{1,32})?(?:\\s[^<>]{0,64})?>'
const B = '(?:\\s|\\\\[nrt])*'
/** K2 Horizon has a prefix for all tags, iQuest Coder one for the call tag. */
const PREFIX = '(?:ifm\\||iquestcoder_)?'

const ANY = `<(/?)${PREFIX}(tool_calls|tool_call|tool_sep|arg_key|arg_value|invoke|function|parameter)${REST}`
const TAGS = new RegExp(ANY, 'g')
const TAG = new RegExp(ANY, 'y')
/** K2 Horizon's type tag between key and value. The schema is more reliable. */
const TYPE = `(?:<ifm\\|arg_type>[^<>]{0,64}</ifm\\|arg_type>${B})?`
const TYPED = new RegExp(`${B}${TYPE}`, 'y')
const PAIR = new RegExp(
  `<${PREFIX}arg_key${REST}${B}[^<>]{1,128}</${PREFIX}arg_(?:key|value)${REST}${B}${TYPE}<${PREFIX}arg_value${REST}`,
  'y',
)
const CALL = new RegExp(`<${PREFIX}tool_call${REST}${B}[^\\s<>\\\\]{1,128}${B}<${PREFIX}(?:arg_key|tool_sep)`, 'y')
const BARE_CALL = new RegExp(`<${PREFIX}tool_call${REST}${B}[^\\s<>\\\\]{1,128}${B}</${PREFIX}tool_call${REST}`, 'y')
const GOES_ON = new RegExp(
  `${B}(?:$|</[a-z_:]*$|</?${PREFIX}tool_calls?[:>\\s]|<${PREFIX}arg_key[:>\\s]|</${PREFIX}arg_(?:key|value)[:>\\s]|</(?:invoke|function|parameter)>|(?:<${PREFIX}arg_value${REST}${B})?[\\w.-]{1,64}</${PREFIX}arg_key[:>\\s])`,
  'y',
)
const IS_OVER = new RegExp(`${B}(?:$|</[a-z_:|]*$|</?${PREFIX}tool_calls?[:>\\s])`, 'y')
/** Text that shows that the tag before it was used to open a key. */
const KEY_END = new RegExp(`${B}[\\w.-]{1,64}</${PREFIX}arg_key${REST}`, 'y')
/** A key or a name, up to the tag that ends it. */
const WORDS = /[^<>]{0,300}/y

const PAIR_MARKUP: Markup = {
  next: (text, from) => {
    TAGS.lastIndex = from
    for (let found = TAGS.exec(text); found; found = TAGS.exec(text)) {
      const end = TAGS.lastIndex
      const mark = markOf(text, found, end)
      if (typeof mark === 'object') return mark
      TAGS.lastIndex = mark
    }
    return undefined
  },
  goesOn: (text, at) => matchEnd(GOES_ON, text, at) >= 0,
  isOver: (text, at) => matchEnd(IS_OVER, text, at) >= 0,
}

const KINDS: Readonly<Record<string, Mark['kind']>> = {
  ...{ '/arg_value': 'value-close', '/tool_call': 'call-close', arg_value: 'value' },
  ...{ '/arg_key': 'odd-close', '/invoke': 'odd-close', '/function': 'odd-close', '/parameter': 'odd-close' },
}

/** Returns the mark, or the position at which to continue. */
function markOf(text: string, found: RegExpExecArray, end: number): Mark | number {
  const at = found.index
  const name = `${found[1]}${found[2]}`
  const kind = KINDS[name]
  if (kind) return { kind, at, end }
  const pair = name === 'arg_key' ? matchEnd(PAIR, text, at) : -1
  if (pair >= 0) return { kind: 'parameter', at, end: pair }
  if (name !== 'tool_call') return end
  const bare = past(BARE_CALL, text, at)
  if (bare > at) return bare
  return matchEnd(CALL, text, at) >= 0 ? { kind: 'call', at, end } : end
}

export interface Tag {
  /** `arg_key`, `/arg_key`. */
  readonly name: string
  readonly end: number
}

export function tagAt(text: string, at: number): Tag | undefined {
  const found = text[at] === '<' ? matchAt(TAG, text, at) : undefined
  return found && { name: `${found[1]}${found[2]}`, end: at + found[0].length }
}

/** Returns the words up to a tag, split at white space, real or escaped. */
function wordsAt(text: string, at: number): { readonly words: readonly string[]; readonly end: number } {
  const found = matchAt(WORDS, text, at)?.[0] ?? ''
  return { words: found.split(/(?:\s|\\[nrt])+/).filter((word) => word !== ''), end: at + found.length }
}

/** Returns the position after white space and a value's type. */
const typedEnd = (text: string, at: number): number => past(TYPED, text, at)

/** Returns whether the tag is in the place of a tag that opens a key. */
const isKeyAfter = (text: string, tag: Tag): boolean => matchEnd(KEY_END, text, tag.end) >= 0

/** Returns whether a tag is in the place of one that opens a value: the next tag ends a value. */
function standsIn(text: string, at: number, end: number): boolean {
  if (Math.max(matchEnd(PAIR, text, at), matchEnd(CALL, text, at)) >= 0) return false
  const mark = PAIR_MARKUP.next(text, end)
  return mark?.kind === 'value-close' && PAIR_MARKUP.goesOn(text, mark.end)
}
