/** The text of a reply and the names of the tools, in the form in which families read them. */
import { indexNames, resolveName } from '../name.ts'
import type { ToolSpec } from '../tool-spec.ts'
import type { Source, ToolIndex } from './family.ts'

/** @throws TypeError when two tools have the same name */
export function indexTools(tools: readonly ToolSpec[]): ToolIndex {
  const index = indexNames(tools)
  return {
    names: [...index.exact.keys()],
    exact: (name) => index.exact.get(name)?.tool,
    resolve: (name) => {
      // A reply may hold thousands of names that are none: what is near them is not looked for.
      const resolved = resolveName(name, index, [])
      return resolved.kind === 'tool' ? resolved.tool : undefined
    },
  }
}

/** A source whose `find` remembers what is not there: a text full of openers without closers is still read in linear time. */
export function sourceOf(text: string, tools: ToolIndex): Source {
  const known = new Map<string, { from: number; at: number }>()
  return {
    text,
    tools,
    find: (needle, from) => {
      const last = known.get(needle)
      // What was found from an earlier position on holds for every position up to it.
      if (last && from >= last.from && (last.at === -1 || from <= last.at)) return last.at
      const at = text.indexOf(needle, from)
      known.set(needle, { from, at })
      return at
    },
  }
}
