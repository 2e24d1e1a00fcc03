/** Calls as elements: `<function=f><parameter=k>v</parameter></function>`, `<invoke name="f"><parameter name="k">v</parameter></invoke>`. */
import type { Block, Source, TextEntry } from '../family.ts'
import { type Grammar, grammarOf, labelOf, type Spelling, type Tag } from './element-tags.ts'
import { blankEnd, blockOf, type CallRead, Draft, endsAt, endsClosedAt, matchAt, parametersOf, withDamage } from './tags.ts'
import { endOfValue } from './value.ts'

const CHILD = /<([A-Za-z_][\w.-]{0,63})>/y

/** The `read` of a family. */
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
  // Two tags around a call are seen; more of them are not, so that a text of nothing else takes linear time.
  const inner = wrapped ? grammar.tagAt(text, blankEnd(text, end)) : undefined
  if (inner?.element === 'wrapper' && !inner.closing) end = inner.end
  for (;;) {
    const next = blankEnd(text, end)
    const tag = grammar.tagAt(text, next)
    if (tag?.element === 'wrapper' && calls.length > 0) {
      if (!tag.closing) return blockOf(calls, end, false)
      return blockOf(wrapped || grammar.bare ? calls : calls.map(unwrapped), tag.end, true)
    }
    const call = tag?.element === 'call' && !tag.closing ? readCall(source, tag, grammar) : undefined
    if (!call) return blockOf(wrapped || grammar.bare ? calls : calls.map(unwrapped), end, !wrapped && calls.every((one) => one.closed))
    calls.push(call)
    end = call.end
  }
}

const unwrapped = (read: CallRead): CallRead => withDamage(read, 'the tag around the call was missing')

/** Undefined: what follows is no markup, as where prose speaks of the tag. */
function readCall(source: Source, opening: Tag, grammar: Grammar): CallRead | undefined {
  const { text, tools } = source
  const name = labelOf(opening.rest)
  if (name === undefined) return undefined
  const known = parametersOf(name, tools)
  const draft = new Draft(name, known?.has('arguments') ? undefined : 'arguments')
  if (opening.empty) return draft.done(opening.end, true)
  let at = opening.end
  // Seen twice it is a slip; a text of nothing else must not be read to its end from each of them.
  let twice = false
  let last: Tag | undefined
  for (;;) {
    at = blankEnd(text, at)
    const tag = grammar.tagAt(text, at)
    if (!tag) {
      if (draft.size > 0 && endsClosedAt(text, at)) return draft.done(text.length, false)
      if (endsAt(text, at)) return draft.cutOff(text)
      const child = grammar.children ? matchAt(CHILD, text, at)?.[1] : undefined
      if (child === undefined) return draft.size > 0 ? draft.done(at, false) : lost(text, opening, at, draft, grammar, known !== undefined)
      const end = readChild(source, at, child, draft, known, grammar)
      if (end === undefined) return draft.cutOff(text)
      at = end
    } else if (tag.element === 'parameter' && tag.closing) {
      if (draft.size === 0) return undefined
      // It may be the end of what was written as the value.
      draft.doubted('a closing tag stood twice')
      at = tag.end
    } else if (tag.element === 'call' && !tag.closing && draft.size === 0 && !twice && labelOf(tag.rest) === name) {
      twice = true
      draft.damaged('an opening tag stood twice')
      at = tag.end
    } else if (tag.element === 'parameter') {
      const read = readParameter(source, tag, draft, grammar, known, last)
      if (read === 'cut') return draft.cutOff(text)
      if (read === undefined) return draft.unreadable(text.slice(opening.at, tag.end), tag.end)
      at = read.next
      last = read.tag
    } else if (tag.element === 'call' && tag.closing) {
      return draft.done(tag.end, true)
    } else return draft.done(at, false)
  }
}

/** A value without a key stands in the call of a known tool: nothing to call with, and no prose either. */
function lost(text: string, opening: Tag, at: number, draft: Draft, grammar: Grammar, known: boolean): CallRead | undefined {
  const mark = known && text[at] !== '{' ? grammar.markup.next(text, at) : undefined
  return mark?.kind === 'value-close' ? draft.unreadable(text.slice(opening.at, mark.end), mark.end) : undefined
}

/** MiniCPM's spelling: all white space is the value's, which may stand in a section. */
const SHORT = /^<\w*param(?!eter)/
const CDATA = /^\s*<!\[CDATA\[([\s\S]*)\]\]>\s*$/

/** Undefined: it has no name. */
function readParameter(
  { text }: Source,
  tag: Tag,
  draft: Draft,
  grammar: Grammar,
  known: ReturnType<typeof parametersOf>,
  last: Tag | undefined,
): { readonly next: number; readonly tag: Tag } | 'cut' | undefined {
  const key = labelOf(tag.rest)
  if (key === undefined) return undefined
  const found = tag.empty ? { end: tag.end, next: tag.end } : endOfValue(text, tag.end, grammar.markup)
  if (!found) return 'cut'
  const missing = !tag.empty && found.next === found.end
  draft.doubted('damage' in found ? found.damage : undefined)
  // A key that the tool has not, and a value with an end too many: both are quoted in the value before.
  const isQuoted = known && !known.has(key) && !missing && 'damage' in found && found.damage !== undefined
  const outer = isQuoted && last ? labelOf(last.rest) : undefined
  if (last && outer !== undefined && known?.has(outer)) {
    draft.extend(outer, withoutLines(text.slice(last.end, found.end), grammar))
    return { next: found.next, tag: last }
  }
  const inside = text.slice(tag.end, found.end)
  // The line breaks around the tag that is missing stand here with it.
  const bare = missing ? inside.replace(grammar.last, '').replace(grammar.lines ? /(?:\r?\n[ \t]*){1,2}$/ : /\r?\n[ \t]*$/, '') : inside
  const short = SHORT.test(text.slice(tag.at, tag.end))
  draft.add({ key, text: short ? bare.replace(CDATA, '$1') : withoutLines(bare, grammar), ...typeIn(tag.rest) })
  return { next: found.next, tag }
}

/** `string="true"`, as DSML has it. */
function typeIn(rest: string): Pick<TextEntry, 'as'> {
  const says = /\sstring\s*=\s*["']?(true|false)\b/i.exec(rest)?.[1]?.toLowerCase()
  return says === undefined ? {} : { as: says === 'true' ? 'text' : 'json' }
}

/** The value without the one line break at either end: as CRLF only where both are. */
function withoutLines(text: string, { lines }: Grammar): string {
  if (!lines || (lines === 'both' && !/^\r?\n[\s\S]*\n$/.test(text))) return text
  if (text.startsWith('\r\n')) return text.slice(2).replace(/\r?\n$/, '')
  return (text.startsWith('\n') ? text.slice(1) : text).replace(/\n$/, '')
}

/** `<key>value</key>`: it ends where markup follows the closing tag. */
function readChild(
  { text, find }: Source,
  at: number,
  key: string,
  draft: Draft,
  known: ReturnType<typeof parametersOf>,
  grammar: Grammar,
): number | undefined {
  const start = at + key.length + 2
  const closing = `</${key}>`
  for (let end = find(closing, start); end >= 0; end = find(closing, end + 1)) {
    const after = end + closing.length
    const next = blankEnd(text, after)
    const sibling = matchAt(CHILD, text, next)?.[1]
    const goesOn = sibling !== undefined && (known?.has(sibling) ?? true)
    if (!goesOn && !grammar.isOver(text, after)) continue
    draft.add({ key, text: text.slice(start, end) })
    return after
  }
  return undefined
}
