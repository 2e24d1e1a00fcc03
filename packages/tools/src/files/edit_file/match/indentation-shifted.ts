import { findLines } from './by-lines.ts'
import { fit } from './fit.ts'
import type { Strategy } from './match.ts'
import { trimmedLines } from './source.ts'

/** Whole lines that are equal but for their indentation. */
export const indentationShifted: Strategy = {
  name: 'indentation-shifted',
  note: 'matched apart from indentation; that of the file was kept',
  find: (source, oldText, most) => findLines(source, oldText, most, trimmedLines, (line) => line.trim()),
  fit,
}
