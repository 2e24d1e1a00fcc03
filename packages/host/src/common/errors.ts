/** Errors that the user must resolve before this can work. */

/** SQLite's result codes CORRUPT and NOTADB. */
const DAMAGED = new Set([11, 26])

/** Says what to do if the session store is damaged or cannot be reached. Returns undefined for any other error. */
export const storeHint = (error: unknown): string | undefined =>
  (error as { readonly name?: unknown } | undefined)?.name === 'PostgresError'
    ? 'MULLIGAN_STORE, or `store` in your configuration, keeps the sessions in this database.'
    : DAMAGED.has(Number((error as { readonly errcode?: unknown } | undefined)?.errcode) & 0xff)
      ? 'The store of the sessions is damaged. mulligan sessions repair saves what can be read, and keeps the damaged file.'
      : undefined

/** A setting, a flag or a file is wrong or missing. Nothing was started; the command exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** What to do about it: a command if there is one. */
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}

/** No model is set up: none is named and none was found, or its key is missing. */
export class NoModel extends UsageError {}
