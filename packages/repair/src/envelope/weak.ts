/** Whether a text without markup of its own, `{"name": …` or `[f(x=1)]`, can be a call: decided from its first characters. */
import type { ToolIndex } from './family.ts'

/** A first key that says which tool is meant. */
const NAME_KEYS = ['name', 'tool_name', 'function', 'tool', 'function_name', 'recipient_name']
/** First keys of a call that come before its name. */
const OTHER_KEYS = ['id', 'type', 'tool_call_id', 'arguments', 'parameters']
/** A call that has not named its tool within this many characters is none. */
const WINDOW = 400

/** `maybe`: the text ends before it can be told. */
export type Verdict = 'no' | 'maybe' | 'yes'

export function weakVerdict(text: string, at: number, tools: ToolIndex): Verdict {
  const near = text.slice(at, at + WINDOW)
  const ended = at + WINDOW <= text.length
  const [open = ''] = /^[[{][\s[{]*/.exec(near) ?? []
  const rest = near.slice(open.length)
  if (open === '') return 'no'
  if (rest === '') return ended ? 'no' : 'maybe'
  if (rest[0] === '"') return keyed(rest, ended, tools)
  return open.trim() === '[' || open.trimEnd() === '[' ? called(rest, ended, tools) : 'no'
}

function keyed(rest: string, ended: boolean, tools: ToolIndex): Verdict {
  const [, key = '', closed] = /^"([^"\\]*)("?)/.exec(rest) ?? []
  const begins = (names: readonly string[]): boolean => names.some((name) => name.startsWith(key))
  if (closed === '') return !ended && (begins(NAME_KEYS) || begins(OTHER_KEYS) || begins(tools.names)) ? 'maybe' : 'no'
  if (NAME_KEYS.includes(key)) {
    const after = rest.slice(key.length + 2)
    const [, name = '', whole] = /^\s*:\s*"([^"\\]*)("?)/.exec(after) ?? []
    if (whole === '"') return tools.exact(name.replace(/^functions\./, '')) ? 'yes' : 'no'
    if (whole === '') return !ended && tools.names.some((one) => one.startsWith(name.replace(/^functions\./, ''))) ? 'maybe' : 'no'
    return /^\s*(:\s*)?$/.test(after) ? 'maybe' : key === 'function' && /^\s*:\s*\{/.test(after) ? nested(after, ended, tools) : 'no'
  }
  if (OTHER_KEYS.includes(key)) return nested(rest, ended, tools)
  return tools.exact(key) ? 'yes' : 'no'
}

function nested(rest: string, ended: boolean, tools: ToolIndex): Verdict {
  const [, name] = /"(?:name|tool_name|function|tool)"\s*:\s*"([^"\\]*)"/.exec(rest) ?? []
  if (name !== undefined) return tools.exact(name) ? 'yes' : 'no'
  return ended ? 'no' : 'maybe'
}

function called(rest: string, ended: boolean, tools: ToolIndex): Verdict {
  const [name = ''] = /^[\w.-]*/.exec(rest) ?? []
  if (name === '') return 'no'
  if (name.length === rest.length) return tools.names.some((one) => one.startsWith(name)) ? 'maybe' : 'no'
  if (!tools.exact(name)) return 'no'
  const after = rest.slice(name.length).trimStart()
  return after[0] === '(' ? 'yes' : after === '' && !ended ? 'maybe' : 'no'
}
