/** A result rebuilt field by field: whatever a tool put there, what goes on is of the type it says, and is plain JSON. */
import { isTooDeep } from '@mulligan/repair'
import {
  type Content,
  type ContentPart,
  type ErrorDetails,
  isErrorType,
  isStatus,
  notOk,
  ok,
  type SuggestedCall,
  type ToolError,
  type ToolOk,
  type ToolResult,
  type Truncated,
} from '../result.ts'

const NO_TEXT = 'The tool reported an error without a text.'
const REPLACED = 'Parts of the result cannot be written as JSON and were replaced.'
const MAX_DEPTH = 100
/** JSON that is shorter cannot be nested too deep. */
const SHALLOW = 400

type Fields = Readonly<Record<string, unknown>>
type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** May throw where a field cannot be read at all: its callers say so in a result. */
export function sane(result: ToolError): ToolError
export function sane(result: ToolResult): ToolResult
export function sane(result: ToolResult): ToolResult {
  return result.ok === true ? saneOk(result as unknown as Fields) : saneError(result as unknown as Fields)
}

function saneOk(fields: Fields): ToolOk {
  const { data, count, page, hasMore } = fields
  const { value, replaced } = plainJson(data)
  const more: Writable<Omit<ToolOk, 'ok' | 'data'>> = saneShared(fields, replaced)
  if (isNumber(count)) more.count = count
  if (isNumber(page)) more.page = page
  if (typeof hasMore === 'boolean') more.hasMore = hasMore
  return ok(value, more)
}

function saneError(fields: Fields): ToolError {
  const { status, errorType, error, details } = fields
  const text = typeof error === 'string' ? error : NO_TEXT
  const { value, replaced } = isObject(details) ? plainJson(details) : NOTHING
  const more: Writable<Partial<ToolError>> = saneShared(fields, replaced)
  if (isObject(value)) more.details = saneDetails(value)
  if (!isStatus(status) || !isErrorType(errorType)) return notOk('internal', text, more)
  more.status = status
  return notOk(errorType, text, more)
}

type Shared = Writable<Pick<ToolOk, 'content' | 'display' | 'notes' | 'truncated'>>

function saneShared({ content, display, notes, truncated }: Fields, replaced: boolean): Shared {
  const shared: Shared = {}
  const shown = content === undefined ? undefined : saneContent(content)
  if (shown !== undefined) shared.content = shown
  if (typeof display === 'string') shared.display = display
  const told = Array.isArray(notes) ? notes.filter((note) => typeof note === 'string') : []
  if (replaced) told.push(REPLACED)
  if (told.length > 0) shared.notes = told
  const cut = isObject(truncated) ? saneTruncated(truncated) : undefined
  if (cut) shared.truncated = cut
  return shared
}

/** Parts that are none are left out; without any, the result is rendered from its data. */
function saneContent(content: unknown): Content | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  const parts = content.map(sanePart).filter((part) => part !== undefined)
  return parts.length > 0 ? parts : undefined
}

function sanePart(part: unknown): ContentPart | undefined {
  if (!isObject(part)) return undefined
  const { type, text, mediaType, data } = part
  if (type === 'text' && typeof text === 'string') return { type, text }
  if (type === 'media' && typeof mediaType === 'string' && typeof data === 'string') return { type, mediaType, data }
  return undefined
}

function saneTruncated({ shown, total, spill }: Fields): Truncated | undefined {
  if (!isNumber(shown) || !isNumber(total)) return undefined
  return typeof spill === 'string' ? { shown, total, spill } : { shown, total }
}

/** What the engine and the renderer read of the details is of its type or absent; the rest is the tool's own. */
function saneDetails(details: Fields): ErrorDetails {
  const copy: Record<string, unknown> = { ...details }
  for (const key of Object.keys(copy)) {
    const fits = Object.hasOwn(DETAIL, key) ? DETAIL[key as keyof typeof DETAIL] : undefined
    if (fits && !fits(copy[key])) delete copy[key]
  }
  return copy
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => Number.isFinite(value)
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const isCall = (value: unknown): value is SuggestedCall => isObject(value) && isText(value['tool']) && isObject(value['input'])

const DETAIL = { parameter: isText, constraint: isText, candidates: Array.isArray, call: isCall, example: isCall, triesLeft: isNumber }

interface Plain {
  readonly value: unknown
  /** Something was no JSON and stands there in other words. */
  readonly replaced: boolean
}

const NOTHING: Plain = { value: undefined, replaced: false }

/** The value as plain JSON, read once: a getter or a `toJSON` has no second say. */
function plainJson(value: unknown): Plain {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null || isNumber(value)) return { value, replaced: false }
  try {
    const text = JSON.stringify(value)
    if (text === undefined) return { value: null, replaced: false }
    const copy: unknown = JSON.parse(text)
    if (text.length < SHALLOW || !isTooDeep(copy)) return { value: copy, replaced: false }
  } catch {
    // A circle, a BigInt, a `toJSON` or a getter that throws: part by part, then.
  }
  return { value: withoutCircles(value, new Set()), replaced: true }
}

function withoutCircles(value: unknown, above: Set<object>): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') return isNumber(value) ? value : null
  if (typeof value === 'function' || typeof value === 'symbol' || value === undefined) return null
  if (typeof value !== 'object' || value === null) return value
  if (above.has(value)) return '(circular)'
  if (above.size >= MAX_DEPTH) return '(nested too deep)'
  above.add(value)
  const inner = (member: () => unknown): unknown => {
    try {
      return withoutCircles(member(), above)
    } catch {
      return '(unreadable)'
    }
  }
  const copy = Array.isArray(value)
    ? Array.from(value, (_, at) => inner(() => value[at]))
    : Object.fromEntries(
        Object.keys(value)
          .filter((key) => key !== 'toJSON')
          .map((key) => [key, inner(() => (value as Fields)[key])]),
      )
  above.delete(value)
  return copy
}
