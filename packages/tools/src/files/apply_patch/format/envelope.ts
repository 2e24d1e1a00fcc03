/** The notation of `*** Begin Patch`. Pure. */
import { type Hunk, type Line, mistake, openHunk, type Patch, placeIn, RANGES, refuseEmptyHunk, type Section, takeLine } from './patch.ts'
import { notAHunkLine, unknownHeader } from './what-it-is.ts'

const HEADER = /^\*\*\*\s*(Add|Delete|Update)\s+File\s*:(.*)$/i
const MOVE = /^\*\*\*\s*Move\s+to\s*:(.*)$/i
const END_OF_FILE = /^\*\*\*\s*End\s+of\s+File$/i
export const BEGIN = /^\*\*\*\s*Begin\s+Patch$/i
export const END = /^\*\*\*\s*End\s+Patch$/i

/**
 * How a marker with spaces before it is read inside a hunk, where a space also begins a line of context. A patch to a text
 * about patches has such lines; a model that indents its markers, too.
 */
export type Reading = 'context' | 'marker'

/** @param lines from `*** Begin Patch` to the last one that is not blank */
export function parseEnvelope(lines: readonly Line[], reading: Reading): Patch {
  const notes: string[] = []
  const sections: Section[] = []
  let open: Section | undefined
  let header = lines[0] as Line
  let ended = false
  const close = (): void => {
    if (open) sections.push(checked(open, header))
    open = undefined
  }
  for (const [index, line] of lines.entries()) {
    const next = lines[index + 1]
    const marker = markerIn(line, open, reading, next === undefined)
    if (marker !== undefined && BEGIN.test(marker)) {
      if (index > 0 && !ended)
        throw mistake(line, 'a second "*** Begin Patch" before "*** End Patch".', 'one patch after the other, or all files in one')
      ended = false
    } else if (ended) {
      if (line.text.trim() !== '') throw mistake(line, 'there is text after "*** End Patch".', 'nothing after "*** End Patch"')
    } else if (marker !== undefined && END.test(marker)) {
      close()
      ended = true
    } else if (marker !== undefined && HEADER.test(marker)) {
      close()
      open = opened(line, HEADER.exec(marker) as RegExpExecArray)
      header = line
    } else if (!open || open.kind === 'delete') {
      if (line.text.trim() !== '') throw unknownHeader(line)
    } else if (open.kind === 'add') takeAdded(open, lines, index, notes)
    else takeUpdated(open, line, next, marker)
  }
  if (!ended) {
    const last = lines.at(-1) as Line
    if (!open || !isWhole(open))
      throw mistake(
        last,
        'the patch ends without "*** End Patch", and may be cut off.',
        'a whole patch, with "*** End Patch" as its last line',
      )
    close()
    notes.push('"*** End Patch" was missing.')
  }
  if (sections.length === 0)
    throw mistake(
      lines[0] as Line,
      'the patch is empty.',
      'at least one "*** Add File: ", "*** Delete File: " or "*** Update File: " after "*** Begin Patch"',
    )
  return { sections, notes }
}

/** The text of a line that may be a marker, without white space around it. */
function markerIn({ text }: Line, open: Section | undefined, reading: Reading, last: boolean): string | undefined {
  const trimmed = text.trim()
  if (!trimmed.startsWith('***')) return undefined
  const inHunk = open?.kind === 'update' && open.hunks.length > 0
  if (inHunk && text.startsWith(' ') && reading === 'context' && !(last && END.test(trimmed))) return undefined
  return trimmed
}

function opened(at: Line, [, word = '', rest = '']: RegExpExecArray): Section {
  const kind = word.toLowerCase() as Section['kind']
  const path = rest.trim()
  if (path === '') throw mistake(at, 'the path is missing.', `*** ${word} File: path/to/file`)
  return { kind, line: at.number, path, hunks: kind === 'add' ? [openHunk(at.number)] : [], literal: false }
}

function checked(section: Section, header: Line): Section {
  if (section.kind !== 'update') return section
  const asWritten = 'lines that begin with " " (stays), "-" (goes) or "+" (comes) below "@@"'
  refuseEmptyHunk(section, header, asWritten)
  if (section.hunks.length === 0 && !section.to) throw mistake(header, `the update of "${section.path}" has no hunks.`, asWritten)
  return section
}

/** Nothing can be missing at its end: of a patch that was cut off, this could not be told otherwise. */
function isWhole(open: Section): boolean {
  if (open.kind !== 'update') return open.kind === 'delete'
  const hunk = open.hunks.at(-1)
  if (!hunk) return open.to !== undefined
  const last = hunk.lines.at(-1)
  return hunk.endOfFile || (last?.kind === 'keep' && last.text !== '' && hunk.lines.some(({ kind }) => kind !== 'keep'))
}

/** How many blank lines without a "+" in an added file may be followed by more of it. */
const LOOK_AHEAD = 20

function takeAdded({ path, hunks }: Section, lines: readonly Line[], index: number, notes: string[]): void {
  const line = lines[index] as Line
  const [hunk] = hunks as [Hunk]
  const { text, number } = line
  if (text.startsWith('+')) takeLine(hunk, line)
  else if (text.trim() === '') {
    const after = lines.slice(index + 1, index + 1 + LOOK_AHEAD).find((one) => one.text.trim() !== '')
    if (!after?.text.startsWith('+')) return
    hunk.lines.push({ kind: 'add', text: '', line: number })
    notes.push(`Line ${number} of the patch was taken as an empty line of "${path}": it lacks its "+".`)
  } else if (/^\\ ?no newline/i.test(text)) hunk.bare = true
  else if (text.startsWith('***')) throw unknownHeader(line)
  else
    throw mistake(line, `a line of the new file "${path}" lacks its "+".`, 'in Add File every line begins with "+", and there is no "@@"')
}

function takeUpdated(open: Section, line: Line, next: Line | undefined, marker: string | undefined): void {
  const { text } = line
  const hunk = open.hunks.at(-1)
  if (marker !== undefined && MOVE.test(marker)) {
    const path = MOVE.exec(marker)?.[1]?.trim() ?? ''
    if (hunk || open.to)
      throw mistake(line, 'a "*** Move to: " that does not follow its header.', '"*** Move to: " right below "*** Update File: ", once')
    if (path === '') throw mistake(line, 'the path is missing.', '*** Move to: path/to/file')
    open.to = { path, line: line.number }
  } else if (marker !== undefined && END_OF_FILE.test(marker)) {
    if (!hunk || hunk.lines.length === 0)
      throw mistake(line, '"*** End of File" without lines above it.', '"*** End of File" below the last lines of the file')
    hunk.endOfFile = true
  } else if (/^@@/.test(hunk ? text : text.trim())) open.hunks.push(...hunkHeader(hunk, line))
  else if ((!hunk || hunk.endOfFile) && text.trim() === '') return
  else if (!hunk && /^--- \S/.test(text) && next && /^\+\+\+ \S/.test(next.text))
    throw mistake(
      line,
      'a header of a unified diff inside of "*** Update File: ".',
      'either notation alone: leave out the lines "--- " and "+++ "',
    )
  else if (hunk?.endOfFile) throw mistake(line, 'a line after "*** End of File".', '"@@" before the next hunk of this file')
  else if (marker !== undefined) throw unknownHeader(line)
  else {
    const target = hunk ?? openHunk(line.number)
    if (!takeLine(target, line)) throw notAHunkLine(line)
    if (!hunk) open.hunks.push(target)
  }
}

/** A new hunk, unless this is one more context of a hunk that has no lines yet. */
function hunkHeader(hunk: Hunk | undefined, { text, number }: Line): Hunk[] {
  const fresh = !hunk || hunk.lines.length > 0
  const target = fresh ? openHunk(number) : hunk
  const trimmed = text.trim()
  const ranges = RANGES.exec(trimmed)
  const context = trimmed.slice(2).trim()
  if (ranges) target.at = placeIn(ranges)
  else if (context !== '') target.contexts.push(context)
  return fresh ? [target] : []
}
