/**
 * Reads calls written as elements: `<function=f><parameter=k>v</parameter></function>`, `<invoke name="f"><parameter
 * name="k">v</parameter></invoke>`.
 */
import { matchAt, matchEnd } from '../../text.ts'
import type { Block, Source } from '../family.ts'
import { blankEnd, blockOf, type CallRead, Draft, endsAt, endsClosedAt, isName, parametersOf, withDamage } from './tags.ts'
import { endOfValue, type Mark, type Markup } from './value.ts'

const CHILD = /<([A-Za-z_][\w.-]{0,63})>/y

/** Creates a family's `read`. */
export function elementReader(spelling: Spelling): (source: Source, at: number) => Block | undefined {
  const grammar = grammarOf(spelling)
  return (source, at) => readBlock(source, at, grammar)
}

function readBlock(source: Source, at: number, grammar: Grammar): Block | undefined {
  const { text } = source
  const first = grammar.tagAt(text, at)
  if (!first || first.closing || first.element === 'parameter') return undefined
  const calls: CallRead[] = []
  const wrapped = first.element === 'wrapper'
  let end = wrapped ? first.end : at
  // Up to two tags around a call are recognised. More are not, so that a text of nothing but tags takes linear time.
  const inner = wrapped ? grammar.tagAt(text, blankEnd(text, end)) : undefined
  if (inner?.element === 'wrapper' && !inner.closing) end = inner.end
  const { bare, tokens } = grammar
  const block = (to: number, complete: boolean): Block | undefined =>
    blockOf(wrapped || bare || tokens ? calls : calls.map((read) => withDamage(read, 'the tag around the call was missing')), to, complete)
  for (;;) {
    const next = blankEnd(text, end)
    let tag = grammar.tagAt(text, next)
    if (tokens && wrapped && calls.length === 0 && endsAt(text, next)) return { calls: [], end: text.length, complete: false }
    if (tag?.element === 'wrapper' && calls.length > 0) {
      const complete = tag.closing
      for (; tag?.element === 'wrapper' && tag.closing; tag = grammar.tagAt(text, blankEnd(text, end))) end = tag.end
      return block(end, complete)
    }
    const call = tag?.element === 'call' && !tag.closing ? readCall(source, tag, grammar) : undefined
    if (!call) return block(end, tokens ? calls.at(-1)?.closed === true : !wrapped && calls.every((one) => one.closed))
    calls.push(call)
    end = call.end
  }
}

/** Returns undefined if the text that follows is not markup, for example if prose mentions the tag. */
function readCall({ text, tools, find }: Source, opening: Tag, grammar: Grammar): CallRead | undefined {
  const { label: name } = opening
  if (name === undefined) return undefined
  const known = parametersOf(name, tools)
  const draft = new Draft(name, known?.has('arguments') ? undefined : 'arguments')
  if (opening.empty) return draft.done(opening.end, true)
  let at = opening.end
  // Twice is a slip. A text made only of these must not be read to its end from each of them.
  let twice = false
  let last: Tag | undefined
  const unreadable = (end: number): CallRead => draft.unreadable(text.slice(opening.at, end), end)

  /** Handles a value without a key in the call of a known tool: it cannot be run, but is not prose either. */
  function lost(): CallRead | undefined {
    if (grammar.tokens) return unreadable(at)
    const mark = known && text[at] !== '{' ? grammar.next(text, at) : undefined
    return mark?.kind === 'value-close' ? unreadable(mark.end) : undefined
  }

  /** Adds a value to the draft. Returns its end, or undefined if it has none. */
  function parameter(tag: Tag, key: string): number | undefined {
    const found: ReturnType<typeof endOfValue> = tag.empty ? { end: tag.end, next: tag.end } : endOfValue(text, tag.end, grammar)
    if (!found) return undefined
    const missing = !tag.empty && found.next === found.end
    draft.doubted(found.damage)
    // An unknown key, and a value with a closing tag too many: both are quoted in the previous value.
    const isQuoted = known && !known.has(key) && !missing && found.damage !== undefined
    if (isQuoted && last?.label !== undefined && known.has(last.label)) {
      draft.extend(last.label, withoutLines(text.slice(last.end, found.end), grammar))
      return found.next
    }
    const inside = text.slice(tag.end, found.end)
    // Includes the line breaks around the missing tag.
    const bare = missing ? inside.replace(grammar.last, '').replace(grammar.lines ? /(?:\r?\n[ \t]*){1,2}$/ : /\r?\n[ \t]*$/, '') : inside
    const isShort = SHORT.test(text.slice(tag.at, tag.end))
    const says = grammar.type.exec(tag.rest)?.[1]
    const as = says !== undefined && { as: /^(?:true|string)$/i.test(says) ? ('text' as const) : ('json' as const) }
    draft.add({ key, text: isShort ? bare.replace(CDATA, '$1') : withoutLines(bare, grammar), ...as })
    last = tag
    return found.next
  }

  /** Reads `<key>value</key>`, which ends at a closing tag followed by markup. */
  function child(key: string): number | undefined {
    const start = at + key.length + 2
    const closing = `</${key}>`
    for (let end = find(closing, start); end >= 0; end = find(closing, end + 1)) {
      const after = end + closing.length
      const sibling = matchAt(CHILD, text, blankEnd(text, after))?.[1]
      const goesOn = sibling !== undefined && (known?.has(sibling) ?? true)
      if (!goesOn && !grammar.isOver(text, after)) continue
      draft.add({ key, text: text.slice(start, end) })
      return after
    }
    return undefined
  }

  for (;;) {
    at = blankEnd(text, at)
    const tag = grammar.tagAt(text, at)
    if (!tag && draft.size > 0 && endsClosedAt(text, at)) return draft.done(text.length, false)
    if (!tag && endsAt(text, at)) return draft.cutOff(text)
    const key = tag ? tag.label : grammar.children ? matchAt(CHILD, text, at)?.[1] : undefined
    if (!tag && key === undefined) return draft.size > 0 ? draft.done(at, false) : lost()
    if (tag?.element === 'parameter' && tag.closing) {
      if (draft.size === 0) return grammar.tokens && unreadable(tag.end)
      // It may be the end of a value that contains such a tag.
      draft.doubted('a closing tag stood twice')
      at = tag.end
    } else if (tag?.element === 'call' && !tag.closing && draft.size === 0 && !twice && key === name) {
      twice = true
      draft.damaged('an opening tag stood twice')
      at = tag.end
    } else if (tag && tag.element !== 'parameter') {
      return tag.element === 'call' && tag.closing ? draft.done(tag.end, true) : draft.done(at, false)
    } else {
      if (key === undefined) return unreadable(tag?.end ?? at)
      const end = tag ? parameter(tag, key) : child(key)
      if (end === undefined) return draft.cutOff(text)
      at = end
    }
  }
}

/** MiniCPM's spelling: all white space belongs to the value, which may be in a CDATA section. */
const SHORT = /^<\w*param(?!eter)/
const CDATA = /^\s*<!\[CDATA\[([\s\S]*)\]\]>\s*$/

/** Removes one line break from either end of the value; a CRLF only if both ends have one. */
function withoutLines(text: string, { lines }: Grammar): string {
  if (!lines || (lines === 'both' && !/^\r?\n[\s\S]*\n$/.test(text))) return text
  if (text.startsWith('\r\n')) return text.slice(2).replace(/\r?\n$/, '')
  return (text.startsWith('\n') ? text.slice(1) : text).replace(/\n$/, '')
}

/** How a family spells its elements. */
export interface Spelling {
  /**
   * The start of a tag, as a regular expression with the groups `close`, `call` and `parameter`. A tag with neither of the last two is
   * a wrapper around calls.
   */
  readonly head: string
  /** The rest of a tag, with the group `rest`. */
  readonly tail: string
  /** Returns the name of a call or a parameter from the rest of its tag. */
  readonly label: (rest: string, element: string) => string | undefined
  /** Matches the type in the rest of a tag that marks a value as text (`true`, `string`); otherwise it is JSON. */
  readonly type: RegExp
  /** Its tags are tokens: text between them is not prose, and a call needs no wrapper. */
  readonly tokens?: true
  /** One line break after a value's opening tag and one before its closing tag belong to the markup; `both`: only if both are present. */
  readonly lines?: boolean | 'both'
  /** Elements with any name inside a call are parameters: `<invoke name="bash"><command>ls</command></invoke>`. */
  readonly children?: boolean
  /** A call without a wrapper is canonical. */
  readonly bare?: boolean
}

/**
 * Describes the spelling `<function=f>`, `<invoke name="f">`, `<parameter=k>`.
 * @param call the element name of a call
 * @param wrappers names of the elements around calls, as a regular expression: `tool_call|function_calls`
 * @param prefix prefix of each of these names, as a regular expression: `(?:seed:)?`
 */
export const spelled = (call: string, wrappers: string, prefix: string, more?: Partial<Spelling>): Spelling => ({
  head: `<(?<close>/?)${prefix}(?:(?<call>${call})|(?<parameter>param(?:eter)?)|(?:${wrappers}))(?!(?!name=)[\\w-])`,
  tail: '(?<rest>(?:(?:[\\s=Ġ]|name=)[^<>]{0,300}|/)?)>',
  label: labelOf,
  type: /\sstring\s*=\s*["']?(true|false)\b/i,
  ...more,
})

export interface Tag {
  readonly element: 'call' | 'parameter' | 'wrapper'
  readonly closing: boolean
  /** Whether it is self-closing: `<invoke name="f"/>`. */
  readonly empty: boolean
  /** The name of its call or parameter. */
  readonly label: string | undefined
  /** The text after the element name. */
  readonly rest: string
  readonly at: number
  readonly end: number
}

interface Grammar extends Spelling, Markup {
  readonly tagAt: (text: string, at: number) => Tag | undefined
  /** Matches a misplaced closing tag at the end of a value that has no closing tag of its own. */
  readonly last: RegExp
}

/** A closing tag cut off by the end of the text. */
const TORN = /<[/|][^\s<>]*$/y

/** Compiles a spelling. */
function grammarOf(spelling: Spelling): Grammar {
  const { head, tail } = spelling
  const anywhere = new RegExp(head + tail, 'g')
  const here = new RegExp(head + tail, 'y')
  const begins = new RegExp(head, 'y')
  const tagOf = ({ 0: whole, index: at, groups: { close, call, parameter, rest = '' } = {} }: RegExpExecArray): Tag => {
    const element = call ? 'call' : parameter ? 'parameter' : 'wrapper'
    const bare = rest.replace(/\/$/, '')
    const label = close || element === 'wrapper' ? undefined : spelling.label(bare, call ?? parameter ?? '')
    return { element, closing: Boolean(close), empty: !close && bare !== rest, label, rest: bare, at, end: at + whole.length }
  }
  const tagAt = (text: string, at: number): Tag | undefined => {
    const found = text[at] === '<' ? matchAt(here, text, at) : undefined
    return found && tagOf(found)
  }
  const follows = (text: string, at: number, parameters: boolean): boolean => {
    const next = blankEnd(text, at)
    const tag = matchAt(begins, text, next)
    return tag ? parameters || !tag.groups?.['parameter'] : next >= text.length || matchEnd(TORN, text, next) >= 0
  }
  return {
    ...spelling,
    tagAt,
    last: new RegExp(`${head}${tail}\\s*$`),
    next(text, from) {
      anywhere.lastIndex = from
      for (let found = anywhere.exec(text); found; found = anywhere.exec(text)) {
        const mark = markOf(tagOf(found))
        if (mark) return mark
      }
      return undefined
    },
    goesOn: (text, at) => follows(text, at, true),
    isOver: (text, at) => follows(text, at, false),
  }
}

function markOf({ element, closing, empty, label, at, end }: Tag): Mark | undefined {
  if (closing) return { kind: element === 'parameter' ? 'value-close' : `${element}-close`, at, end }
  return empty || element === 'wrapper' || label === undefined ? undefined : { kind: element, at, end }
}

/** Returns the name in `=f`, `="f"` or ` name="f"`. The space may be lost, or be the letter that represents it in a vocabulary. */
function labelOf(rest: string): string | undefined {
  const found = /^\s*=\s*(["']?)([^"'=\s]+)\1\s*$/.exec(rest) ?? /(?:^|[\sĠ])name\s*=\s*(["']?)([^"'\s]+)\1/.exec(rest)
  const label = found?.[2]
  return label !== undefined && isName(label) ? label : undefined
}
