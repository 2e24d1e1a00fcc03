/** How every provider's client reaches its server: what comes back is bounded, and no redirect is followed. */
import { type Repair, repairFetch } from '@mulligan/repair'
import { boundedFetch } from './bounded-fetch.ts'
import { patientFetch } from './patient-fetch.ts'

/**
 * A redirect is not followed: the conversation goes where the person said, and nowhere else. It comes back as the response
 * that it is, so that the fault can say where it leads.
 */
export const fetchHere: typeof fetch = boundedFetch((input, init) => fetch(input, { ...init, redirect: 'manual' }))

/** For models that run at home, which may take many minutes to begin. */
export const fetchAtHome: typeof fetch = boundedFetch(patientFetch)

/** Repairs of one response that are told: each is an event. */
const MAX_REPAIRS = 200

export interface RepairingFetch {
  readonly fetch: typeof fetch
  /** What was repaired in the last response. Told once. */
  readonly takeRepairs: () => readonly Repair[]
}

/** For clients of chat completions: calls are repaired, and those beyond the limit dropped, before the client reads them. */
export function repairingFetch(fetch: typeof globalThis.fetch): RepairingFetch {
  const repairs: Repair[] = []
  const onRepair = (repair: Repair): void => {
    if (repairs.length < MAX_REPAIRS || repair.kind === 'dropped') repairs.push(repair)
  }
  // What was cut off by its length is the engine's to refuse: it knows what each tool does.
  const repairing = repairFetch({ fetch, cutOff: 'keep', onRepair })
  return {
    fetch: (input, init) => {
      repairs.length = 0
      return repairing(input, init)
    },
    takeRepairs: () => repairs.splice(0),
  }
}
