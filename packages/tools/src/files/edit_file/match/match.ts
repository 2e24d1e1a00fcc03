/** A place where an edit applies, in text with `\n` only. */
export interface Match {
  readonly start: number
  readonly end: number
  /** What comes there: the new text, fitted to how the place was found. */
  readonly replacement: string
}

/** A way to find the old text; tried in order, the first that finds anything decides. */
export interface Strategy {
  readonly name: string
  /** Said to the model when it was needed. */
  readonly note?: string
  /** Every match, also overlapping ones: two are too many to choose from. */
  readonly find: (text: string, oldText: string, newText: string) => readonly Match[]
}
