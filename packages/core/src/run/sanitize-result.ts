/** Rebuilds a result field by field, so that every field has its declared type and is plain JSON. */
import { isRecord, isTooDeep } from '@mulligan/repair'
import { isErrorType, isStatus, notOk, ok, type ToolError, type ToolResult } from '../result.ts'

/** The note of a result with a part that is not JSON. */
export const REPLACED = 'Parts of the result cannot be written as JSON and were replaced.'
const MAX_DEPTH = 100
/** JSON shorter than this cannot be nested too deeply. */
const SHALLOW = 400

type Fields = Readonly<Record<string, unknown>>
/** Returns the sanitized value; undefined if it has the wrong type. */
type Check = (value: unknown) => unknown

const onlyIf =
  (fits: (value: unknown) => boolean): Check =>
  (value) =>
    fits(value) ? value : undefined
const text = onlyIf((value) => typeof value === 'string')
const number = onlyIf(Number.isFinite)
const call = onlyIf((value) => isRecord(value) && typeof value['tool'] === 'string' && isRecord(value['input']))

/** The error details that the engine and the renderer read; all others belong to the tool. */
const DETAILS: Readonly<Record<string, Check>> = {
  parameter: text,
  constraint: text,
  candidates: onlyIf(Array.isArray),
  call,
  example: call,
  triesLeft: number,
}
const TRUNCATED: Readonly<Record<string, Check>> = { shown: number, total: number, spill: text }
const FIELDS: Readonly<Record<string, Check>> = {
  // Without any parts, the result is rendered from its data.
  content: (content) => text(content) ?? some(content, sanitizePart),
  display: text,
  notes: (notes) => some(notes, text),
  untrusted: onlyIf((value) => value === true),
  secret: onlyIf((value) => value === true),
  truncated: (cut) => onlyIf((kept) => isRecord(kept) && 'shown' in kept && 'total' in kept)(isRecord(cut) && pick(cut, TRUNCATED)),
}
/** The fields of a success other than its data. */
export const OK_FIELDS: Readonly<Record<string, Check>> = {
  ...FIELDS,
  count: number,
  page: number,
  hasMore: onlyIf((value) => typeof value === 'boolean'),
}

/** Sanitizes a result. May throw if a field cannot be read at all; callers turn that into a result. */
export function sanitizeResult(result: ToolError): ToolError
export function sanitizeResult(result: ToolResult): ToolResult
export function sanitizeResult(result: ToolResult): ToolResult {
  const fields = result as unknown as Fields
  if (fields['ok'] === true) {
    const { value, replaced } = plainJson(fields['data'])
    return ok(value, pick(fields, OK_FIELDS, replaced))
  }
  const { status, errorType, error, details } = fields
  const { value, replaced } = plainJson(details)
  const more = pick(fields, FIELDS, replaced)
  if (isRecord(value)) more['details'] = Object.fromEntries(Object.entries(value).filter(([key, one]) => !isWrong(key, one)))
  const says = typeof error === 'string' ? error : 'The tool reported an error without text.'
  return isStatus(status) && isErrorType(errorType) ? notOk(errorType, says, { ...more, status }) : notOk('internal', says, more)
}

const isWrong = (key: string, value: unknown): boolean => Object.hasOwn(DETAILS, key) && DETAILS[key]?.(value) === undefined

/** Returns the fields with the right type, reading each once, and adds a note if something was replaced. */
function pick(fields: Fields, checks: Readonly<Record<string, Check>>, replaced = false): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const key in checks) {
    const value = checks[key]?.(fields[key])
    if (value !== undefined) kept[key] = value
  }
  if (replaced) kept['notes'] = [...((kept['notes'] ?? []) as string[]), REPLACED]
  return kept
}

/** Returns the valid items of a list; undefined if there are none. */
function some(list: unknown, check: Check): unknown {
  const kept = Array.isArray(list) ? list.map(check).filter((item) => item !== undefined) : []
  return kept.length > 0 ? kept : undefined
}

function sanitizePart(part: unknown): unknown {
  if (!isRecord(part)) return undefined
  const { type, text, mediaType, data } = part
  if (type === 'text' && typeof text === 'string') return { type, text }
  return type === 'media' && typeof mediaType === 'string' && typeof data === 'string' ? { type, mediaType, data } : undefined
}

interface Plain {
  readonly value: unknown
  /** Whether something was not valid JSON and was replaced by a description. */
  readonly replaced: boolean
}

/** Converts a value to plain JSON, reading it once, so that a getter or `toJSON` cannot return something else later. */
function plainJson(value: unknown): Plain {
  if (value === null || /^(string|boolean|undefined)$/.test(typeof value) || Number.isFinite(value))
    return { value: value ?? null, replaced: false }
  try {
    const text = JSON.stringify(value)
    const copy: unknown = JSON.parse(text ?? 'null')
    if (text === undefined || text.length < SHALLOW || !isTooDeep(copy)) return { value: copy, replaced: false }
  } catch {
    // A circular reference, a BigInt, or a throwing `toJSON` or getter: convert part by part below.
  }
  return { value: withoutCircles(value, []), replaced: true }
}

function withoutCircles(value: unknown, above: readonly object[]): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.parse(JSON.stringify(value) ?? 'null')
  if (above.includes(value)) return '(circular)'
  if (above.length >= MAX_DEPTH) return '(nested too deep)'
  const inside = [...above, value]
  const members = (Array.isArray(value) ? [...value.keys()] : Object.keys(value).filter((key) => key !== 'toJSON')).map(
    (key): [string, unknown] => {
      try {
        return [String(key), withoutCircles((value as Fields)[key], inside)]
      } catch {
        return [String(key), '(unreadable)']
      }
    },
  )
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)
}
