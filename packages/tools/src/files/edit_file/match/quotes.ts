import { findLines, type LineKeys } from './by-lines.ts'
import { fit } from './fit.ts'
import { fold } from './folded.ts'
import type { Strategy } from './match.ts'
import { type Source, trimmedLines, withText } from './source.ts'
import { findFolded, folded, hasWord } from './typography.ts'

const alike = (text: string): string => text.replaceAll(/["`]/g, "'")

const alikeSource = (source: Source): Source => withText(source, alike(source.derive(folded).text))
const alikeLines: LineKeys = (source) => source.derive(alikeSource).derive(trimmedLines)

/** Text that is equal when all quotation marks are taken as one. A line that the edit changes is as the new text has it. */
export const quotes: Strategy = {
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
