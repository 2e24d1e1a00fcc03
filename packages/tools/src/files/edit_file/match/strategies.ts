/** The ways to find an old text that is written otherwise than the file is. Pure. */
import { findLines, linesOf, type Place, type Source, type Strategy, textOccurrences, trimmedLines, withText } from './find.ts'
import { fit } from './fit.ts'
import { type Folded, fold, isAscii } from './folded.ts'
import { punctuation } from './punctuation.ts'
import { spacing } from './spacing.ts'

const exact: Strategy = {
  name: 'exact',
  find: (source, oldText, most) => textOccurrences(source, oldText, most).map((start) => ({ start, end: start + oldText.length })),
  fit: (_found, _oldText, newText) => newText,
}

const endedLines = (source: Source): readonly string[] => source.derive(linesOf).map((line) => line.trimEnd())

/** Whole lines that are equal but for the space at their ends. */
const lineTrimmed: Strategy = {
  name: 'line-trimmed',
  note: 'matched apart from spaces at the ends of lines',
  find: (source, oldText, most) => findLines(source, oldText, most, endedLines, (line) => line.trimEnd()),
  fit,
}

/** Whole lines that are equal but for their indentation. */
const indentationShifted: Strategy = {
  name: 'indentation-shifted',
  note: 'matched apart from indentation; that of the file was kept',
  find: (source, oldText, most) => findLines(source, oldText, most, trimmedLines, (line) => line.trim()),
  fit,
}

const folded = ({ text }: Source): Folded => fold(text)
const foldedSource = (source: Source): Source => withText(source, source.derive(folded).text)
const foldedLines = (source: Source): readonly string[] => source.derive(foldedSource).derive(trimmedLines)

/** Text that is equal when typographic characters are made plain, anywhere or in whole lines that are indented differently. */
const typography: Strategy = {
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
const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

function findFolded({ original }: Folded, source: Source, wanted: string, most: number): Place[] {
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

const alike = (text: string): string => text.replaceAll(/["`]/g, "'")

const alikeSource = (source: Source): Source => withText(source, alike(source.derive(folded).text))
const alikeLines = (source: Source): readonly string[] => source.derive(alikeSource).derive(trimmedLines)

/** Text that is equal when all quotation marks are taken as one. A line that the edit changes is as the new text has it. */
const quotes: Strategy = {
  name: 'quotes',
  note: 'matched apart from the kind of quotation marks; lines that stay keep those of the file',
  find(source, oldText, most) {
    const wanted = alike(fold(oldText).text)
    if (!wanted.includes("'") || !hasWord(oldText)) return []
    const found = findFolded(source.derive(folded), source.derive(alikeSource), wanted, most)
    return found.length > 0 ? found : findLines(source, oldText, most, alikeLines, (line) => alike(fold(line).text).trim())
  },
  fit,
}

/** In the order they are tried: from what can't be wrong to what is most forgiving. */
export const STRATEGIES: readonly Strategy[] = [exact, lineTrimmed, indentationShifted, typography, quotes, spacing, punctuation]
