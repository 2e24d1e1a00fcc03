/** A patch in any notation, to data. Pure: throws ModelRetry, and nothing else, for what is no patch. */
import { BEGIN, END, parseEnvelope, type Reading } from './envelope.ts'
import { type Line, mistake, type Patch } from './patch.ts'
import { parseUnified, startsFile } from './unified.ts'

const ENVELOPE =
  '"*** Begin Patch" as the first line, then sections such as "*** Update File: path", and "*** End Patch"; or a unified diff'
const FILE_HEADER = /^\s*\*\*\*\s*(?:Add|Delete|Update)\s+File\s*:/i

/** @throws ModelRetry that names the line of the patch and how it is written */
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

/** Whether the two ways to read markers with spaces before them differ. */
export const hasPaddedMarkers = (text: string): boolean => /^ +\*\*\* ?(?:Add|Delete|Update|End) /im.test(text)

function bare(lines: readonly Line[], first: Line): Patch {
  const begin = lines.find((line) => BEGIN.test(line.text.trim()))
  if (begin) throw mistake(first, `there is text before "*** Begin Patch", which is on line ${begin.number}.`, ENVELOPE)
  if (FILE_HEADER.test(first.text)) throw mistake(first, 'the patch does not begin with "*** Begin Patch".', ENVELOPE)
  if (/^<{5,}/.test(first.text.trim()))
    throw mistake(first, 'search and replace is no patch.', `${ENVELOPE}; edit_file takes old and new text`)
  const patch = parseUnified(lines)
  if (patch.sections.length > 0) return patch
  if (/^@@/.test(first.text)) throw mistake(first, 'the patch does not say which file it is for.', ENVELOPE)
  throw mistake(first, 'this is no patch.', ENVELOPE)
}

const FENCE = /^\s*(```+|~~~+)[\w-]*\s*$/
const HEREDOC = /^\s*(?:(?:apply_?patch|git apply|patch)\b[^<]*)?<<-?\s*(["']?)(\w+)\1\s*$/
const IN_OTHER_FOLDER = /^\s*cd\s.*<</

/** The lines of a patch without what models put around it: code fences, the shell's here-document, blank lines. */
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
