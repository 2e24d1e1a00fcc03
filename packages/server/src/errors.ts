/** Errors of the API, and how errors of the engine become one. */
import { type ApprovalRow, SessionBusy, UnknownSession, UnknownTurn } from '@mulligan/agent'
import { UsageError } from '@mulligan/host'
import { oneLine } from '@mulligan/host/light'

export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 500 | 503

/** An error that a client is told about. */
export class ApiError extends Error {
  readonly status: ErrorStatus
  readonly type: string
  readonly hint: string | undefined
  constructor(status: ErrorStatus, type: string, message: string, hint?: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.type = type
    this.hint = hint
  }
}

export const notFound = (what: string): ApiError => new ApiError(404, 'not_found', `there is no ${what}`)

/** Returns the error for a client. An unexpected one says nothing about its cause, which goes to the log. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof UsageError) return new ApiError(422, 'config', oneLine(error.message, 1000), error.hint && oneLine(error.hint, 1000))
  if (error instanceof UnknownSession || error instanceof UnknownTurn) return new ApiError(404, 'not_found', error.message)
  if (error instanceof SessionBusy) return new ApiError(409, 'busy', error.message, 'Wait for its turn to end, or abort it.')
  return new ApiError(500, 'internal', 'The server failed to do this. Its log has the details.')
}

export const bodyOf = ({ type, message, hint }: ApiError) => ({ error: { type, message, ...(hint !== undefined && { hint }) } })

/** Returns why a question can't be answered. */
export function answerRefused(row: Pick<ApprovalRow, 'status'> | undefined): ApiError {
  if (row?.status !== 'expired') return new ApiError(409, 'answered', 'this question was answered before, or its turn has ended')
  return new ApiError(
    409,
    'expired',
    'this question was asked too long ago',
    'The turn asks again with the current state: GET /api/approvals',
  )
}
