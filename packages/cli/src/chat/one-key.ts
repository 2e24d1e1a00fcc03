/** Answers a choice with one key, without Enter, or with the arrows and Enter. Pure. */

/** Milliseconds without a key after which one key answers: text that is being typed as the question appears is not an answer. */
export const QUIET = 500

/** A line of choices: `  [y]es once, [s]ession, [n]o and why: `. */
const CHOICES = /^ {2}\[\w\].*: $/

const WITH_REASON = '[n]o and why'

/** Names the keys as they work in the chat: `n` refuses at once, and `N` begins a reason. */
export const inOneKey = (line: string): string => (CHOICES.test(line) ? line.replace(WITH_REASON, '[n]o, [N]o and why') : line)

/** Returns the keys that answer a line of choices at once, in order. */
export const keysIn = (line: string): readonly string[] =>
  CHOICES.test(line) ? [...line.matchAll(/\[([a-z\d])\]/g)].map(([, key = '']) => key) : []

/** @param quiet milliseconds since the last key */
export const isOneKeyAnswer = (key: string, line: string, quiet: number): boolean => quiet >= QUIET && keysIn(line).includes(key)

/** Marks the choice of a key in a line of choices, so that it is visible without colors too. */
export const withChosen = (line: string, key: string | undefined, paint: (text: string) => string): string =>
  key === undefined ? line : line.replace(new RegExp(`\\[${key}\\][^,:]*`), (choice) => paint(`›${choice}`))
