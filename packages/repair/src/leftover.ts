/** What looks like a call in a text out of which none came: nothing that a model may have meant goes by without a word. */
import type { Family, ToolIndex } from './envelope/family.ts'
import { linesOf } from './envelope/lines.ts'
import { quotedBetween } from './envelope/place.ts'
import { cachedTriggers, hitsIn } from './envelope/triggers.ts'
import { MAX_MARKUP } from './limits.ts'

export interface Leftover {
  readonly raw: string
  readonly why: string
}

/** Enough to say that there is something. */
const MAX_LEFT = 8
const MAX_RAW = 8000
const MAX_OPENED = 1000
const REACH = 2000

/** `"name": "f"`, `name="f"`, `to=f`, `Action: f` at the start of a line. */
const NAMED =
  /(?:["']?\b(?:name|tool|tool_name|function|function_name|action|recipient_name)["']?\s{0,3}[:=]\s{0,3}["']|(?<=[\s<|])(?:to|function|invoke|name)=|^[ \t]*(?:action|tool|function|call)[ \t]{0,3}:[ \t]{0,3})(?:functions\.)?([\w.:/-]{1,64})/gim
/** `f(x=1)`, `f({`, `f {"x": …`, `f()`. */
const CALLED =
  /(?<![\w.-])([A-Za-z_](?:\\_|[\w.-]){0,63})(?:\((?=\s{0,5}(?:\)|["'{[]|-?\d|\w{1,40}\s{0,2}[=:]|True|False|None))| ?\{(?=\s{0,5}(?:["'}]|\w{1,40}\s{0,2}[:=])))/g
/** `<f>`, `<f query="x"/>`. */
const TAGGED = /<([\w.-]{1,64})(?=[\s/>])/g
const ARGUMENTS = /["'](?:arguments|parameters|args|params|input|kwargs)["']\s{0,3}:/

/** @param known what was seen already */
export function leftoverCalls(
  text: string,
  tools: ToolIndex,
  families: readonly Family[],
  known: readonly { raw: string }[],
): readonly Leftover[] {
  if (text.length > MAX_MARKUP || tools.names.length === 0) return []
  const rest = known.reduce((left, { raw }) => left.replace(raw, ' '.repeat(raw.length)), text)
  const plain = unescaped(rest)
  const isNamed = tools.names.some((name) => plain.includes(name))
  const found = [
    ...(isNamed || rest.includes('{') ? named(rest, tools) : []),
    ...(isNamed ? [...matches(rest, CALLED, tools), ...matches(rest, TAGGED, tools)] : []),
    ...(/[<[]/.test(rest) ? opened(rest, families) : []),
  ]
  if (found.length === 0) return []
  found.sort((a, b) => a.at - b.at)
  const left: Leftover[] = []
  const lines = linesOf(text)
  let done = 0
  for (const { at, why } of found.slice(0, MAX_OPENED)) {
    if (left.length === MAX_LEFT) break
    if (at < done) continue
    const end = endOf(text, at)
    const place = quotedBetween(text.slice(Math.max(0, at - REACH), at), text.slice(end, end + 200), lines.placeAt(at))
    left.push({ raw: text.slice(at, end), why: place ?? why ?? 'in no form that is read as a call' })
    done = end
  }
  return left
}

/** Without what Markdown puts before an underscore. */
const unescaped = (text: string): string => text.replaceAll('\\_', '_')

interface Seen {
  readonly at: number
  readonly why?: string
}

function matches(text: string, pattern: RegExp, tools: ToolIndex): Seen[] {
  const seen: Seen[] = []
  for (const { index, 1: name = '' } of text.matchAll(pattern)) if (tools.exact(unescaped(name))) seen.push({ at: index })
  return seen
}

/** An object is taken from its bracket on. Of a name that is no tool's, the arguments beside it show that a call was meant. */
function named(text: string, tools: ToolIndex): Seen[] {
  const seen: Seen[] = []
  for (const { index, 0: whole, 1: name = '' } of text.matchAll(NAMED)) {
    const isKey = /^["']/.test(whole)
    const before = isKey ? text.slice(Math.max(0, index - 200), index) : ''
    const brace = before.search(/\{[^{}]*$/)
    const at = brace === -1 ? index : index - before.length + brace
    if (tools.exact(name)) seen.push({ at })
    else if (isKey && brace !== -1 && ARGUMENTS.test(text.slice(at, index + 300)))
      seen.push({ at, why: `there is no tool named ${JSON.stringify(name)}` })
  }
  return seen
}

/** Markup that nobody writes by hand, and that no family could read. */
function opened(text: string, families: readonly Family[]): Seen[] {
  const seen: Seen[] = []
  const hits = hitsIn(text, cachedTriggers(families))
  for (let hit = hits.next(); hit && seen.length < MAX_OPENED; hit = hits.next())
    if ('<[]'.includes(text[hit.at] as string) && hit.families.some(({ strong }) => strong))
      seen.push({ at: hit.at, why: 'markup of a call that could not be read' })
  return seen
}

const BRACKETS: Readonly<Record<string, number>> = { '{': 1, '[': 1, '(': 1, '}': -1, ']': -1, ')': -1 }

/** Behind the brackets that open near the beginning, else where the paragraph ends. */
function endOf(text: string, at: number): number {
  const limit = Math.min(text.length, at + MAX_RAW)
  const near = text.slice(at, at + 80).search(/[{[(]/)
  const rest = text.slice(at, limit)
  const [, tag] = /^<([\w.:-]{1,64})/.exec(rest) ?? []
  const closing = tag === undefined ? -1 : rest.indexOf(`</${tag}>`)
  if (closing !== -1) return at + closing + `</${tag}>`.length
  const paragraph = rest.search(/\n(?:\n|[ \t]*```)/)
  const end = paragraph === -1 ? limit : at + paragraph
  if (near === -1 || /\n/.test(rest.slice(0, near))) return end
  let depth = 0
  let quote = ''
  for (let i = at + near; i < limit; i++) {
    const char = text[i] as string
    if (quote !== '') {
      if (char === '\\') i++
      else if (char === quote) quote = ''
    } else if (char === '"') quote = char
    else {
      depth += BRACKETS[char] ?? 0
      if (depth === 0 && BRACKETS[char] === -1) return i + 1
    }
  }
  return end
}
