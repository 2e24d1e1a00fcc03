/**
 * Calls without markup, in any notation of JSON or Python: `{"name": …, "parameters": {…}}` (Llama 3, joined by `;`), a list of
 * them (xLAM), `[f(x="y")]` (Llama 4, Gemma), a name with JSON under it (Functionary). A reply that is nothing but calls is read
 * whatever stands around them: a fence, quotes, tags that were left behind.
 */
import type { Block, Family, MarkupCall, Source, ToolIndex } from '../family.ts'
import { END_TOKENS } from '../intent.ts'
import { isKnown, LISTS, readBareCalls } from '../syntax/bare-calls.ts'
import { ARGUMENTS, NAMES } from '../syntax/call-object.ts'
import { headAt, readArguments, readCalls } from '../syntax/call-text.ts'
import { sticky } from '../syntax/json-between.ts'
import { skip } from '../syntax/json-extent.ts'
import { readPythonCalls } from '../syntax/python-call.ts'
import { readOpened } from './gemma.ts'

/** Some models write it for `<tool_call>`. */
const TURN = '<|im_start|>'

/** Gemma's, without the token before it. */
const CALL = 'call:'

export const bare: Family = {
  id: 'bare',
  precedence: -1,
  openers: ['{', '[', TURN],
  afterName: ['{'],
  strong: false,
  begins,
  read(source, at) {
    if (refusedIn(source).has(at)) return undefined
    if (source.text.startsWith(CALL, at)) {
      const block = readOpened(source, at)
      if (!block?.calls.every(({ name }) => isKnown(source.tools, name))) return undefined
      return { ...block, calls: block.calls.map((call) => marked(call, 'its opening token was missing')) }
    }
    return readJson(source, at) ?? readList(source, at) ?? readUnderName(source, at) ?? readAny(source, at)
  },
}

const ARGUMENTS_FIRST = /\{\s*"(?:arguments|parameters)"\s*:\s*[{"]/y
const LIST = /\[\s*([A-Za-z_][\w.-]{0,127})\s*\(/y
const HEAD = /([^\s{]{1,128})[ \t]*\r?\n\s*(?=\{)/y

/** JSON objects with the exact names of tools, and with arguments, broken or not. */
function readJson(source: Source, at: number): Block | undefined {
  const { text, tools } = source
  const from = text[at] === '[' ? skip(text, at + 1) : at
  if (text[skip(text, from + 1)] !== '"') return undefined
  const isTool = (name: string): boolean => tools.exact(name.replace(/^functions\./, '')) !== undefined
  const head = headAt(text, from)
  ARGUMENTS_FIRST.lastIndex = from
  if (head ? !head.arguments || !isTool(head.name) : !ARGUMENTS_FIRST.test(text)) return undefined
  const { calls, end, whole, starts } = readCalls(source, at, [])
  const other = calls.findLastIndex((call) => !isTool(call.name))
  if (other !== -1) for (const start of starts) if (start.calls <= other) refusedIn(source).add(start.at)
  if (calls.length === 0 || other !== -1) return undefined
  // Llama 3 closes more than it opened.
  return withTags(source, { calls, end: skip(text, end, '}]'), complete: whole })
}

const refused = new WeakMap<Source, Set<number>>()

/** Where rows begin that hold something else than calls of tools: each would be read again from its every call, in quadratic time. */
function refusedIn(source: Source): Set<number> {
  const known = refused.get(source) ?? new Set()
  refused.set(source, known)
  return known
}

/** A list of calls in Python's notation. */
function readList(source: Source, at: number): Block | undefined {
  const { text, tools } = source
  LIST.lastIndex = at
  const name = LIST.exec(text)?.[1]
  if (name === undefined || !tools.exact(name)) return undefined
  const read = readPythonCalls(source, at)
  if (!read?.calls.every((call) => tools.exact(call.name))) return undefined
  return withTags(source, { calls: read.calls, end: read.end, complete: read.whole })
}

/** The name of a tool alone on a line, and JSON under it. */
function readUnderName(source: Source, at: number): Block | undefined {
  HEAD.lastIndex = at
  const name = HEAD.exec(source.text)?.[1]
  const read = name !== undefined && source.tools.exact(name) ? readArguments(source, HEAD.lastIndex, []) : undefined
  if (!read || name === undefined) return undefined
  return { calls: [{ name, arguments: read.arguments, ...(read.cut && { cutOff: true }) }], end: read.end, complete: !read.cut }
}

/** The beginning of a turn, of a fence or of inline code. */
const BEFORE = /\s*(?:<\|im_start\|>\s*)?(?:`{1,3}(?!`)(?:[\w-]*(?=\s|$))?\s*|\*\*)?/y
const TAG =
  /<(?![^<>\s]{0,40}(?:response|result|output))[/|]*[^<>\s]{0,40}(?:tool|TOOL|func|call|CALL|action|ACTION|plugin|im_start)[^<>\s]{0,40}>|\[\/?[A-Z_]{3,20}\]/
const END = END_TOKENS.source
const TAGS = new RegExp(String.raw`(?:\s|${END}|${TAG.source})*`, 'y')
/** Separators, fences, and tags that speak of calls or end a turn. */
const BETWEEN = new RegExp(String.raw`(?:[\s,;)\]*]|\x60{1,3}(?:[\w-]*(?=\s))?|${END}|${TAG.source})*`, 'y')

/** Something else that looks like a call. */
const MORE = /[A-Za-z_][\w.]{0,127}\(|[{[]\s*["'{]/y

/** Tags that close what was not opened belong to the calls. What they are for is a guess. */
function withTags({ text }: Source, block: Block): Block {
  const end = sticky(TAGS, text, block.end)
  const tags = text.slice(block.end, end).trimEnd()
  return tags.replace(END_TOKENS, '').trim() === '' || !block.complete
    ? block
    : { ...block, calls: block.calls.map((call) => marked(call, 'its opening tag was missing')), end: block.end + tags.length }
}

/** What was read last without coming to anything. Of several calls all are meant, or none: a part of it is not read again. */
const inVain = new WeakMap<Source, { readonly from: number; readonly to: number }>()

/** An object among source code is data. */
const DATA = /\s*`{3}(?:py|python|js|javascript|ts|typescript|java|ruby|go|php)\s*\[?\s*\{/y

function readAny(source: Source, at: number): Block | undefined {
  const { text } = source
  if (sticky(DATA, text, at) > at) return undefined
  const vain = inVain.get(source)
  if (vain && at > vain.from && at < vain.to) return undefined
  const read = readBareCalls(source, sticky(BEFORE, text, at), BETWEEN)
  const end = sticky(BETWEEN, text, read.end)
  if (read.calls.length === 0 || sticky(MORE, text, end) > end) {
    inVain.set(source, { from: at, to: read.reached })
    return undefined
  }
  const after = text.slice(read.end, end).trimEnd()
  return { calls: read.calls.map((call) => marked(call, 'it had no markup')), end: read.end + after.length, complete: true }
}

const marked = (call: MarkupCall, damage: string): MarkupCall => ({ ...call, damage: call.damage ?? damage, unmarked: true })

/** A call that has not named its tool within this many characters is none. */
const WINDOW = 400
const OPEN = /[\s[{("']*/y
const WORD = /[\w.-]*(?:\\_[\w.-]*)*/y
/** Other keys that a call may begin with. */
const OTHER_KEYS = ['id', 'type', 'tool_call_id', ...ARGUMENTS, ...LISTS]
const PREFIXES = ['functions.', 'default_api.', 'tools.', 'tool.']
const NAMED = new RegExp(String.raw`["'](?:${NAMES.join('|')})["']\s*:\s*["']([^"'\n]*)(["']?)`, 'g')
/** The beginning of a fence or a token. */
const PARTIAL = /^(?:<\|?[a-z_]{0,8}\|?|\*)$/

/** Whether what begins at `at` can be calls, by its first characters. */
function begins(text: string, at: number, tools: ToolIndex): 'no' | 'maybe' | 'yes' {
  if (text[at] === '<' && text.length - at >= TURN.length && !text.startsWith(TURN, at)) return 'no'
  const first = text[at] ?? ''
  if (/\w/.test(first) && ![CALL, ...PREFIXES, ...tools.names].some((one) => one.startsWith(first))) return 'no'
  const near = text.slice(at, at + WINDOW)
  const unsure = near.length < WINDOW ? 'maybe' : 'no'
  if (CALL.startsWith(near)) return unsure
  const before = near.startsWith(CALL) ? CALL.length : sticky(BEFORE, near, 0)
  if (PARTIAL.test(near.slice(before))) return unsure
  const start = sticky(OPEN, near, before)
  const end = sticky(WORD, near, start)
  const whole = near.slice(start, end).replaceAll('\\_', '_').replace(/\.$/, '')
  const prefix = tools.exact(whole) ? '' : (PREFIXES.find((one) => whole.startsWith(one)) ?? '')
  const word = whole.slice(prefix.length)
  const rest = near.slice(end)
  if (rest === '' || rest === '\\')
    return [...NAMES, ...OTHER_KEYS, ...PREFIXES, ...tools.names].some((one) => one.startsWith(word) || one.startsWith(whole))
      ? unsure
      : 'no'
  if (tools.exact(word)) return /^["']|^\s*[({:]/.test(rest) ? 'yes' : rest.trim() === '' ? unsure : 'no'
  const isName = NAMES.includes(word)
  if (start === before || !(isName || OTHER_KEYS.includes(word))) return 'no'
  for (const [, name = '', closed] of near.slice(start - 1).matchAll(NAMED)) {
    if (closed !== '' && isKnown(tools, name)) return 'yes'
    if (closed !== '' && isName) return 'no'
  }
  return unsure
}
