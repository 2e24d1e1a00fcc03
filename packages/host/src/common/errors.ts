/** Errors that the user must resolve before this can work. */

/** SQLite's CORRUPT and NOTADB. */
const DAMAGED = new Set([11, 26])

/** What to do where the store of the sessions is damaged or can't be reached; undefined for any other error. */
export const storeHint = (error: unknown): string | undefined =>
  (error as { readonly name?: unknown } | undefined)?.name === 'PostgresError'
    ? 'The sessions are kept in this database: MULLIGAN_STORE or `store` in your configuration says so.'
    : DAMAGED.has(Number((error as { readonly errcode?: unknown } | undefined)?.errcode) & 0xff)
      ? 'The store of the sessions is damaged. mulligan sessions repair saves what can be read, and keeps the damaged file.'
      : undefined

/** A setting, a flag or a file is wrong or missing. Nothing was started; the command exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** What to do, a command where there is one. */
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}
