/** The stored record of a compaction, so that a later process sends the same bytes. */

export interface Compaction {
  /** The last message that the digest stands for; the results of its calls included. */
  readonly covers: string
  /** What is sent in place of all up to there. */
  readonly digest: string
  /** A message of the user that the digest stands for and that follows it whole: what is being worked on. */
  readonly task?: string
  /** A step whose results were too long to be kept at the usual length: tokens of all of them together. */
  readonly tight?: { readonly message: string; readonly tokens: number }
}

/** What a compaction came to, in estimated tokens of a request. */
export interface CompactionReport {
  readonly before: number
  readonly after: number
  /** Calls that were sent whole before, and are in the digest now. */
  readonly calls: number
}

/** `full`: the next request would not have fitted; `refused`: the server said so; `asked`: by hand. */
export type CompactionReason = 'full' | 'refused' | 'asked'
