/** Resolves a name from a model to a tool: exact, declared alias, then without known wrapping, case and separators. */

import { fold, nearest } from './did-you-mean.ts'
import type { Repair } from './repair.ts'

/** Converts another agent's input shape into the tool's. */
export type Adapt = (input: Record<string, unknown>) => Record<string, unknown>

/** Something with a name and optional aliases. */
export interface Named {
  readonly name: string
  readonly aliases?: readonly (string | { readonly name: string; readonly adapt?: Adapt })[]
}

interface Entry<Tool extends Named> {
  readonly tool: Tool
  readonly alias: boolean
  readonly adapt?: Adapt
}

/** Tools by all of their names. Built once per toolset. */
export interface NameIndex<Tool extends Named = Named> {
  readonly names: readonly string[]
  readonly exact: ReadonlyMap<string, Entry<Tool>>
  /** Without case and separators. */
  readonly folded: ReadonlyMap<string, readonly (readonly [name: string, Entry<Tool>])[]>
}

export type Resolved<Tool extends Named = Named> =
  | { readonly kind: 'tool'; readonly tool: Tool; readonly repair?: Repair; readonly adapt?: Adapt }
  | { readonly kind: 'unknown' | 'ambiguous'; readonly candidates: readonly string[] }

/** Prefixes and suffixes that servers and chat templates leave on names. */
const WRAPPING = [...[/<\|[\s\S]*$/, /:\d+$/, /\(\s*\)$/], ...[/^functions[.:]/, /^default_api[.:]/, /^tools?[.:]/, /^multi_tool_use\./]]

/**
 * Indexes tools by name. A tool's own name wins over another's alias. An alias claimed by two tools is ambiguous and left out.
 * @throws TypeError when two tools have the same name
 */
export function indexNames<Tool extends Named>(tools: readonly Tool[]): NameIndex<Tool> {
  const exact = new Map<string, Entry<Tool>>()
  for (const tool of tools) {
    if (exact.has(tool.name)) throw new TypeError(`two tools are named "${tool.name}"; prefix one of the toolsets`)
    exact.set(tool.name, { tool, alias: false })
  }
  const aliases = tools.flatMap((tool) => (tool.aliases ?? []).map((one) => ({ tool, ...(typeof one === 'string' ? { name: one } : one) })))
  for (const [name, [first, ...rivals]] of Map.groupBy(aliases, (alias) => alias.name)) {
    if (!first || rivals.length > 0 || exact.has(name)) continue
    exact.set(name, { tool: first.tool, alias: true, ...(first.adapt && { adapt: first.adapt }) })
  }
  return { names: tools.map((tool) => tool.name), exact, folded: Map.groupBy(exact, ([name]) => fold(name)) }
}

/**
 * Finds the tool that `requested` refers to. An ambiguous name is refused and the candidates are listed.
 * @param known names to search for a near match. Default: all names in the index
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
  const tools = new Set(alike.map(([, one]) => one.tool.name))
  if (tools.size > 1) return { kind: 'ambiguous', candidates: [...tools] }
  const [only] = alike
  if (only) return found(requested, only[1], 'the same but for case and separators')
  const near = nearest(stripped, [...known], 6).map((name) => index.exact.get(name)?.tool.name ?? name)
  return { kind: 'unknown', candidates: [...new Set(near)].slice(0, 3) }
}

function found<Tool extends Named>(requested: string, entry: Entry<Tool>, why: string): Resolved<Tool> {
  const repair: Repair = { kind: entry.alias ? 'alias' : 'name', from: requested, to: entry.tool.name, why }
  return { kind: 'tool', tool: entry.tool, repair, ...(entry.adapt && { adapt: entry.adapt }) }
}

/** Fixes `functionsread5` and `read.read`: prefixes that lost their separators, and repeated names. */
const unglued = (name: string): string => name.replace(/^(.{1,128})[.:]\1$/, '$1').replace(/^functions(.+?)\d*$/, '$1')

/** Removes what servers, templates and Markdown add around or inside a name. */
export function bareName(requested: string): string {
  let name = requested.trim().replaceAll('\\_', '_')
  for (const part of WRAPPING) name = name.replace(part, '')
  return name.trim()
}
