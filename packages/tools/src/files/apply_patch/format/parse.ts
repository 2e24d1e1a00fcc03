/** Parses a patch in any notation; `unified.ts` parses unified diffs. Pure. Throws only ModelRetry, when the text is not a valid patch. */
import {
  type Hunk,
  type Line,
  mistake,
  openHunk,
  type Patch,
  placeIn,
  RANGES,
  refuseEmptyHunk,
  type Section,
  takeLine,
  unknownHeader,
} from './patch.ts'
import { parseUnified, startsFile } from './unified.ts'

const ENVELOPE =
  '"*** Begin Patch" as the first line, then sections such as "*** Update File: path", and "*** End Patch"; or a unified diff'
const FILE_HEADER = /^\s*\*\*\*\s*(?:Add|Delete|Update)\s+File\s*:/i

/** @throws ModelRetry that names the line of the patch and shows the correct syntax */
export function parsePatch(text: string, reading: Reading = 'context'): Patch {
  const lines = unwrap(text)
  const [first] = lines
  if (!first) throw mistake({ text: '', number: 1 }, 'the patch is empty.', ENVELOPE)
  if (!BEGIN.test(first.text.trim())) return bare(lines, first)
  const ends = END.test((lines.at(-1) as Line).text.trim())
  const inner = lines.slice(1, ends ? -1 : undefined)
  const at = inner.findIndex(({ text }) => text.trim() !== '')
  if (at === -1 || !startsFile(inner, at) || inner.some((line) => FILE_HEADER.test(line.text))) return parseEnvelope(lines, reading)
  const { sections, notes } = parseUnified(inner)
  return { sections, notes: ['The patch was read as a unified diff, which needs no "*** Begin Patch".', ...notes] }
}

/** Returns true if the two readings of markers with leading spaces would give different results. */
export const hasPaddedMarkers = (text: string): boolean => /^ +\*\*\* ?(?:Add|Delete|Update|End) /im.test(text)

function bare(lines: readonly Line[], first: Line): Patch {
  const begin = lines.find((line) => BEGIN.test(line.text.trim()))
  if (begin) throw mistake(first, `there is text before "*** Begin Patch", which is on line ${begin.number}.`, ENVELOPE)
  if (FILE_HEADER.test(first.text)) throw mistake(first, 'the patch does not begin with "*** Begin Patch".', ENVELOPE)
  if (/^<{5,}/.test(first.text.trim()))
    throw mistake(first, 'search and replace is not a patch.', `${ENVELOPE}; edit_file takes old and new text`)
  const patch = parseUnified(lines)
  if (patch.sections.length > 0) return patch
  if (/^@@/.test(first.text)) throw mistake(first, 'the patch does not say which file it is for.', ENVELOPE)
  throw mistake(first, 'this is not a patch.', ENVELOPE)
}

const FENCE = /^\s*(```+|~~~+)[\w-]*\s*$/
const HEREDOC = /^\s*(?:(?:apply_?patch|git apply|patch)\b[^<]*)?<<-?\s*(["']?)(\w+)\1\s*$/
const IN_OTHER_FOLDER = /^\s*cd\s.*<</

/** Removes what models put around a patch: code fences, a shell here-document, blank lines. */
function unwrap(text: string): Line[] {
  let lines = text
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line, index) => ({ text: line.endsWith('\r') ? line.slice(0, -1) : line, number: index + 1 }))
  for (;;) {
    lines = trimmed(lines)
    const inner = peel(lines)
    if (inner === lines) return lines
    lines = inner
  }
}

function peel(lines: Line[]): Line[] {
  const [first, last] = [lines[0], lines.at(-1)]
  if (!first || !last || lines.length < 2) return lines
  if (IN_OTHER_FOLDER.test(first.text))
    throw mistake(first, 'a patch can not change the folder.', 'the patch alone, with paths relative to the workspace')
  const closing = FENCE.exec(first.text)?.[1] ?? HEREDOC.exec(first.text)?.[2]
  return closing === undefined ? lines : lines.slice(1, last.text.trim() === closing ? -1 : undefined)
}

function trimmed(lines: Line[]): Line[] {
  const start = lines.findIndex(({ text }) => text.trim() !== '')
  const end = lines.findLastIndex(({ text }) => text.trim() !== '')
  return start === 0 && end === lines.length - 1 ? lines : lines.slice(Math.max(0, start), end + 1)
}

const HEADER = /^\*\*\*\s*(Add|Delete|Update)\s+File\s*:(.*)$/i
const MOVE = /^\*\*\*\s*Move\s+to\s*:(.*)$/i
const END_OF_FILE = /^\*\*\*\s*End\s+of\s+File$/i
export const BEGIN = /^\*\*\*\s*Begin\s+Patch$/i
export const END = /^\*\*\*\s*End\s+Patch$/i

/**
 * How to read a marker with leading spaces inside a hunk, where a space also begins a context line. A patch to a text about patches has
 * such lines, and so does the patch of a model that indents its markers.
 */
export type Reading = 'context' | 'marker'

/** @param lines from `*** Begin Patch` to the last line that is not blank */
function parseEnvelope(lines: readonly Line[], reading: Reading): Patch {
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
    const whole = 'a whole patch, with "*** End Patch" as its last line'
    if (!open || !isWhole(open)) throw mistake(last, 'the patch ends without "*** End Patch", and may be cut off.', whole)
    close()
    notes.push('"*** End Patch" was missing.')
  }
  const some = 'at least one "*** Add File: ", "*** Delete File: " or "*** Update File: " after "*** Begin Patch"'
  if (sections.length === 0) throw mistake(lines[0] as Line, 'the patch is empty.', some)
  return { sections, notes }
}

/** Returns the trimmed text of a line if it may be a marker. */
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

/** Returns true if nothing can be missing at the end of the section. Any other section may come from a patch that was cut off. */
function isWhole(open: Section): boolean {
  if (open.kind !== 'update') return open.kind === 'delete'
  const hunk = open.hunks.at(-1)
  if (!hunk) return open.to !== undefined
  const last = hunk.lines.at(-1)
  return hunk.endOfFile || (last?.kind === 'keep' && last.text !== '' && hunk.lines.some(({ kind }) => kind !== 'keep'))
}

/** How many blank lines without a "+" an added file may have before its next line. */
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

const ALONE = 'either notation alone: leave out the lines "--- " and "+++ "'

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
    throw mistake(line, 'a header of a unified diff inside of "*** Update File: ".', ALONE)
  else if (hunk?.endOfFile) throw mistake(line, 'a line after "*** End of File".', '"@@" before the next hunk of this file')
  else if (marker !== undefined) throw unknownHeader(line)
  else {
    if (!hunk) open.hunks.push(openHunk(line.number))
    takeLine(open.hunks.at(-1) as Hunk, line)
  }
}

/** Starts a new hunk, unless this line is one more context of a hunk that has no lines yet. */
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
