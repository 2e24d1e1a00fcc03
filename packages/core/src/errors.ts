/** The three errors a tool throws. They pass through the executor unchanged; anything else that is thrown is wrapped. */
import { type Content, DEFAULT_STATUS, type ErrorDetails, type ErrorType, type Status } from './result.ts'

const KIND = Symbol.for('mulligan.error')

interface ErrorOptions extends ErrorDetails {
  readonly errorType?: ErrorType
  readonly status?: Status
  readonly cause?: unknown
  /** Content the model reads below the message, bounded and spilled like that of a success: e.g. a command's output. */
  readonly content?: Content
  readonly display?: string
}

/** Base class of the three errors. The message is written for the model and the person: no secrets, stack traces or host paths. */
export abstract class MulliganError extends Error {
  readonly errorType: ErrorType
  readonly status: Status
  readonly details: ErrorDetails
  readonly content: Content | undefined
  readonly display: string | undefined

  constructor(message: string, kind: string, fallback: ErrorType, options: ErrorOptions) {
    const { errorType = fallback, status = DEFAULT_STATUS[errorType], cause, content, display, ...details } = options
    super(message, cause === undefined ? undefined : { cause })
    this.name = kind
    this.errorType = errorType
    this.status = status
    this.details = details
    this.content = content
    this.display = display
    Object.defineProperty(this, KIND, { value: kind })
  }
}

/**
 * "You called this wrong; fix your parameters." Nothing was done. Uses up one of the model's retries.
 *
 * @example
 * throw new ModelRetry('No file at "src/mian.ts".', {
 *   errorType: 'not_found', parameter: 'path', value: 'src/mian.ts',
 *   constraint: 'an existing file in the workspace', suggestion: 'src/main.ts',
 * })
 */
export class ModelRetry extends MulliganError {
  constructor(message: string, options: ErrorOptions = {}) {
    super(message, 'ModelRetry', 'validation', { status: 'retry', ...options })
  }
}

/** The call was correct, but the work failed. Does not use up a retry; the model chooses another way. */
export class ToolFailure extends MulliganError {
  constructor(message: string, options: ErrorOptions = {}) {
    super(message, 'ToolFailure', 'execution', { status: 'failed', ...options })
  }
}

/**
 * A fault that may go away on its own. The executor backs off and tries again, for reads and for effects whose service accepts an
 * idempotency key; `retryAfter` (seconds) is honoured.
 */
export class TransientError extends MulliganError {
  readonly retryAfter: number | undefined
  constructor(message: string, options: ErrorOptions & { readonly retryAfter?: number } = {}) {
    const { retryAfter, ...rest } = options
    super(message, 'TransientError', 'network', { status: 'unavailable', ...rest })
    this.retryAfter = retryAfter
  }
}

/** Returns true for one of the three errors, even from another copy of this package. */
export function isMulliganError(value: unknown): value is MulliganError {
  return typeof kindOf(value) === 'string'
}

/** Returns true for a {@link TransientError}, even from another copy of this package. */
export function isTransient(value: unknown): value is TransientError {
  return kindOf(value) === 'TransientError'
}

/** Returns the kind of a thrown value. Anything can be thrown, even a revoked proxy; unreadable values are none of the three. */
function kindOf(value: unknown): unknown {
  try {
    return value instanceof Error ? (value as unknown as Record<symbol, unknown>)[KIND] : undefined
  } catch {
    return undefined
  }
}
