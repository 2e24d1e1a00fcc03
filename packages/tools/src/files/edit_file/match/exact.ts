import type { Strategy } from './match.ts'
import { textOccurrences } from './occurrences.ts'

export const exact: Strategy = {
  name: 'exact',
  find: (source, oldText, most) => textOccurrences(source, oldText, most).map((start) => ({ start, end: start + oldText.length })),
  fit: (_found, _oldText, newText) => newText,
}
