/** Asks the user a question in words. Resolves to `undefined` if it was closed without an answer. */
export type Ask = (question: string, signal: AbortSignal) => Promise<string | undefined>
