/** Effects whose service has no idempotency key: after an attempt with an unknown outcome, the service is asked, and nothing is sent again. */
import { createHash } from 'node:crypto'
import { type ToolContext, ToolFailure, TransientError } from '@mulligan/core'
import { isTransient } from '@mulligan/core/executor'

/** A fault that does not say whether the request was carried out. */
export class UnknownOutcome extends TransientError {}

/** Marks a read that comes before the effect: if it fails, nothing was done yet. */
export const beforehand = <T>(read: Promise<T>): Promise<T> =>
  read.catch((error: unknown) => {
    throw error instanceof UnknownOutcome ? new TransientError(error.message) : error
  })

/** Calls whose refusal is remembered. */
const MAX_REFUSED = 100

export interface Effect<T> {
  /** Carries it out. */
  readonly send: () => Promise<T>
  /** Asks the service for what an earlier attempt may have done. Undefined if it can't be seen. */
  readonly find: () => Promise<T | undefined>
  /** Such as "It is not known whether the message was posted." */
  readonly unknown: string
}

/** Runs the first attempt of an effect, and looks for it in further ones, unless the service had refused it. */
export function createOnce() {
  /** Calls whose latest attempt was refused: nothing was done, and trying again is safe. Unknown after a restart. */
  const refused = new Set<string>()

  return async function once<T>({ callId, attempt, signal }: ToolContext, { send, find, unknown }: Effect<T>): Promise<T> {
    const isUnknown = (why: string): TransientError => new TransientError(`${why} ${unknown}`, { status: 'indeterminate' })
    if (attempt === 1 || refused.delete(callId)) {
      try {
        return await send()
      } catch (error) {
        if (error instanceof UnknownOutcome) throw isUnknown(error.message)
        if (isTransient(error)) {
          if (refused.size >= MAX_REFUSED) refused.clear()
          refused.add(callId)
        }
        throw error
      }
    }
    let found: T | undefined
    try {
      found = await find()
    } catch (error) {
      if (signal.aborted) throw error
      if (isTransient(error)) throw isUnknown(error.message)
      throw new ToolFailure(`The service refused to look it up. ${unknown}`, {
        status: 'indeterminate',
        errorType: 'network',
        cause: error,
      })
    }
    if (found === undefined) throw isUnknown('The service does not show it yet.')
    return found
  }
}

/** Identifies a call to a service: the same for every attempt, also after a restart. 32 hexadecimal digits. */
export const markOf = ({ idempotencyKey }: ToolContext): string => createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 32)
