/** A request that is sent twice with the same `Idempotency-Key` has one effect, and both get the same response. */
import { createHash } from 'node:crypto'
import { type EarlierRequest, isUser, type Store } from '@mulligan/agent'
import { ApiError } from './errors.ts'

interface Stored {
  readonly status: number
  readonly body: unknown
}

const MAX_KEY = 200

export interface KeyedRequest {
  readonly key: string
  /** The route and the body. */
  readonly request: string
}

/** What a handler knows of the key of its request. */
export interface Keyed {
  readonly key: string
  /** An earlier request with this key was cut off when its server ended: what it did is not to be done again. */
  readonly isCutOff: boolean
}

export async function onceFor(
  store: Pick<Store, 'reserve' | 'respond'>,
  { key, request }: KeyedRequest,
  work: (keyed: Keyed) => Promise<Stored>,
): Promise<Stored> {
  if (key.length > MAX_KEY) throw new ApiError(400, 'validation', `Idempotency-Key may have at most ${MAX_KEY} characters`)
  const fingerprint = createHash('sha256').update(request).digest('hex')
  const earlier = await store.reserve(key, fingerprint)
  if (earlier && !earlier.isCutOff) return responseOf(earlier, fingerprint)
  try {
    const done = await work({ key, isCutOff: earlier?.isCutOff ?? false })
    await store.respond(key, JSON.stringify(done))
    return done
  } catch (error) {
    // Nothing was done, so the same request may be sent again.
    await store.respond(key, undefined)
    throw error
  }
}

/** Returns the turn that an earlier request with this key began before its server ended. */
export async function turnBegunBy(store: Pick<Store, 'history'>, sessionId: string, keyed: Keyed | undefined): Promise<string | undefined> {
  if (!keyed?.isCutOff) return undefined
  return (await store.history(sessionId)).findLast((message) => isUser(message) && message.requestKey === keyed.key)?.turnId
}

function responseOf(earlier: EarlierRequest, fingerprint: string): Stored {
  if (earlier.fingerprint !== fingerprint) throw new ApiError(422, 'idempotency', 'this Idempotency-Key was used for another request')
  if (earlier.response !== undefined) return JSON.parse(earlier.response) as Stored
  throw new ApiError(409, 'in_progress', 'the first request with this Idempotency-Key has not ended', 'Look at the session for its effect.')
}
