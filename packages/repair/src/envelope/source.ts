/** Prepares the text of a reply and the tool names for the family readers. */
import { indexNames, resolveName } from '../name.ts'
import type { ToolSpec } from '../tool-spec.ts'
import type { Source, ToolIndex } from './family.ts'

/** The latest index of each list, with the tools that were in it. */
const known = new WeakMap<readonly ToolSpec[], { readonly tools: readonly ToolSpec[]; readonly index: ToolIndex }>()

/** Indexes the tools of a request. Done once for the same list of tools. @throws TypeError when two tools have the same name */
export function indexTools(tools: readonly ToolSpec[]): ToolIndex {
  const last = known.get(tools)
  if (last?.tools.length === tools.length && tools.every((tool, at) => tool === last.tools[at])) return last.index
  const index = createIndex(tools)
  known.set(tools, { tools: [...tools], index })
  return index
}

function createIndex(tools: readonly ToolSpec[]): ToolIndex {
  const index = indexNames(tools)
  const names = [...index.exact.keys()]
  return {
    names,
    longestName: Math.max(0, ...names.map(({ length }) => length)),
    exact: (name) => index.exact.get(name)?.tool,
    resolve: (name) => {
      const known = index.exact.get(name)
      if (known?.alias === false) return known.tool
      // A reply may contain thousands of names that are not tools, so no suggestions are computed.
      const resolved = resolveName(name, index, [])
      return resolved.kind === 'tool' ? resolved.tool : undefined
    },
  }
}

/** Creates a source whose `find` remembers failed searches, so that a text full of openers without closers is still read in linear time. */
export function sourceOf(text: string, tools: ToolIndex): Source {
  const known = new Map<string, { from: number; at: number }>()
  return {
    text,
    tools,
    find: (needle, from) => {
      const last = known.get(needle)
      // A result found from an earlier position is valid for every position up to it.
      if (last && from >= last.from && (last.at === -1 || from <= last.at)) return last.at
      const at = text.indexOf(needle, from)
      known.set(needle, { from, at })
      return at
    },
  }
}
