/**
 * Reads calls without markup, in any notation of JSON or Python: `{"name": …, "parameters": {…}}` (Llama 3, joined by `;`), a list of
 * them (xLAM), `[f(x="y")]` (Llama 4, Gemma), a name with JSON below it (Functionary). A reply that consists only of calls is read
 * whatever surrounds them: a fence, quotes, leftover tags.
 */
import { matchAt, past, skip } from '../../text.ts'
import type { Block, Family, MarkupCall, Source, ToolIndex } from '../family.ts'
import { END_TOKENS } from '../intent.ts'
import { isKnown, LISTS, readBareCalls } from '../syntax/bare-calls.ts'
import { ARGUMENTS, NAMES } from '../syntax/call-object.ts'
import { ARGUMENTS_FIRST, headAt, readCalls, readNamed } from '../syntax/call-text.ts'
import { GEMMA, readGemmaCall } from '../syntax/gemma-call.ts'
import { readPythonCalls } from '../syntax/python.ts'

/** Some models write it instead of `<tool_call>`. */
const TURN = '<|im_start|>'

/** Gemma's prefix, without the token before it. */
const CALL = 'call:'

export const bare: Family = {
  id: 'bare',
  openers: ['{', '[', TURN],
  afterName: ['{'],
  begins,
  read(source, at) {
    if (refusedIn(source).has(at)) return undefined
    if (source.text.startsWith(CALL, at)) {
      const block = readGemmaCall(source, at, { ...GEMMA, opener: '' })
      if (!block?.calls.every(({ name }) => isKnown(source.tools, name))) return undefined
      return { ...block, calls: block.calls.map((call) => marked(call, 'its opening token was missing')) }
    }
    return readJson(source, at) ?? readList(source, at) ?? readUnderName(source, at) ?? readAny(source, at)
  },
}

const LIST = /\[\s*([A-Za-z_][\w.-]{0,127})\s*\(/y
const HEAD = /([^\s{]{1,128})[ \t]*\r?\n\s*(?=\{)/y

/** Reads JSON objects with exact tool names and with arguments, broken or not. */
function readJson(source: Source, at: number): Block | undefined {
  const { text, tools } = source
  const from = text[at] === '[' ? skip(text, at + 1) : at
  if (text[skip(text, from + 1)] !== '"') return undefined
  const isTool = (name: string): boolean => tools.exact(name.startsWith('functions.') ? name.slice(10) : name) !== undefined
  const head = headAt(text, from)
  if (head ? !head.arguments || !isTool(head.name) : past(ARGUMENTS_FIRST, text, from) === from) return undefined
  const { calls, end, whole, starts } = readCalls(source, at, [])
  const other = calls.findLastIndex((call) => !isTool(call.name))
  if (other !== -1) for (const start of starts) if (start.calls <= other) refusedIn(source).add(start.at)
  if (calls.length === 0 || other !== -1) return undefined
  // Llama 3 writes too many closing brackets.
  return withTags(source, { calls, end: skip(text, end, '}]'), complete: whole })
}

const refused = new WeakMap<Source, Set<number>>()

/** Starts of rows that contain something other than tool calls. Reading them again from each of their calls would take quadratic time. */
function refusedIn(source: Source): Set<number> {
  const known = refused.get(source) ?? new Set()
  refused.set(source, known)
  return known
}

/** Reads a list of calls in Python notation. */
function readList(source: Source, at: number): Block | undefined {
  const { text, tools } = source
  const name = matchAt(LIST, text, at)?.[1]
  if (name === undefined || !tools.exact(name)) return undefined
  const read = readPythonCalls(source, at)
  if (!read?.calls.every((call) => tools.exact(call.name))) return undefined
  return withTags(source, { calls: read.calls, end: read.end, complete: read.whole })
}

/** Reads a tool name alone on a line, with JSON below it. */
function readUnderName(source: Source, at: number): Block | undefined {
  const name = matchAt(HEAD, source.text, at)?.[1]
  const read = name !== undefined && source.tools.exact(name) ? readNamed(source, { name }, HEAD.lastIndex, []) : undefined
  return read && { calls: [read.call], end: read.end, complete: read.whole }
}

/** The beginning of a turn, of a fence or of inline code. */
const BEFORE = /\s*(?:<\|im_start\|>\s*)?(?:`{1,3}(?!`)(?:[\w-]*(?=\s|$))?\s*|\*\*)?/y
const TAG =
  /<(?![^<>\s]{0,40}(?:response|result|output))[/|]*[^<>\s]{0,40}(?:tool|TOOL|func|call|CALL|action|ACTION|plugin|im_start)[^<>\s]{0,40}>|\[\/?[A-Z_]{3,20}\]/
const END = END_TOKENS.source
const TAGS = new RegExp(String.raw`(?:\s|${END}|${TAG.source})*`, 'y')
/** Separators, fences, and tags that relate to calls or end a turn. */
const BETWEEN = new RegExp(String.raw`(?:[\s,;)\]*]|\x60{1,3}(?:[\w-]*(?=\s))?|${END}|${TAG.source})*`, 'y')

/** Something else that looks like a call. */
const MORE = /[A-Za-z_][\w.]{0,127}\(|[{[]\s*["'{]/y

/** Adds stray closing tags to the block. Their purpose is a guess. */
function withTags({ text }: Source, block: Block): Block {
  const end = past(TAGS, text, block.end)
  const tags = text.slice(block.end, end).trimEnd()
  return tags.replace(END_TOKENS, '').trim() === '' || !block.complete
    ? block
    : { ...block, calls: block.calls.map((call) => marked(call, 'its opening tag was missing')), end: block.end + tags.length }
}

/** The last range read without success. Several calls are run all together or not at all, so a part of them is not read again. */
const inVain = new WeakMap<Source, { readonly from: number; readonly to: number }>()

/** An object among source code is data. */
const DATA = /\s*`{3}(?:py|python|js|javascript|ts|typescript|java|ruby|go|php)\s*\[?\s*\{/y

function readAny(source: Source, at: number): Block | undefined {
  const { text } = source
  if (past(DATA, text, at) > at) return undefined
  const vain = inVain.get(source)
  if (vain && at > vain.from && at < vain.to) return undefined
  const read = readBareCalls(source, past(BEFORE, text, at), BETWEEN)
  const end = past(BETWEEN, text, read.end)
  if (read.calls.length === 0 || past(MORE, text, end) > end) {
    inVain.set(source, { from: at, to: read.reached })
    return undefined
  }
  const after = text.slice(read.end, end).trimEnd()
  return { calls: read.calls.map((call) => marked(call, 'it had no markup')), end: read.end + after.length, complete: true }
}

const marked = (call: MarkupCall, damage: string): MarkupCall => ({ ...call, damage: call.damage ?? damage, unmarked: true })

/** A call must name its tool within this many characters. */
const WINDOW = 400
const OPEN = /[\s[{("']*/y
const WORD = /[\w.-]*(?:\\_[\w.-]*)*/y
/** Other keys that a call may begin with. */
const OTHER_KEYS = ['id', 'type', 'tool_call_id', ...ARGUMENTS, ...LISTS]
const PREFIXES = ['functions.', 'default_api.', 'tools.', 'tool.']
const NAMED = new RegExp(String.raw`["'](?:${NAMES.join('|')})["']\s*:\s*["']([^"'\n]*)(["']?)`, 'g')
/** The beginning of a fence or a token. */
const PARTIAL = /^(?:<\|?[a-z_]{0,8}\|?|\*)$/

/** Returns whether calls can begin at `at`, judging by the first characters. */
function begins(text: string, at: number, tools: ToolIndex): 'no' | 'maybe' | 'yes' {
  if (text[at] === '<' && text.length - at >= TURN.length && !text.startsWith(TURN, at)) return 'no'
  const first = text[at] ?? ''
  if (/\w/.test(first) && ![CALL, ...PREFIXES, ...tools.names].some((one) => one.startsWith(first))) return 'no'
  const near = text.slice(at, at + WINDOW)
  const unsure = near.length < WINDOW ? 'maybe' : 'no'
  if (CALL.startsWith(near)) return unsure
  const before = near.startsWith(CALL) ? CALL.length : past(BEFORE, near, 0)
  if (PARTIAL.test(near.slice(before))) return unsure
  const start = past(OPEN, near, before)
  const end = past(WORD, near, start)
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
