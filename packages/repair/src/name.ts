/** From the name a model sent to the tool it meant: exact, declared alias, stripped of known wrapping, case and separators. */

import { fold, nearest } from './did-you-mean.ts'
import type { Repair } from './repair.ts'

/** Turns another agent's shape of input into the tool's. */
export type Adapt = (input: Record<string, unknown>) => Record<string, unknown>

/** What has a name, and may be asked for by others. */
export interface Named {
  readonly name: string
  readonly aliases?: readonly (string | { readonly name: string; readonly adapt?: Adapt })[]
}

interface Entry<Tool extends Named> {
  readonly tool: Tool
  readonly alias: boolean
  readonly adapt?: Adapt
}

/** Tools by every name they answer to. Built once per toolset. */
export interface NameIndex<Tool extends Named = Named> {
  readonly names: readonly string[]
  readonly exact: ReadonlyMap<string, Entry<Tool>>
  readonly folded: ReadonlyMap<string, readonly Entry<Tool>[]>
}

export type Resolved<Tool extends Named = Named> =
  | { readonly kind: 'tool'; readonly tool: Tool; readonly repair?: Repair; readonly adapt?: Adapt }
  | { readonly kind: 'unknown'; readonly candidates: readonly string[] }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly string[] }

/** Prefixes and suffixes that servers and chat templates leave on a name. */
const PREFIXES = [/^functions[.:]/, /^default_api[.:]/, /^tools?[.:]/, /^multi_tool_use\./]
const SUFFIXES = [/<\|[\s\S]*$/, /:\d+$/, /\(\s*\)$/]

/**
 * @throws TypeError when two tools have the same name. A tool's own name wins over another's alias; an alias that two tools
 * claim is ambiguous and left out.
 */
export function indexNames<Tool extends Named>(tools: readonly Tool[]): NameIndex<Tool> {
  const exact = new Map<string, Entry<Tool>>()
  for (const tool of tools) {
    if (exact.has(tool.name)) throw new TypeError(`two tools are named "${tool.name}"; prefix one of the toolsets`)
    exact.set(tool.name, { tool, alias: false })
  }
  const claimed = new Map<string, Entry<Tool>[]>()
  for (const tool of tools)
    for (const alias of (tool.aliases ?? []).map((one) => (typeof one === 'string' ? { name: one, adapt: undefined } : one)))
      if (!exact.has(alias.name))
        claimed.set(alias.name, [...(claimed.get(alias.name) ?? []), { tool, alias: true, ...(alias.adapt && { adapt: alias.adapt }) }])
  for (const [name, entries] of claimed) if (entries.length === 1) exact.set(name, entries[0] as Entry<Tool>)
  const folded = new Map<string, Entry<Tool>[]>()
  for (const [name, entry] of exact) {
    const key = fold(name)
    folded.set(key, [...(folded.get(key) ?? []), entry])
  }
  return { names: tools.map((tool) => tool.name), exact, folded }
}

/**
 * Which tool `requested` is. Ambiguity is refused with the candidates.
 * @param known names among which a near one is looked for. Default: all of the index
 */
export function resolveName<Tool extends Named>(
  requested: string,
  index: NameIndex<Tool>,
  known: Iterable<string> = index.exact.keys(),
): Resolved<Tool> {
  const direct = index.exact.get(requested)
  if (direct && !direct.alias) return { kind: 'tool', tool: direct.tool }
  const stripped = bareName(requested)
  const entry = direct ?? index.exact.get(stripped) ?? index.exact.get(unglued(stripped))
  if (entry) return found(requested, entry, entry.alias ? 'another name of this tool' : 'wrapping around the name removed')
  const alike = index.folded.get(fold(stripped)) ?? []
  const tools = new Set(alike.map((one) => one.tool.name))
  if (tools.size > 1) return { kind: 'ambiguous', candidates: [...tools] }
  const [only] = alike
  if (only) return found(requested, only, 'the same but for case and separators')
  const near = nearest(stripped, [...known], 6).map((name) => index.exact.get(name)?.tool.name ?? name)
  return { kind: 'unknown', candidates: [...new Set(near)].slice(0, 3) }
}

function found<Tool extends Named>(requested: string, entry: Entry<Tool>, why: string): Resolved<Tool> {
  const repair: Repair = { kind: entry.alias ? 'alias' : 'name', from: requested, to: entry.tool.name, why }
  return { kind: 'tool', tool: entry.tool, repair, ...(entry.adapt && { adapt: entry.adapt }) }
}

/** `functionsread5`, `read.read`: wrapping that lost its separators, and a name that came twice. */
const unglued = (name: string): string => name.replace(/^(.{1,128})[.:]\1$/, '$1').replace(/^functions(.+?)\d*$/, '$1')

/** A name without what servers, templates and Markdown put around it and into it. */
export function bareName(requested: string): string {
  let name = requested.trim().replaceAll('\\_', '_')
  for (const suffix of SUFFIXES) name = name.replace(suffix, '')
  for (const prefix of PREFIXES) name = name.replace(prefix, '')
  return name.trim()
}
