/** The result of a tool call: always one {@link ToolResult}, the same object for the model, store, events, CLI and exit code. */

/** The kind of failure. It determines who acts next and whether a retry is used up. */
export type Status = 'retry' | 'failed' | 'unavailable' | 'denied' | 'indeterminate' | 'closed' | 'blocked' | 'cancelled'

/** The default status of each {@link ErrorType}. */
export const DEFAULT_STATUS = {
  validation: 'retry',
  not_found: 'retry',
  unknown_tool: 'retry',
  malformed_call: 'retry',
  conflict: 'retry',
  too_broad: 'retry',
  too_large: 'retry',
  unsupported: 'retry',
  permission: 'failed',
  execution: 'failed',
  config: 'failed',
  sandbox: 'failed',
  timeout: 'failed',
  internal: 'failed',
  rate_limited: 'unavailable',
  network: 'unavailable',
  loop: 'blocked',
  limit: 'blocked',
  cancelled: 'cancelled',
} as const satisfies Readonly<Record<string, Status>>

/** The cause of a failure. Each type has a default {@link Status}, which the thrower can override. */
export type ErrorType = keyof typeof DEFAULT_STATUS

const STATUSES: readonly unknown[] = [...Object.values(DEFAULT_STATUS), 'denied', 'indeterminate', 'closed']

export const isStatus = (value: unknown): value is Status => STATUSES.includes(value)
export const isErrorType = (value: unknown): value is ErrorType => typeof value === 'string' && Object.hasOwn(DEFAULT_STATUS, value)

/** A call the model can make as is. */
export interface SuggestedCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

/**
 * The parts of a hint. `suggestion` is the value to send for `parameter` instead of `value`; `candidates` are other existing values,
 * nearest first. If the thrower gives no `call`, the executor builds one from these, provided that the resulting input is valid.
 */
export interface ErrorDetails {
  /** Path of the invalid parameter, e.g. `path` or `edits[0].old_text`. */
  readonly parameter?: string
  /** The value that was sent. */
  readonly value?: unknown
  /** The requirement on the value, as a phrase: "an existing file in the workspace". */
  readonly constraint?: string
  /** The nearest valid value. */
  readonly suggestion?: unknown
  /** Other existing values, nearest first. */
  readonly candidates?: readonly unknown[]
  /** The complete call to make instead. */
  readonly call?: SuggestedCall
  /** Wrong calls of this kind the model may still make before the tool is closed. Set by the executor. */
  readonly triesLeft?: number
  readonly [key: string]: unknown
}

/** A part of the content the model reads. `data` of a media part is base64. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'media'; readonly mediaType: string; readonly data: string }

/** The content of a result, as the model reads it. */
export type Content = string | readonly ContentPart[]

/** Indicates that `content` shows only a part. Sizes are in characters. */
export interface Truncated {
  readonly shown: number
  readonly total: number
  /** Path of the full text, which the model can read in pages with `read_file`. */
  readonly spill?: string
}

interface Told {
  /** The content for the model. Default: rendered from the other fields. */
  readonly content?: Content
  /** Markdown for the person, shown verbatim by a front end. */
  readonly display?: string
  /** Sentences for the model about what was assumed, repaired or omitted. */
  readonly notes?: readonly string[]
  readonly truncated?: Truncated
  /**
   * The call requested a secret file: from then on, anything that leaves the machine needs a person's approval. Set by the executor,
   * even if the call was refused; a tool that runs others may set it too.
   */
  readonly secret?: true
  /** The result contains content from outside the machine although its tool does not always return such content. */
  readonly untrusted?: true
}

export interface ToolOk<T = unknown> extends Told {
  readonly ok: true
  /** The result's data, for programs. */
  readonly data: T
  /** Number of things found. Finding nothing is `0` and still a success. */
  readonly count?: number
  readonly page?: number
  readonly hasMore?: boolean
}

export interface ToolError extends Told {
  readonly ok: false
  readonly status: Status
  readonly errorType: ErrorType
  /** One or two sentences for the model and the person. Contains no secrets, stack traces or host paths. */
  readonly error: string
  readonly details?: ErrorDetails
}

/** The result of a tool call. */
export type ToolResult<T = unknown> = ToolOk<T> | ToolError

const RESULT = Symbol.for('mulligan.result')

function branded<R extends ToolResult>(result: R): R {
  Object.defineProperty(result, RESULT, { value: true })
  return result
}

/** Returns a success. `more` carries `content`, `display`, `count`, paging and notes. */
export function ok<T>(data: T, more: Omit<ToolOk<T>, 'ok' | 'data'> = {}): ToolOk<T> {
  return branded({ ok: true, data, ...more })
}

/** Returns a success with count 0. `says` names the searched locations. */
export function empty<T>(data: T, says: string, more: Omit<ToolOk<T>, 'ok' | 'data'> = {}): ToolOk<T> {
  return branded({ ok: true, data, content: says, count: 0, hasMore: false, ...more })
}

/** Returns a failure of the given type. Its status is the type's default unless `more.status` overrides it. */
export function notOk(errorType: ErrorType, error: string, more: Partial<Omit<ToolError, 'ok' | 'errorType' | 'error'>> = {}): ToolError {
  return branded({ ok: false, status: DEFAULT_STATUS[errorType], errorType, error, ...more })
}

/** Returns true for a result made by {@link ok}, {@link empty} or {@link notOk}, even by another copy of this package. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[RESULT] === true
}

/** Returns true for a failed {@link ToolResult}, whether made here or read from JSON. */
export function isToolError(value: unknown): value is ToolError {
  if (typeof value !== 'object' || value === null) return false
  const { ok, status, errorType, error } = value as Partial<ToolError>
  return ok === false && typeof error === 'string' && isErrorType(errorType) && isStatus(status)
}
