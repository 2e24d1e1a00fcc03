/** How every provider's client reaches its server: what comes back is bounded, and no redirect is followed. */
import { boundedFetch } from './bounded-fetch.ts'
import { patientFetch } from './patient-fetch.ts'

/**
 * A redirect is not followed: the conversation goes where the person said, and nowhere else. It comes back as the response
 * that it is, so that the fault can say where it leads.
 */
export const fetchHere: typeof fetch = boundedFetch((input, init) => fetch(input, { ...init, redirect: 'manual' }))

/** For models that run at home, which may take many minutes to begin. */
export const fetchAtHome: typeof fetch = boundedFetch(patientFetch)
