/** What a line that fits nowhere was probably meant to be. Pure. */
import type { ModelRetry } from '@mulligan/core'
import { type Line, mistake } from './patch.ts'

const HEADERS = 'one of "*** Add File: path", "*** Delete File: path", "*** Update File: path", "*** End Patch"'
const MEANT: readonly (readonly [RegExp, string])[] = [
  [/^(?:create|new|write|insert|add)/i, 'Add'],
  [/^(?:remove|rm|unlink|drop|delete)/i, 'Delete'],
  [/^(?:modif|edit|change|patch|replace|update|rename|move)/i, 'Update'],
]
/** `12<tab>text` as `read_file` shows it, `12| text` as others do. */
export const LINE_NUMBER = /^\s*\d+(?:\t|\s*[|│:→] ?)/

/** A line where a header should be. */
export function unknownHeader(line: Line): ModelRetry {
  const { text } = line
  if (/^(?:diff --git|--- |\+\+\+ |index [0-9a-f]+\.\.)/.test(text.trim()))
    return mistake(line, 'a header of a unified diff between sections of "*** Begin Patch".', 'either notation alone, not both')
  const word = /^\s*\*\*\*\s*(.*)$/.exec(text)?.[1] ?? ''
  const action = MEANT.find(([pattern]) => pattern.test(word))?.[1]
  const path = /:\s*(\S.*?)\s*$/.exec(word)?.[1] ?? 'path'
  if (action) return mistake(line, `this is no header. Did you mean "*** ${action} File: ${path}"?`, HEADERS)
  if (/^[-+ @]/.test(text)) return mistake(line, 'a hunk without a header above it.', `${HEADERS}, before its lines`)
  return mistake(line, 'this is no header.', HEADERS)
}

/** A line in a hunk that begins with none of the three signs. */
export function notAHunkLine(line: Line): ModelRetry {
  const asWritten = 'lines that begin with " " (stays), "-" (goes) or "+" (comes)'
  if (/^(?:diff --git|index [0-9a-f]+\.\.)/.test(line.text))
    return mistake(line, 'a header of a unified diff inside of "*** Update File: ".', 'either notation alone, not both')
  if (LINE_NUMBER.test(line.text)) return mistake(line, 'a line number instead of a sign.', `${asWritten}, without line numbers`)
  if (/^(?:<{7}|={7}|>{7})/.test(line.text))
    return mistake(line, 'a marker of search and replace.', `${asWritten}; or edit_file, which takes old and new text`)
  return mistake(line, 'a line of a hunk without a sign at its start.', asWritten)
}
