/** The tags around keys and values: `<arg_key>`, `<arg_value>`, and what they tell of a value's end. */
import { matchAt } from './tags.ts'
import type { Mark, Markup } from './value.ts'

/** Spaces or attributes in a tag, and the suffix of a checkpoint: `<arg_key >`, `<arg_key:opensource>`. */
const REST = '(?::[\\w-]{1,32})?(?:\\s[^<>]{0,64})?>'
const B = '(?:\\s|\\\\[nrt])*'
/** K2 Horizon has a prefix for all of them, iQuest Coder one for the call. */
const PREFIX = '(?:ifm\\||iquestcoder_)?'
const tag = (names: string): RegExp => new RegExp(`<(/?)${PREFIX}(${names})${REST}`, 'y')

const TAGS = new RegExp(`<(/?)${PREFIX}(tool_call|arg_key|arg_value)${REST}|<(/)(invoke|function|parameter)>`, 'g')
const ANY = tag('tool_calls|tool_call|tool_sep|arg_key|arg_value|invoke|function|parameter')
/** Of K2 Horizon, between key and value: the schema knows better. */
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
/** What tells that a tag before it stands where a key should be opened. */
const KEY_END = new RegExp(`${B}[\\w.-]{1,64}</${PREFIX}arg_key${REST}`, 'y')
/** A key, or a name, up to the tag that ends it. */
const WORDS = /[^<>]{0,300}/y

export const PAIR_MARKUP: Markup = {
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
  goesOn: (text, at) => matchAt(GOES_ON, text, at) !== undefined,
  isOver: (text, at) => matchAt(IS_OVER, text, at) !== undefined,
}

/** The mark, or where to look on. */
function markOf(text: string, found: RegExpExecArray, end: number): Mark | number {
  const at = found.index
  const name = found[3] ? '/foreign' : `${found[1]}${found[2]}`
  if (name === '/arg_value') return { kind: 'value-close', at, end }
  if (name === '/arg_key' || name === '/foreign') return { kind: 'odd-close', at, end }
  if (name === '/tool_call') return { kind: 'call-close', at, end }
  if (name === 'arg_value') return { kind: 'value', at, end }
  if (name === 'arg_key') {
    const pair = matchAt(PAIR, text, at)
    return pair ? { kind: 'parameter', at, end: at + pair[0].length } : end
  }
  const bare = matchAt(BARE_CALL, text, at)
  if (bare) return at + bare[0].length
  return matchAt(CALL, text, at) ? { kind: 'call', at, end } : end
}

export interface Tag {
  /** `arg_key`, `/arg_key`. */
  readonly name: string
  readonly end: number
}

export function tagAt(text: string, at: number): Tag | undefined {
  const found = text[at] === '<' ? matchAt(ANY, text, at) : undefined
  return found && { name: `${found[1]}${found[2]}`, end: at + found[0].length }
}

/** Words up to a tag, split where white space is, real or escaped. */
export function wordsAt(text: string, at: number): { readonly words: readonly string[]; readonly end: number } {
  const found = matchAt(WORDS, text, at)?.[0] ?? ''
  return { words: found.split(/(?:\s|\\[nrt])+/).filter((word) => word !== ''), end: at + found.length }
}

/** Behind white space, and the type of a value that is said before it. */
export const typedEnd = (text: string, at: number): number => at + (matchAt(TYPED, text, at)?.[0].length ?? 0)

/** The tag stands where a key should be opened. */
export const isKeyAfter = (text: string, tag: Tag): boolean => matchAt(KEY_END, text, tag.end) !== undefined

/** A tag stands where a value should be opened: after it comes the end of a value, and no other tag before that. */
export function standsIn(text: string, at: number, end: number): boolean {
  if (matchAt(PAIR, text, at) || matchAt(CALL, text, at)) return false
  const mark = PAIR_MARKUP.next(text, end)
  return mark?.kind === 'value-close' && PAIR_MARKUP.goesOn(text, mark.end)
}
