/** The entry points that support every family. */
import type { Family } from './envelope/family.ts'
import { families } from './envelope/registry.ts'
import { indexTools, sourceOf } from './envelope/source.ts'
import { indexNames } from './name.ts'
import { type ParsedReply, type ParseOptions, parseWith, readCallWith, readOne, readWhole } from './parse-with.ts'
import type { ToolSpec } from './tool-spec.ts'

/**
 * Returns the tool calls in a model's text, in the format of any family.
 * @throws TypeError when two tools have the same name
 * @example const tools = [{ name: 'search', parameters: { type: 'object', properties: { limit: { type: 'integer' } } } }]
 * parseToolCalls('Let me look.<tool_call>search<arg_key>limit</arg_key><arg_value>5</arg_value></tool_call>', tools) // { text: 'Let
 * me look.', calls: [{ name: 'search', arguments: { limit: 5 }, … }], … }
 */
export const parseToolCalls = (text: string, tools: readonly ToolSpec[], options: NamedParseOptions = {}): ParsedReply =>
  parseWith(familiesNamed(options), text, tools, options)

export interface NamedParseOptions extends ParseOptions {
  /** Ids of the families to look for: `['glm', 'hermes']`. Default: all of them. */
  readonly families?: readonly string[] | undefined
}

/** @throws TypeError for an unknown family id */
function familiesNamed({ families: ids }: NamedParseOptions): readonly Family[] {
  const found = ids?.map((id) => {
    const family = families.find((one) => one.id === id)
    if (!family) throw new TypeError(`there is no family ${JSON.stringify(id)}`)
    return family
  })
  return found ?? families
}

/**
 * Reads one call reported by a provider and repairs its name and arguments.
 * @throws TypeError when two tools have the same name
 * @example readCall({ name: 'functions.Search', arguments: '{"limit": "5",}' }, tools).calls // [{ name: 'search', arguments: { limit:
 * 5 }, … }]
 */
export const readCall = (
  call: Parameters<typeof readCallWith>[1],
  tools: readonly ToolSpec[],
  options?: Pick<ParseOptions, 'finishReason'>,
): ParsedReply => readCallWith(families, call, tools, options)

export interface Seen {
  /** Offset in characters and line number, both in the given reply; -1 and 0 if the text does not occur there verbatim. */
  readonly at: number
  readonly line: number
  /** The family that read it or whose markup it begins with; empty if neither applies. */
  readonly form: string
  readonly raw: string
  readonly outcome: 'run' | 'refused' | 'not run'
  /** The call as run, or the name as written. */
  readonly call?: { readonly name: string; readonly arguments?: Record<string, unknown> }
  /** The reason why it was run, refused or not run. */
  readonly why: string
}

export interface Explanation {
  /** Findings in the order of the reply. */
  readonly seen: readonly Seen[]
  /** No call was found, but one may have been meant. In a turn, the model is asked once. */
  readonly unclear: boolean
}

/**
 * Explains what was found in a model's text, where, and why it would or would not be run.
 * @throws TypeError when two tools have the same name, or for an unknown family id
 * @example explainReply('```\nsearch(query="x")\n```', tools).seen // [{ at: 4, line: 2, outcome: 'not run', why: 'in a code fence', …
 * }]
 */
export function explainReply(text: string, tools: readonly ToolSpec[], options: NamedParseOptions = {}): Explanation {
  const families = familiesNamed(options)
  const { calls, quoted, unclear } = readWhole(families, text, tools, options)
  const names = indexNames(tools)
  const source = sourceOf(text, indexTools(tools))
  /** Last position of each text, because the same markup may occur twice. */
  const found = new Map<string, number>()

  function placed(raw: string): Pick<Seen, 'at' | 'line' | 'raw'> {
    const known = raw.replace(/…$/, '')
    const last = found.get(known) ?? -1
    const next = text.indexOf(known, last + 1)
    // One text may contain several calls.
    const at = next === -1 ? last : next
    if (at !== -1) found.set(known, at)
    return { at, line: at === -1 ? 0 : text.slice(0, at).split('\n').length, raw }
  }

  const formAt = (at: number): string =>
    families.find((family) => family.openers.some((opener) => text.startsWith(opener, at)) && family.read(source, at))?.id ?? ''

  const ran = calls.map((call): Seen => {
    const envelope = call.repairs.find(({ kind }) => kind === 'envelope')
    const place = placed(String(envelope?.from ?? ''))
    const form = /as (\S+) does/.exec(envelope?.why ?? '')?.[1] ?? formAt(place.at)
    const read = readOne(call, names)
    if ('error' in read) return { ...place, form, outcome: 'refused', call: { name: read.name }, why: `${read.errorType}: ${read.error}` }
    const repairs = read.repairs.filter(({ kind }) => kind !== 'dropped').map(({ kind, why }) => `${kind}: ${why}`)
    return { ...place, form, outcome: 'run', call: { name: read.name, arguments: read.arguments }, why: repairs.join('; ') }
  })
  const left = quoted.map(({ raw, why, open }): Seen => {
    const place = placed(raw)
    const asks = open ? (calls.length === 0 ? '; the model is asked' : '; the model is told') : ''
    return { ...place, form: place.at === -1 ? '' : formAt(place.at), outcome: 'not run', why: why + asks }
  })
  return { seen: [...ran, ...left].sort((a, b) => a.at - b.at), unclear }
}
