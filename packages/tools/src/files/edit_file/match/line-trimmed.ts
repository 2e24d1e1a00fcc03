import { findLines } from './by-lines.ts'
import { fit } from './fit.ts'
import type { Strategy } from './match.ts'
import { linesOf, type Source } from './source.ts'

const ended = (source: Source): readonly string[] => source.derive(linesOf).map((line) => line.trimEnd())

/** Whole lines that are equal but for the space at their ends. */
export const lineTrimmed: Strategy = {
  name: 'line-trimmed',
  note: 'matched apart from spaces at the ends of lines',
  find: (source, oldText, most) => findLines(source, oldText, most, ended, (line) => line.trimEnd()),
  fit,
}
