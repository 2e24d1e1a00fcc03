/** Where a canary has got to. All of them have one stem, so that no new one can be forgotten here. */
export const CANARY = 'kanarie'

/** A line for each text that holds one, with what stands around it. */
export function leaks(texts: Readonly<Record<string, string>>): string[] {
  return Object.entries(texts).flatMap(([where, text]) => {
    const at = text.toLowerCase().indexOf(CANARY)
    return at === -1 ? [] : [`${where}: …${text.slice(Math.max(0, at - 120), at + 60)}…`]
  })
}
