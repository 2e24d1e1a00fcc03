/** Calls as bare JSON: Llama 3 (`{"name": …, "parameters": {…}}`, joined by `;`), xLAM (a list), and models that forgot their tags. */
import type { Block, Family, Source } from '../family.ts'
import { headAt, readCalls } from '../syntax/call-text.ts'
import { skip } from '../syntax/json-extent.ts'

const ARGUMENTS_FIRST = /\{\s*"(?:arguments|parameters)"\s*:\s*[{"]/y

export const llamaJson: Family = {
  id: 'llama-json',
  precedence: -1,
  openers: ['{', '['],
  strong: false,
  read: readBareCalls,
}

/** Calls of nothing but JSON: all of them with the exact names of tools, and with arguments. */
export function readBareCalls(source: Source, at: number): Block | undefined {
  const { text, tools } = source
  if (refusedIn(source).has(at)) return undefined
  const from = text[at] === '[' ? skip(text, at + 1) : at
  const isTool = (name: string): boolean => tools.exact(name.replace(/^functions\./, '')) !== undefined
  const head = headAt(text, from)
  ARGUMENTS_FIRST.lastIndex = from
  if (head ? !head.arguments || !isTool(head.name) : !ARGUMENTS_FIRST.test(text)) return undefined
  const { calls, end, whole, starts } = readCalls(source, at, [])
  const other = calls.findLastIndex((call) => !isTool(call.name))
  if (other !== -1) for (const start of starts) if (start.calls <= other) refusedIn(source).add(start.at)
  if (calls.length === 0 || other !== -1) return undefined
  // Llama 3 closes more than it opened.
  return { calls, end: skip(text, end, '}]'), complete: whole }
}

const refused = new WeakMap<Source, Set<number>>()

/** Where rows begin that hold something else than calls of tools: each would be read again from its every call, in quadratic time. */
function refusedIn(source: Source): Set<number> {
  const known = refused.get(source) ?? new Set()
  refused.set(source, known)
  return known
}
