import type { Source } from './source.ts'

/** A place in text with `\n` only. */
export interface Place {
  readonly start: number
  readonly end: number
}

/** A way to find the old text; tried in order, the first that finds anything decides. */
export interface Strategy {
  readonly name: string
  /** Said to the model when it was needed. */
  readonly note?: string
  /** Places in order, also overlapping ones: two are too many to choose from. At most `most` of them. */
  readonly find: (source: Source, oldText: string, most: number) => readonly Place[]
  /** What comes to a place: the new text, fitted to how the place was found. `undefined` where that would be a guess. */
  readonly fit: (found: string, oldText: string, newText: string) => string | undefined
}
