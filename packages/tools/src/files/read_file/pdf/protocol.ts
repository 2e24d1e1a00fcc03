/** What the thread that reads a PDF is given and what it sends. */
export interface ToWorker {
  readonly bytes: Uint8Array
  readonly maxPages: number
  readonly maxChars: number
}

export type FromWorker =
  | { readonly type: 'opened'; readonly pages: number }
  /** Without a text the page could not be read. */
  | { readonly type: 'page'; readonly number: number; readonly text: string | undefined }
  /** `cut`: there are more pages than are read. */
  | { readonly type: 'ended'; readonly cut: boolean }
  | { readonly type: 'refused'; readonly why: 'encrypted' | 'broken' }
