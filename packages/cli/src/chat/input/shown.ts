/** Draws what is shown besides the text: the completion menu and the history search. */
import type { Draft } from './draft.ts'

export interface Completion {
  /** What is put in place of what was typed. With a blank at its end where the word is done. */
  readonly insert: string
  readonly label: string
  readonly description?: string
  /** Enter sends it at once: a command that takes nothing more. Default false. */
  readonly submits?: boolean
}

export interface Completions {
  /** What was typed of it, as offsets of the text in UTF-16 code units. */
  readonly from: number
  readonly to: number
  /** Best first. */
  readonly items: readonly Completion[]
}

export interface Menu extends Completions {
  readonly selected: number
  /** More was typed since: it is shown until the next one is there, and takes no keys. */
  readonly stale: boolean
}

/** What is taken of what was found, without a choice: nothing, the only one, or the best. */
export type Takes = 'none' | 'only' | 'best'

export interface Search {
  readonly query: string
  /** The entry that is shown. */
  readonly at?: number
  /** What stood there before. */
  readonly origin: Draft
  readonly failed: boolean
}
