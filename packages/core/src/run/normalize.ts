/** Turns a returned value into a result, including common loose error shapes. */
import { isRecord } from '@mulligan/repair'
import { isToolError, isToolResult, notOk, type ToolError, type ToolOk, type ToolResult } from '../result.ts'
import { OK_FIELDS, sanitizeResult } from './sanitize-result.ts'

const MAX_ERROR = 2000

/** Converts a value returned by a tool into a result. */
export function fromReturned(value: unknown, options: { readonly errorStrings?: boolean } = {}): ToolResult {
  try {
    return sanitizeResult(resultOf(value, options))
  } catch {
    // A throwing getter or a proxy: the tool has returned, but its value is unreadable.
    return notOk('internal', 'The tool returned something that cannot be read. Its work may be done.')
  }
}

function resultOf(value: unknown, options: { readonly errorStrings?: boolean }): ToolResult {
  if (isToolResult(value)) return value
  const error = extractToolError(value, options)
  if (error) return error
  return isPlainOk(value) ? value : { ok: true, data: value }
}

/**
 * Returns the failure that a value represents, if any: a `ToolError`, `{ error }` with `ok` or `success` false, MCP's
 * `{ isError: true }`, and, if the tool opts in, a string that begins with "Error:". An object that merely has a field named `error` is
 * data.
 */
export function extractToolError(value: unknown, options: { readonly errorStrings?: boolean } = {}): ToolError | undefined {
  if (typeof value === 'string')
    return options.errorStrings && /^\s*Error:/i.test(value) ? notOk('execution', clip(value.replace(/^\s*Error:\s*/i, ''))) : undefined
  if (isToolError(value)) return value
  if (typeof value !== 'object' || value === null) return undefined
  const { ok: fine, success, isError, error, message, content } = value as Record<string, unknown>
  if (isError === true)
    return notOk('execution', clip(words(error) ?? words(content) ?? words(message) ?? 'The tool reported an error without text.'))
  if ((fine === false || success === false) && 'error' in value)
    return notOk('execution', clip(words(error) ?? words(message) ?? 'The tool reported an error without text.'))
  return undefined
}

const isPlainOk = (value: unknown): value is ToolOk =>
  isRecord(value) &&
  value['ok'] === true &&
  'data' in value &&
  Object.keys(value).every((key) => /^(ok|data)$/.test(key) || key in OK_FIELDS)

/** Returns the message in an error field: a string, an Error-like object, or MCP content parts. */
function words(value: unknown, depth = 0): string | undefined {
  if (depth > 5) return undefined
  if (typeof value === 'string' && value.trim() !== '') return value
  if (Array.isArray(value)) {
    const texts = value
      .map((part: unknown) => words((part as { text?: unknown } | null)?.text, depth + 1))
      .filter((one) => one !== undefined)
    return texts.length > 0 ? texts.join('\n') : undefined
  }
  if (typeof value === 'object' && value !== null) return words((value as { message?: unknown }).message, depth + 1)
  return undefined
}

const clip = (text: string): string => (text.length > MAX_ERROR ? `${text.slice(0, MAX_ERROR)}…` : text)
