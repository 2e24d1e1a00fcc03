/** Puts a question to the user, in words. `undefined` when it was closed without an answer. */
export type Ask = (question: string, signal: AbortSignal) => Promise<string | undefined>
