/** A value after its key: from its opening tag, or where that should be, to its end. */

import { parseJson } from '../../arguments/brackets.ts'
import { typesOf } from '../../schema/types.ts'
import { isRecord } from '../../schema/validate.ts'
import type { ToolIndex } from '../family.ts'
import { PAIR_MARKUP, standsIn, tagAt, typedEnd } from './arg-tags.ts'
import { blankEnd, type Draft, endsAt } from './tags.ts'
import { endOfValue } from './value.ts'

/** At the end of a value that no closing tag ends: a tag that was to close it. */
const STANDS_LAST = /<\/?(?:tool_call|arg_key|arg_value)>\s*$/

/** Takes the value after a key into the draft and gives its end. */
export function readValue(text: string, from: number, key: string, draft: Draft, tools: ToolIndex): number | 'cut' | 'none' {
  const open = typedEnd(text, from)
  const tag = tagAt(text, open)
  if (!tag && endsAt(text, open)) return 'cut'
  const opened = tag?.name === 'arg_value' || (tag !== undefined && standsIn(text, open, tag.end))
  if (tag && !opened) return 'none'
  // Without its opening tag a value begins at once, or on the next line.
  const start = opened && tag ? tag.end : text.startsWith('\r\n', from) ? from + 2 : text[from] === '\n' ? from + 1 : from
  if (tag?.name !== 'arg_value') draft.damaged(`the opening <arg_value> was ${tag ? 'another tag' : 'missing'}`)
  const found = endOfValue(text, start, PAIR_MARKUP)
  if (!found) return 'cut'
  draft.doubted(found.damage)
  const inside = text.slice(start, found.end)
  const whole = found.next === found.end ? inside.replace(STANDS_LAST, '').replace(/\r?\n[ \t]*$/, '') : inside
  draft.add({ key, text: unescaped(once(whole, draft), key, draft, tools) })
  return found.next
}

/** A value whose opening tag stood twice: one that is quoted has its closing tag. */
function once(text: string, draft: Draft): string {
  const open = tagAt(text, blankEnd(text, 0))
  if (open?.name !== 'arg_value' || text.includes('</arg_value')) return text
  draft.damaged('an opening tag stood twice')
  return text.slice(open.end)
}

/** JSON that a server has escaped once more, where the tool does not take a text. */
function unescaped(text: string, key: string, draft: Draft, tools: ToolIndex): string {
  if (!/^(?:\s|\\[nrt])*[[{]/.test(text) || !text.includes('\\"')) return text
  const properties = tools.resolve(draft.name)?.parameters?.['properties']
  if (isRecord(properties) && Object.hasOwn(properties, key) && takesText(properties[key])) return text
  if (parseJson(text) !== undefined) return text
  const inner = parseJson(`"${text.replace(/[\n\r\t]/g, (one) => JSON.stringify(one).slice(1, -1))}"`)
  if (typeof inner !== 'string' || parseJson(inner) === undefined) return text
  draft.doubted('a value was escaped twice')
  return inner
}

function takesText(schema: unknown): boolean {
  if (!isRecord(schema)) return false
  const parts = schema['anyOf'] ?? schema['oneOf']
  return typesOf(schema).includes('string') || (Array.isArray(parts) && parts.some(takesText))
}
