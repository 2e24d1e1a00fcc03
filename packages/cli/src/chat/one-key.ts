/** Answers a choice with one key, without Enter, or with the arrows and Enter. Pure. */

/** Milliseconds without a key after which one key answers: text that is being typed as the question appears is not an answer. */
export const QUIET = 500

/** A line of choices: `  [y]es once, [s]ession, [n]o and why: `. */
const CHOICES = /^(?: {2}|Please answer )\[\w\].*: $/

const WITH_REASON = '[n]o and why'

/** Names the keys as they work in the chat: `n` refuses at once, and `N` begins a reason. */
export const inOneKey = (line: string): string => (CHOICES.test(line) ? line.replace(WITH_REASON, '[n]o, [N]o and why') : line)

/** Returns the keys that answer a line of choices at once, in order. */
export const keysIn = (line: string): readonly string[] =>
  CHOICES.test(line) ? [...line.matchAll(/\[([a-z\d])\]/g)].map(([, key = '']) => key) : []

/** Returns the choice that a text names: its key, or the number of its place if the keys are letters. */
export function choiceNamed(text: string, line: string): string | undefined {
  const keys = keysIn(line)
  if (keys.includes(text)) return text
  return /^[1-9]$/.test(text) && !keys.includes('1') ? keys[Number(text) - 1] : undefined
}

/**
 * Returns the choice that a key makes at once, if any.
 * @param quiet milliseconds since the last key
 */
export const oneKeyAnswer = (key: string, line: string, quiet: number): string | undefined =>
  quiet >= QUIET ? choiceNamed(key, line) : undefined

/** Marks the choice of a key in a line of choices, so that it is visible without colors too. */
export const withChosen = (line: string, key: string | undefined, paint: (text: string) => string): string =>
  key === undefined ? line : line.replace(new RegExp(`\\[${key}\\][^,:]*`), (choice) => paint(`›${choice}`))
