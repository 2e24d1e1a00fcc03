import { findLines, type LineKeys } from './by-lines.ts'
import { fit } from './fit.ts'
import { type Folded, fold, isAscii } from './folded.ts'
import type { Place, Strategy } from './match.ts'
import { textOccurrences } from './occurrences.ts'
import { type Source, trimmedLines, withText } from './source.ts'

export const folded = ({ text }: Source): Folded => fold(text)
const foldedSource = (source: Source): Source => withText(source, source.derive(folded).text)
const foldedLines: LineKeys = (source) => source.derive(foldedSource).derive(trimmedLines)

/** Text that is equal when typographic characters are made plain, anywhere or in whole lines that are indented differently. */
export const typography: Strategy = {
  name: 'typography',
  note: 'matched apart from typographic quotes, dashes and spaces; those of the file were kept where the text stays',
  find(source, oldText, most) {
    if (!hasWord(oldText) || (isAscii(oldText) && isAscii(source.text))) return []
    const found = findFolded(source.derive(folded), source.derive(foldedSource), fold(oldText).text, most)
    return found.length > 0 ? found : findLines(source, oldText, most, foldedLines, (line) => fold(line).text.trim())
  },
  fit: (found, oldText, newText) => fit(found, oldText, newText, { changed: withEnds }),
}

/** Signs alone are too little to know a place by. */
export const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

export function findFolded({ original }: Folded, source: Source, wanted: string, most: number): Place[] {
  const places: Place[] = []
  for (const at of textOccurrences(source, wanted, most)) {
    const [start, end] = [original(at), original(at + wanted.length)]
    if (start !== undefined && end !== undefined) places.push({ start, end })
  }
  return places
}

/** The new line between what it shares with the old one at both ends: there the bytes of the file stay. */
function withEnds(next: string, _old: string, found: string): string {
  const [ours, theirs] = [fold(next), fold(found)]
  const shortest = Math.min(ours.text.length, theirs.text.length)
  const whole = (before: number, after: number): boolean =>
    [
      ours.original(before),
      theirs.original(before),
      ours.original(ours.text.length - after),
      theirs.original(theirs.text.length - after),
    ].every((one) => one !== undefined)
  let before = 0
  while (before < shortest && ours.text[before] === theirs.text[before]) before++
  while (!whole(before, 0)) before--
  let after = 0
  while (after < shortest - before && ours.text.at(-1 - after) === theirs.text.at(-1 - after)) after++
  while (!whole(before, after)) after--
  return (
    found.slice(0, theirs.original(before)) +
    next.slice(ours.original(before), ours.original(ours.text.length - after)) +
    found.slice(theirs.original(theirs.text.length - after))
  )
}
