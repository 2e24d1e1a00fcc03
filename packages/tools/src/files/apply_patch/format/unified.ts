/** Unified diffs, of `diff -u` and of git. Pure. */

import { type Hunk, type Line, mistake, openHunk, type Patch, placeIn, RANGES, refuseEmptyHunk, type Section, takeLine } from './patch.ts'
import { isNothing, pathOf, withoutSides } from './paths.ts'
import { notAHunkLine } from './what-it-is.ts'

interface Open {
  readonly at: Line
  before?: string
  after?: string
  from?: string
  to?: string
  created: boolean
  deleted: boolean
  readonly hunks: Hunk[]
}

/** Lines that a hunk still has by its header. */
interface Left {
  old: number
  new: number
}

export const startsFile = (lines: readonly Line[], index: number): boolean =>
  /^diff --git /.test(lines[index]?.text ?? '') || isPair(lines, index)

const isPair = (lines: readonly Line[], index: number): boolean =>
  /^--- \S/.test(lines[index]?.text ?? '') && /^\+\+\+ \S/.test(lines[index + 1]?.text ?? '')

export function parseUnified(lines: readonly Line[]): Patch {
  const sections: Section[] = []
  const notes: string[] = []
  let open: Open | undefined
  let left: Left = { old: 0, new: 0 }
  const close = (): void => {
    if (open) sections.push(closed(open))
    open = undefined
  }
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] as Line
    const { text } = line
    const hunk = open?.hunks.at(-1)
    const more = left.old > 0 || left.new > 0
    if (text.startsWith('diff --git ')) {
      close()
      open = fresh(line)
      const both = /^diff --git ("(?:[^"\\]|\\.)*"|a\/.*?) ("(?:[^"\\]|\\.)*"|b\/.*)$/.exec(text)
      if (both) [open.before, open.after] = [pathOf(both[1] as string), pathOf(both[2] as string)]
      left = { old: 0, new: 0 }
    } else if (isPair(lines, index) && (!more || /^@@ /.test(lines[index + 2]?.text ?? ''))) {
      if (hunk || !open) {
        close()
        open = fresh(line)
      }
      open.before = pathOf(text.slice(4))
      open.after = pathOf((lines[index + 1] as Line).text.slice(4))
      left = { old: 0, new: 0 }
      index++
    } else if (!open) continue
    else if (text.startsWith('@@')) left = openIn(open, line)
    else if (!hunk) extended(open, line, notes)
    else if (!more && text === '' && !goesOn(lines, index)) continue
    else if (!more && /^-- ?$/.test(text)) index = lines.length
    else if (!takeLine(hunk, line)) throw notAHunkLine(line)
    else count(left, text)
  }
  close()
  return { sections, notes }
}

/** After a blank line: whether lines of the same hunk follow, as they do where its header counts too few. */
function goesOn(lines: readonly Line[], index: number): boolean {
  const next = lines[index + 1]?.text ?? ''
  return /^[-+ ]/.test(next) && !/^-- ?$/.test(next) && !startsFile(lines, index + 1)
}

const fresh = (at: Line): Open => ({ at, created: false, deleted: false, hunks: [] })

function openIn(open: Open, line: Line): Left {
  const ranges = RANGES.exec(line.text)
  const hunk = openHunk(line.number)
  open.hunks.push(hunk)
  if (!ranges) {
    const context = line.text
      .slice(2)
      .replace(/@@\s*$/, '')
      .trim()
    if (context !== '') hunk.contexts.push(context)
    return { old: 0, new: 0 }
  }
  hunk.at = placeIn(ranges)
  return { old: Number(ranges[2] ?? 1), new: Number(ranges[4] ?? 1) }
}

function count(left: Left, text: string): void {
  if (!text.startsWith('+') && !text.startsWith('\\')) left.old--
  if (!text.startsWith('-') && !text.startsWith('\\')) left.new--
}

/** What is no ordinary file, by the first figures of its mode. */
const SPECIAL: Readonly<Record<string, string>> = { '12': 'a symbolic link', '16': 'a submodule' }

/** The lines that git puts between its header and the hunks. */
function extended(open: Open, line: Line, notes: string[]): void {
  const [, word, rest = ''] =
    /^(new file mode|deleted file mode|old mode|new mode|rename from|rename to|copy from|Binary files|GIT binary patch)\s*(.*)$/.exec(
      line.text,
    ) ?? []
  const special = word?.startsWith('new') && SPECIAL[rest.slice(0, 2)]
  if (special) throw mistake(line, `${special}.`, 'ordinary files only')
  if (word === 'new file mode') open.created = true
  else if (word === 'deleted file mode') open.deleted = true
  else if (word === 'rename from') open.from = pathOf(rest)
  else if (word === 'rename to') open.to = pathOf(rest)
  else if (word === 'copy from') throw mistake(line, 'a copy.', 'the whole new file, with "--- /dev/null"')
  else if (word?.includes('inary')) throw mistake(line, 'the change of a binary file.', 'text files only')
  if ((word === 'new mode' || word === 'new file mode') && rest.endsWith('755'))
    notes.push(`Line ${line.number} of the patch: modes are not changed.`)
}

function closed(open: Open): Section {
  const { at, hunks } = open
  const { before, after } = withoutSides(open.before ?? '', open.after ?? '')
  const section = { line: at.number, hunks, literal: true }
  if (open.created || isNothing(before)) return added({ ...section, kind: 'add', path: after })
  if (open.deleted || isNothing(after)) return { ...section, kind: 'delete', path: before }
  const [path, to] = [open.from ?? before, open.to ?? after]
  if (hunks.length === 0 && path === to) throw mistake(at, `the diff of "${path}" has no hunks.`, 'hunks that begin with "@@"')
  const update: Section = { ...section, kind: 'update', path, ...(path !== to && { to: { path: to, line: at.number } }) }
  refuseEmptyHunk(update, at, 'lines below "@@"')
  return update
}

function added(section: Section): Section {
  const old = section.hunks.flatMap((hunk) => hunk.lines).find(({ kind }) => kind !== 'add')
  if (!old) return section
  const says = `the new file "${section.path}" has a line without "+".`
  throw mistake({ text: old.text, number: old.line }, says, 'lines that begin with "+"')
}
