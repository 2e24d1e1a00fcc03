/** Calls as bare JSON: Llama 3 (`{"name": …, "parameters": {…}}`, joined by `;`), xLAM (a list), and models that forgot their tags. */
import type { Block, Family, Source } from '../family.ts'
import { headAt, readCalls } from '../syntax/call-text.ts'
import { skip } from '../syntax/json-extent.ts'

const ARGUMENTS_FIRST = /\{\s*"(?:arguments|parameters)"\s*:\s*[{"]/y

export const llamaJson: Family = {
  id: 'llama-json',
  openers: ['{', '['],
  strong: false,
  read: readBareCalls,
}

/** Calls of nothing but JSON: all of them with the exact names of tools, and with arguments. */
export function readBareCalls(source: Source, at: number): Block | undefined {
  const { text, tools } = source
  const from = text[at] === '[' ? skip(text, at + 1) : at
  const isTool = (name: string): boolean => tools.exact(name.replace(/^functions\./, '')) !== undefined
  const head = headAt(text, from)
  ARGUMENTS_FIRST.lastIndex = from
  if (head ? !head.arguments || !isTool(head.name) : !ARGUMENTS_FIRST.test(text)) return undefined
  const { calls, end, whole } = readCalls(source, at, [])
  if (calls.length === 0 || !calls.every((call) => isTool(call.name))) return undefined
  // Llama 3 closes more than it opened.
  return { calls, end: skip(text, end, '}]'), complete: whole }
}
