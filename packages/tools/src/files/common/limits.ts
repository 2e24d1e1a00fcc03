/** Limits for the input and output of the file tools. These are upper bounds: the executor limits every result again, in tokens. */
export interface FileLimits {
  /** Characters of a line shown by `read_file`. */
  readonly lineChars: number
  /** Bytes of text in a page of `read_file`. */
  readonly pageBytes: number
  /** Larger files are not read to the end for one page, so they have no total and no hash. Bytes. */
  readonly readThroughBytes: number
  /** The largest file that `edit_file` and a replacing `write_file` accept. Bytes. */
  readonly editBytes: number
  /** Media types (`image/png`) that the model accepts as content. Default: none. */
  readonly media: readonly string[]
  /** The largest file passed on as media. Bytes. */
  readonly mediaBytes: number
  /** Maximum duration of a search in seconds. */
  readonly searchSeconds: number
  /** Characters of a matching line shown by `grep`. */
  readonly matchChars: number
  /** Matches or files kept for sorting and paging; any more are only counted. */
  readonly heldMatches: number
}

export const DEFAULT_FILE_LIMITS: FileLimits = {
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
/** The same for walking the workspace. A search has its own, earlier deadline. */
export const WALK_TIMEOUT = 30
