/** Finds possible calls in a text that yielded none, so that nothing a model may have meant is silently ignored. */
import type { Family, ToolIndex } from './envelope/family.ts'
import { linesOf, quotedBetween } from './envelope/place.ts'
import { cachedTriggers, hitsIn } from './envelope/triggers.ts'
import { MAX_MARKUP } from './limits.ts'
import { closing } from './text.ts'

export interface Leftover {
  readonly raw: string
  readonly why: string
}

/** Maximum number of matches: enough to show that something was found. */
const MAX_LEFT = 8
const MAX_RAW = 8000
const MAX_OPENED = 1000
const REACH = 2000

/** `"name": "f"`, `name="f"`, `to=f`, `Action: f` at the start of a line. An object begins at its bracket. Looks back from the rare character. */
const NAMED =
  /(?:[:=](?<=((?:(?:\{[^{}]{0,199})?["'])?\b(?:name|tool|tool_name|function|function_name|action|recipient_name)["']?\s{0,3}).)\s{0,3}["']|=(?<=[\s<|](to|function|invoke|name).)|:(?<=^([ \t]*(?:action|tool|function|call)[ \t]{0,3}).)[ \t]{0,3})(?:functions\.)?([\w.:/-]{1,64})/gim
/** What stands before the name of an element, or after the name of a call: `(x=1)`, `({`, `{"x": …`, `()`. */
const BESIDE_NAME =
  /<(?=[^\s/=<])|(?:\((?=\s{0,5}(?:\)|["'{[]|-?\d|\w{1,40}\s{0,2}[=:]|True|False|None))|\{(?=\s{0,5}(?:["'}]|\w{1,40}\s{0,2}[:=])))(?<=[^\s"'(){}[\],:;=] ?.)/g
const ARGUMENTS = /["'](?:arguments|parameters|args|params|input|kwargs)["']\s{0,3}:/

/** Returns the text with spaces in place of the given parts. Takes linear time if the parts are in order. */
export function without(text: string, parts: readonly { readonly raw: string }[]): string {
  let done = ''
  let rest = text
  for (const { raw } of parts) {
    if (!rest.includes(raw)) {
      rest = done + rest
      done = ''
    }
    const at = rest.indexOf(raw)
    if (at === -1) continue
    done += rest.slice(0, at) + ' '.repeat(raw.length)
    rest = rest.slice(at + raw.length)
  }
  return done + rest
}

/** @param rest the text without what has already been found */
export function leftoverCalls(text: string, rest: string, tools: ToolIndex, families: readonly Family[]): Leftover[] {
  if (text.length > MAX_MARKUP || tools.names.length === 0) return []
  const found = [...named(rest, tools), ...called(rest, tools), ...(/[<[]/.test(rest) ? opened(rest, families) : [])]
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

interface Seen {
  readonly at: number
  readonly why?: string
}

/** Finds calls and elements that begin with a tool name: `f(x=1)`, `<f>`, `<f query="x"/>`. */
function called(text: string, tools: ToolIndex): Seen[] {
  // Markdown may escape underscores.
  const names = [...new Set(tools.names.flatMap((name) => [name, name.replaceAll('_', '\\_')]))].filter((name) => name !== '')
  return [...text.matchAll(BESIDE_NAME)].flatMap(({ index: at, 0: sign }): Seen[] => {
    if (sign === '<')
      return names.some((name) => text.startsWith(name, at + 1) && /[\s/>]/.test(text[at + 1 + name.length] ?? '')) ? [{ at }] : []
    const end = sign === '{' && text[at - 1] === ' ' ? at - 1 : at
    const before = names.filter((name) => text.endsWith(name, end) && !/[\w.-]/.test(text[end - name.length - 1] ?? ''))
    return before.map((name) => ({ at: end - name.length }))
  })
}

/** Finds names in call notation. An unknown name counts if arguments accompany it. */
function named(text: string, tools: ToolIndex): Seen[] {
  return [...text.matchAll(NAMED)].flatMap(({ index, 1: key, 2: word, 3: line, 4: name = '' }): Seen[] => {
    const before = key ?? word ?? line ?? ''
    const at = index - before.length
    if (tools.exact(name)) return [{ at }]
    const isCall = before.startsWith('{') && ARGUMENTS.test(text.slice(at, index + 300))
    return isCall ? [{ at, why: `there is no tool named ${JSON.stringify(name)}` }] : []
  })
}

/** Finds markup that people do not type and no family could read. */
function opened(text: string, families: readonly Family[]): Seen[] {
  const seen: Seen[] = []
  const hits = hitsIn(text, cachedTriggers(families))
  for (let hit = hits.next(); hit && seen.length < MAX_OPENED; hit = hits.next())
    if ('<[]'.includes(text[hit.at] as string) && hit.families.some(({ begins }) => !begins))
      seen.push({ at: hit.at, why: 'markup of a call that could not be read' })
  return seen
}

/** Returns the end of the brackets that open near the start, or else the end of the paragraph. */
function endOf(text: string, at: number): number {
  const limit = Math.min(text.length, at + MAX_RAW)
  const rest = text.slice(at, limit)
  const [element] = /^<([\w.:-]{1,64})(?![\w.:-])[\s\S]*?<\/\1>/.exec(rest) ?? []
  if (element !== undefined) return at + element.length
  const paragraph = rest.search(/\n(?:\n|[ \t]*```)/)
  const bracket = rest.slice(0, 80).search(/[{[(\n]/)
  const closed = '{[('.includes(rest[bracket] ?? ' ') ? closing(text, at + bracket, limit, 'prose') : -1
  return closed !== -1 ? closed : paragraph === -1 ? limit : at + paragraph
}
