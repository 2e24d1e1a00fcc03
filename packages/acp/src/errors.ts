/** Translates errors for the editor: what happened, and what to do. */
import { RequestError } from '@agentclientprotocol/sdk'
import { SessionBusy, UnknownSession } from '@mulligan/agent'
import { NoModel, sanitize, UsageError } from '@mulligan/host/light'

const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602
const INTERNAL = -32603
const AUTH_REQUIRED = -32000

/** Returns an error with the message and the hint as the editor shows them. Others than our own are bugs, and only named. */
export function asRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  if (error instanceof NoModel) return withHint(AUTH_REQUIRED, error)
  if (error instanceof UsageError) return withHint(INVALID_PARAMS, error)
  if (error instanceof UnknownSession) return RequestError.sessionNotFound(error.message)
  if (error instanceof SessionBusy)
    return new RequestError(INVALID_REQUEST, `${error.message}. Wait for its turn to end, or start a new session.`)
  return new RequestError(INTERNAL, 'mulligan failed to do this; see its messages on stderr')
}

/** A request that came at the wrong time or has a wrong value. */
export const badRequest = (message: string): RequestError => new RequestError(INVALID_REQUEST, message)
export const badParams = (message: string): RequestError => new RequestError(INVALID_PARAMS, message)

/** The turn failed. @param message one line for the person */
export const turnFailed = (message: string): RequestError => new RequestError(INTERNAL, message)

function withHint(code: number, { message, hint }: UsageError): RequestError {
  const text = sanitize(`${message}\n${hint}`)
  return new RequestError(code, text, { message: sanitize(message), hint: sanitize(hint) })
}
