import type { Match, Strategy } from './match.ts'

export const exact: Strategy = {
  name: 'exact',
  find(text, oldText, newText) {
    const matches: Match[] = []
    for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + 1))
      matches.push({ start: at, end: at + oldText.length, replacement: newText })
    return matches
  },
}
