/** What the file tools may return and take. Ceilings: the executor bounds every result once more, in tokens. */
export interface FileLimits {
  /** Characters of a line that `read_file` shows. */
  readonly lineChars: number
  /** Bytes of text in a page of `read_file`. */
  readonly pageBytes: number
  /** Larger files are not read to their end for one page: no total, no hash. Bytes. */
  readonly readThroughBytes: number
  /** The largest file that `edit_file` and a replacing `write_file` take. Bytes. */
  readonly editBytes: number
  /** Media types (`image/png`) that the model takes as content. Default none. */
  readonly media: readonly string[]
  /** The largest file passed on as media. Bytes. */
  readonly mediaBytes: number
  /** Seconds that a search may take. */
  readonly searchSeconds: number
  /** Characters of a matching line that `grep` shows. */
  readonly matchChars: number
  /** Matches or files that are held to be sorted and paged; more are only counted. */
  readonly heldMatches: number
}

export const DEFAULT_LIMITS: FileLimits = {
  lineChars: 2000,
  pageBytes: 50 * 1024,
  readThroughBytes: 10 * 1024 * 1024,
  editBytes: 10 * 1024 * 1024,
  media: [],
  mediaBytes: 5 * 1024 * 1024,
  searchSeconds: 10,
  matchChars: 300,
  heldMatches: 50_000,
}

/** Seconds after which the executor cuts off a call that works on one file. */
export const FILE_TIMEOUT = 30
/** The same for a walk over the workspace; a search has its own, earlier deadline. */
export const WALK_TIMEOUT = 30
