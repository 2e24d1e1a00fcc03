/**
 * For every provider's client. A redirect is not followed: the conversation goes where the person said, and nowhere else.
 * It comes back as the response that it is, so that the fault can say where it leads.
 */
export const fetchHere: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'manual' })
