/** Answers a choice with one key, without Enter. Pure. */

/** Milliseconds without a key after which one key answers: text that is being typed as the question appears is not an answer. */
export const QUIET = 500

/** A line of choices: `  [y]es once, [s]ession, [n]o and why: `. */
const CHOICES = /^ {2}\[\w\].*: $/

const WITH_REASON = '[n]o and why'

/** Names the keys as they work in the chat: `n` refuses at once, and `N` begins a reason. */
export const inOneKey = (line: string): string => (CHOICES.test(line) ? line.replace(WITH_REASON, '[n]o, [N]o and why') : line)

/** @param quiet milliseconds since the last key */
export const isOneKeyAnswer = (key: string, line: string, quiet: number): boolean =>
  quiet >= QUIET && CHOICES.test(line) && /^[a-z\d]$/.test(key) && line.includes(`[${key}]`)
