/** Reads a line of choices: `  [y]es once, [s]ession, [n]o and why: `. Pure. */

const CHOICES = /^(?: {2}|Please answer )\[\w\].*: $/

export const isChoice = (line: string): boolean => CHOICES.test(line)

/** Returns the keys that answer a line of choices at once, in order. */
export const keysIn = (line: string): readonly string[] =>
  isChoice(line) ? [...line.matchAll(/\[([a-z\d])\]/g)].map(([, key = '']) => key) : []

/** Returns the choice that a text names: its key, or the number of its place if the keys are letters. */
export function choiceNamed(text: string, line: string): string | undefined {
  const keys = keysIn(line)
  if (keys.includes(text)) return text
  return /^[1-9]$/.test(text) && !keys.includes('1') ? keys[Number(text) - 1] : undefined
}
