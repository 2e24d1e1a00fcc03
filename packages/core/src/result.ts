/** The result of a tool call: exactly one {@link ToolResult}, the same object for model, store, events, CLI and exit code. */

/** Which kind of "not ok" this is: it decides who acts next and whether a retry is spent. */
export type Status = 'retry' | 'failed' | 'unavailable' | 'denied' | 'indeterminate' | 'closed' | 'blocked' | 'cancelled'

/** What went wrong. Each type has a default {@link Status}, which the thrower can override. */
export type ErrorType =
  | 'validation'
  | 'not_found'
  | 'unknown_tool'
  | 'malformed_call'
  | 'conflict'
  | 'too_broad'
  | 'too_large'
  | 'unsupported'
  | 'permission'
  | 'execution'
  | 'config'
  | 'sandbox'
  | 'timeout'
  | 'internal'
  | 'rate_limited'
  | 'network'
  | 'loop'
  | 'limit'
  | 'cancelled'

/** The status an {@link ErrorType} has when the thrower names none. */
export const DEFAULT_STATUS: Readonly<Record<ErrorType, Status>> = {
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
}

const STATUSES: readonly unknown[] = [...Object.values(DEFAULT_STATUS), 'denied', 'indeterminate', 'closed']

export const isStatus = (value: unknown): value is Status => STATUSES.includes(value)
export const isErrorType = (value: unknown): value is ErrorType => typeof value === 'string' && Object.hasOwn(DEFAULT_STATUS, value)

/** A call the model can issue as it stands. */
export interface SuggestedCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

/**
 * What a hint is made of. `suggestion` is the value to send for `parameter` instead of `value`; `candidates` are
 * further real values, nearest first. The executor composes `call` from these when the thrower gives none and the
 * composed input validates.
 */
export interface ErrorDetails {
  /** Path of the parameter at fault, e.g. `path` or `edits[0].old_text`. */
  readonly parameter?: string
  /** The value it got. */
  readonly value?: unknown
  /** What the value must be, as a phrase: "an existing file in the workspace". */
  readonly constraint?: string
  /** The nearest value that works in its place. */
  readonly suggestion?: unknown
  /** More real values, nearest first. */
  readonly candidates?: readonly unknown[]
  /** The whole call to issue instead. */
  readonly call?: SuggestedCall
  /** How many wrong calls of this kind the model may still make before the tool is closed. Set by the executor. */
  readonly triesLeft?: number
  readonly [key: string]: unknown
}

/** A piece of what the model reads. `data` of a media part is base64. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'media'; readonly mediaType: string; readonly data: string }

/** What the model reads of a result. */
export type Content = string | readonly ContentPart[]

/** Says that `content` shows a part only. Sizes are characters. */
export interface Truncated {
  readonly shown: number
  readonly total: number
  /** Where the model can read the whole, in pages: a path that `read_file` takes. */
  readonly spill?: string
}

export interface ToolOk<T = unknown> {
  readonly ok: true
  /** For programs. */
  readonly data: T
  /** What the model reads; default: rendered from the rest. */
  readonly content?: Content
  /** Markdown for the person, shown verbatim by a front end. */
  readonly display?: string
  /** How many things were found; nothing found is `0`, and still ok. */
  readonly count?: number
  readonly page?: number
  readonly hasMore?: boolean
  /** Sentences the model should know: what was assumed, repaired or left out. */
  readonly notes?: readonly string[]
  readonly truncated?: Truncated
  /** The call asked for a secret file: from then on, what leaves the machine needs a person. Set by the executor. */
  readonly secret?: true
}

export interface ToolError {
  readonly ok: false
  readonly status: Status
  readonly errorType: ErrorType
  /** One or two sentences for the model and the person. Holds no secret, stack or host path. */
  readonly error: string
  readonly details?: ErrorDetails
  readonly content?: Content
  readonly display?: string
  readonly notes?: readonly string[]
  readonly truncated?: Truncated
  /** As of {@link ToolOk}: a refused request counts too. */
  readonly secret?: true
}

/** What every tool call comes to. */
export type ToolResult<T = unknown> = ToolOk<T> | ToolError

const RESULT = Symbol.for('mulligan.result')

function branded<R extends ToolResult>(result: R): R {
  Object.defineProperty(result, RESULT, { value: true })
  return result
}

/** A success. `more` carries `content`, `display`, `count`, paging and notes. */
export function ok<T>(data: T, more: Omit<ToolOk<T>, 'ok' | 'data'> = {}): ToolOk<T> {
  return branded({ ok: true, data, ...more })
}

/** Nothing found: a success with count 0. `says` names the searched locations. */
export function empty<T>(data: T, says: string, more: Omit<ToolOk<T>, 'ok' | 'data'> = {}): ToolOk<T> {
  return branded({ ok: true, data, content: says, count: 0, hasMore: false, ...more })
}

/** A failure of the given type; its status is the type's default unless `more.status` overrides it. */
export function notOk(errorType: ErrorType, error: string, more: Partial<Omit<ToolError, 'ok' | 'errorType' | 'error'>> = {}): ToolError {
  return branded({ ok: false, status: DEFAULT_STATUS[errorType], errorType, error, ...more })
}

/** True for a result made by {@link ok}, {@link empty} or {@link notOk}, in whichever copy of this package. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[RESULT] === true
}

/** True for a {@link ToolResult} that is not ok: made here, or read back from JSON. */
export function isToolError(value: unknown): value is ToolError {
  if (typeof value !== 'object' || value === null) return false
  const { ok, status, errorType, error } = value as Partial<ToolError>
  return ok === false && typeof error === 'string' && isErrorType(errorType) && isStatus(status)
}
