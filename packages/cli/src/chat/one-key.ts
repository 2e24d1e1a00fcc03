/** Answers a choice with one key, without Enter, or with the arrows and Enter. Pure. */

import { choiceNamed, isChoice } from '../approval/choices.ts'

/** Milliseconds without a key after which one key answers: text that is being typed as the question appears is not an answer. */
export const QUIET = 500

const WITH_REASON = '[n]o and why'

/** Names the keys as they work in the chat: `n` refuses at once, and `N` begins a reason. */
export const inOneKey = (line: string): string => (isChoice(line) ? line.replace(WITH_REASON, '[n]o, [N]o and why') : line)

/**
 * Returns the choice that a key makes at once, if any.
 * @param quiet milliseconds since the last key
 */
export const oneKeyAnswer = (key: string, line: string, quiet: number): string | undefined =>
  quiet >= QUIET ? choiceNamed(key, line) : undefined

/** Marks the choice of a key in a line of choices, so that it is visible without colors too. */
export const withChosen = (line: string, key: string | undefined, paint: (text: string) => string): string =>
  key === undefined ? line : line.replace(new RegExp(`\\[${key}\\][^,:]*`), (choice) => paint(`›${choice}`))
