/** Finds leaked canaries. They have a common stem, so that none can be missed. */
export const CANARY = 'kanarie'

/** One line per text that contains a canary, with its context. */
export function leaks(texts: Readonly<Record<string, string>>): string[] {
  return Object.entries(texts).flatMap(([where, text]) => {
    const at = text.toLowerCase().indexOf(CANARY)
    return at === -1 ? [] : [`${where}: …${text.slice(Math.max(0, at - 120), at + 60)}…`]
  })
}
