/** Searches sessions by words. Pure. */

/** Maximum number of words; more are ignored. */
const MAX_WORDS = 16

export const wordsIn = (search: string): readonly string[] => search.split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)

/** Makes ASCII letters lower case, as SQL does. */
export const folded = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Returns whether each word of a search occurs in one of the texts. */
export const matches = (texts: readonly string[], search: string): boolean =>
  wordsIn(search).every((word) => texts.some((text) => folded(text).includes(folded(word))))
