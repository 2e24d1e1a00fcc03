/** The `fetch` functions of all providers: replies are limited in size, and redirects are not followed. */
import { type Repair, repairFetch } from '@mulligan/repair'
import { boundedFetch } from './bounded-fetch.ts'
import { patientFetch } from './patient-fetch.ts'

/**
 * Does not follow redirects: the conversation goes where the user said and nowhere else. Returns the redirect response itself, so that the
 * error can say where it leads.
 */
export const fetchHere: typeof fetch = boundedFetch((input, init) => fetch(input, { ...init, redirect: 'manual' }))

/** For local models, which may take many minutes to start replying. */
export const fetchAtHome: typeof fetch = boundedFetch(patientFetch)

/** Maximum number of repairs reported per response: each is an event. */
const MAX_REPAIRS = 200

export interface RepairingFetch {
  readonly fetch: typeof fetch
  /** Returns the repairs made in the last response, once. */
  readonly takeRepairs: () => readonly Repair[]
}

/** Wraps `fetch` for chat completions: repairs calls, and drops those beyond the limit, before the client reads them. */
export function repairingFetch(fetch: typeof globalThis.fetch): RepairingFetch {
  const repairs: Repair[] = []
  const onRepair = (repair: Repair): void => {
    if (repairs.length < MAX_REPAIRS || repair.kind === 'dropped') repairs.push(repair)
  }
  // Rejecting calls that were cut off by the length limit is up to the engine, which knows what each tool does.
  const repairing = repairFetch({ fetch, cutOff: 'keep', onRepair })
  return {
    fetch: (input, init) => {
      repairs.length = 0
      return repairing(input, init)
    },
    takeRepairs: () => repairs.splice(0),
  }
}
