/** Converts a call from a family's markup into a tool call, with values typed by the tool's schema. */
import { levelFor, type Repair } from '../repair.ts'
import type { JsonSchema } from '../schema/types.ts'
import { allowedTypes, jsonType, recordOf } from '../schema/validate.ts'
import { parseJson, tryJson } from '../text.ts'
import type { ToolSpec } from '../tool-spec.ts'
import type { Block, Family, MarkupCall, TextEntry, ToolIndex } from './family.ts'
import { type Cursor, readLiteral, WORDS } from './syntax/python.ts'

/** A call parsed from markup. Its arguments are as written, typed by the schema where the markup has no types. */
export interface TextCall {
  /** As written. */
  readonly name: string
  /** The tool with this name; undefined if there is none. */
  readonly tool: ToolSpec | undefined
  /** An object, or text that should have been one. */
  readonly input: Readonly<Record<string, unknown>> | string
  readonly id?: string
  readonly family: string
  /** Its block has the closing markup and no call in it was damaged. */
  readonly canonical: boolean
  /** The reply ended inside it. */
  readonly cutOff: boolean
  /** Why the call cannot be run as received: nothing in it is callable, or too much of it is a guess. */
  readonly unread?: string
  /** Why a person has to approve the call. */
  readonly doubt?: string
  readonly repair: Repair
}

/** Maximum length of markup kept in a note, in characters. */
const MAX_NOTE = 500

/**
 * Returns the calls of a block.
 * @param raw the text of the block
 * @param asks a doubtful call with an effect is put to a person; otherwise it is not run
 */
export function textCalls({ calls, complete }: Block, family: Family, raw: string, tools: ToolIndex, asks = false): TextCall[] {
  const from = raw.length > MAX_NOTE ? `${raw.slice(0, MAX_NOTE)}…` : raw
  const form = `a call written into the text as ${family.id} does`
  return calls.map((call) => {
    const tool = tools.resolve(call.name)
    const isDoubtful = call.unmarked === true && isCareful(tool)
    const unread = whyUnread(call, tool, isDoubtful && !asks)
    const why = call.damage === undefined ? form : `${form}; ${call.damage}`
    return {
      name: call.name,
      tool,
      input: unread === undefined ? inputOf(call, tool?.parameters) : raw,
      ...(call.id !== undefined && { id: call.id }),
      family: family.id,
      canonical: complete && call.damage === undefined,
      // Without the closing markup, more may have been to come.
      cutOff: call.cutOff === true || (!complete && isCareful(tool)),
      ...(unread !== undefined && { unread }),
      ...(unread === undefined && isDoubtful && call.damage && { doubt: call.damage }),
      repair: { kind: 'envelope', from, to: tool?.name ?? call.name, why },
    }
  })
}

/** Returns whether the tool has effects and therefore needs more certainty than a read. */
export const isCareful = (tool: ToolSpec | undefined): boolean => tool !== undefined && (tool.repair ?? levelFor(tool.effect)) !== 'full'

function whyUnread({ arguments: given, damage, unsure }: MarkupCall, tool: ToolSpec | undefined, isRefused: boolean): string | undefined {
  const cannotRun = given.kind === 'unread' || isRefused || (unsure && isCareful(tool))
  return cannotRun ? (damage ?? 'nothing in it could be called') : undefined
}

function inputOf({ arguments: given }: MarkupCall, schema: JsonSchema | undefined): TextCall['input'] {
  if (given.kind === 'texts') return typeTexts(given.entries, schema)
  return given.kind === 'object' ? given.value : given.text
}

/** Types raw text values by the schema. If a key occurs more than once, the last value wins, as in JSON. */
export function typeTexts(entries: readonly TextEntry[], schema: JsonSchema | undefined): Record<string, unknown> {
  const properties = recordOf(schema?.['properties'])
  const typed: [string, unknown][] = []
  for (const { key, text, as } of entries) {
    const child = Object.hasOwn(properties, key) ? properties[key] : undefined
    typed.push([key, as === 'text' ? text : as === 'json' ? fromLiteral(text) : valueFor(text, child, schema ?? {})])
  }
  return Object.fromEntries(typed)
}

/**
 * Converts a raw text to a value that fits the schema. If the schema accepts a string, text that looks like JSON stays a string,
 * unless the schema also accepts such a list or object, which this markup cannot write in any other way. Otherwise the text is read as
 * JSON or a Python literal; text that is neither stays a string, and coercion checks whether it fits.
 */
function valueFor(text: string, schema: unknown, root: JsonSchema): unknown {
  const takes = allowedTypes(schema, root)
  if (takes.has('string')) {
    if (takes.has('null') && text.trim() === 'null') return null
    const json = takes.has('array') || takes.has('object') ? tryJson(text) : undefined
    return json !== undefined && takes.has(jsonType(json)) ? json : text
  }
  if (takes.size > 0) return fromLiteral(text)
  const value = fromJson(text)
  // The parameter is unknown: a number that would lose digits stays a string.
  return typeof value === 'number' && String(value) !== text.trim() ? text : value
}

function fromJson(text: string): unknown {
  const trimmed = text.trim()
  if (Object.hasOwn(WORDS, trimmed)) return WORDS[trimmed]
  return parseJson(trimmed) ?? text
}

/** Parses JSON, or a Python list or dict such as `{'a': None}`, even if it came as a string in JSON. */
function fromLiteral(text: string): unknown {
  const value = fromJson(text)
  if (typeof value !== 'string' || !/^\s*[[{(]/.test(value)) return value
  const cursor: Cursor = { text: value, at: 0, cut: false }
  const literal = readLiteral(cursor)
  return literal && value.slice(cursor.at).trim() === '' ? literal.value : value
}
