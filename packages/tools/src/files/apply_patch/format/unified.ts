/** Parses unified diffs, both of `diff -u` and of git. Pure. */
import { type Hunk, type Line, mistake, openHunk, type Patch, placeIn, RANGES, refuseEmptyHunk, type Section, takeLine } from './patch.ts'

interface Open {
  readonly at: Line
  before: string
  after: string
  from?: string
  to?: string
  created: boolean
  deleted: boolean
  readonly hunks: Hunk[]
  /** Lines that the last hunk still lacks according to its header. */
  old: number
  new: number
}

export const startsFile = (lines: readonly Line[], index: number): boolean =>
  /^diff --git /.test(lines[index]?.text ?? '') || isPair(lines, index)

const isPair = (lines: readonly Line[], index: number): boolean =>
  /^--- \S/.test(lines[index]?.text ?? '') && /^\+\+\+ \S/.test(lines[index + 1]?.text ?? '')

export function parseUnified(lines: readonly Line[]): Patch {
  const opened: Open[] = []
  const notes: string[] = []
  const open = (at: Line): Open => {
    const file: Open = { at, before: '', after: '', created: false, deleted: false, hunks: [], old: 0, new: 0 }
    opened.push(file)
    return file
  }
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] as Line
    const { text } = line
    const file = opened.at(-1)
    const hunk = file?.hunks.at(-1)
    const more = file !== undefined && (file.old > 0 || file.new > 0)
    if (text.startsWith('diff --git ')) {
      const [, before, after] = /^diff --git ("(?:[^"\\]|\\.)*"|a\/.*?) ("(?:[^"\\]|\\.)*"|b\/.*)$/.exec(text) ?? []
      Object.assign(open(line), before && after && { before: pathOf(before), after: pathOf(after) })
    } else if (isPair(lines, index) && (!more || /^@@ /.test(lines[index + 2]?.text ?? ''))) {
      const after = (lines[++index] as Line).text
      Object.assign(hunk || !file ? open(line) : file, { before: pathOf(text.slice(4)), after: pathOf(after.slice(4)), old: 0, new: 0 })
    } else if (!file) continue
    else if (text.startsWith('@@')) openIn(file, line)
    else if (!hunk) extended(file, line, notes)
    else if (!more && text === '' && !goesOn(lines, index)) continue
    else if (!more && /^-- ?$/.test(text)) index = lines.length
    else {
      takeLine(hunk, line)
      if (!/^[+\\]/.test(text)) file.old--
      if (!/^[-\\]/.test(text)) file.new--
    }
  }
  return { sections: opened.map(sectionOf), notes }
}

/** Returns true if the same hunk continues after a blank line, as it does when its header counts too few lines. */
function goesOn(lines: readonly Line[], index: number): boolean {
  const next = lines[index + 1]?.text ?? ''
  return /^[-+ ]/.test(next) && !/^-- ?$/.test(next) && !startsFile(lines, index + 1)
}

function openIn(file: Open, { text, number }: Line): void {
  const ranges = RANGES.exec(text)
  const hunk = openHunk(number)
  file.hunks.push(hunk)
  if (ranges) hunk.at = placeIn(ranges)
  const context = text
    .slice(2)
    .replace(/@@\s*$/, '')
    .trim()
  if (!ranges && context !== '') hunk.contexts.push(context)
  file.old = ranges ? Number(ranges[2] ?? 1) : 0
  file.new = ranges ? Number(ranges[4] ?? 1) : 0
}

/** Files that are not regular files, by the first digits of their mode. */
const SPECIAL: Readonly<Record<string, string>> = { '12': 'a symbolic link', '16': 'a submodule' }
const EXTENDED =
  /^(new file mode|deleted file mode|old mode|new mode|rename from|rename to|copy from|Binary files|GIT binary patch)\s*(.*)$/

/** Handles the lines that git puts between its header and the hunks. */
function extended(file: Open, line: Line, notes: string[]): void {
  const [, word, rest = ''] = EXTENDED.exec(line.text) ?? []
  const special = word?.startsWith('new') && SPECIAL[rest.slice(0, 2)]
  if (special) throw mistake(line, `${special}.`, 'ordinary files only')
  if (word === 'new file mode') file.created = true
  else if (word === 'deleted file mode') file.deleted = true
  else if (word === 'rename from') file.from = pathOf(rest)
  else if (word === 'rename to') file.to = pathOf(rest)
  else if (word === 'copy from') throw mistake(line, 'a copy.', 'the whole new file, with "--- /dev/null"')
  else if (word?.includes('inary')) throw mistake(line, 'the change of a binary file.', 'text files only')
  if ((word === 'new mode' || word === 'new file mode') && rest.endsWith('755'))
    notes.push(`Line ${line.number} of the patch: modes are not changed.`)
}

function sectionOf({ at, hunks, created, deleted, from, to, ...sides }: Open): Section {
  const { before, after } = withoutSides(sides.before, sides.after)
  const section = { line: at.number, hunks, literal: true }
  if (created || isNothing(before)) {
    const old = hunks.flatMap((hunk) => hunk.lines).find(({ kind }) => kind !== 'add')
    if (!old) return { ...section, kind: 'add', path: after }
    throw mistake({ text: old.text, number: old.line }, `the new file "${after}" has a line without "+".`, 'lines that begin with "+"')
  }
  if (deleted || isNothing(after)) return { ...section, kind: 'delete', path: before }
  const [path, next] = [from ?? before, to ?? after]
  if (hunks.length === 0 && path === next) throw mistake(at, `the diff of "${path}" has no hunks.`, 'hunks that begin with "@@"')
  const update: Section = { ...section, kind: 'update', path, ...(path !== next && { to: { path: next, line: at.number } }) }
  refuseEmptyHunk(update, at, 'lines below "@@"')
  return update
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }

/** Returns the path of a `--- ` or `+++ ` line, without the timestamp and without git's quoting. */
export function pathOf(text: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(text)?.[1]
  if (quoted === undefined) return (text.split('\t')[0] as string).trimEnd()
  // Git writes bytes above ASCII as octal numbers.
  const parts = Array.from(quoted.matchAll(/\\([0-7]{1,3})|\\(.)|[^\\]+/g), ([plain, octal, sign]) =>
    octal !== undefined
      ? Buffer.from([Number.parseInt(octal, 8) & 0xff])
      : Buffer.from(sign === undefined ? plain : (ESCAPES[sign] ?? sign)),
  )
  return Buffer.concat(parts).toString('utf8')
}

const isNothing = (path: string): boolean => path === '/dev/null'

/** Removes `a/` and `b/`, which mark the two sides and are not folders. */
export function withoutSides(before: string, after: string): { readonly before: string; readonly after: string } {
  const sided = (isNothing(before) || before.startsWith('a/')) && (isNothing(after) || after.startsWith('b/'))
  const bare = (path: string): string => (sided && !isNothing(path) ? path.slice(2) : path)
  return { before: bare(before), after: bare(after) }
}

const NAMED = /^\s*\*\*\*\s*(?:(?:Add|Delete|Update)\s+File|Move\s+to)\s*:[ \t]*(.*?)\s*$/gim
const PAIR = /^--- (\S.*)\r?\n\+\+\+ (\S.*)$/gm
const RENAME = /^rename (?:from|to) (.+?)\s*$/gm

/** Returns the paths that a patch names, for policies and the ledger. Also works for a patch that does not parse. */
export function targetsOf(patch: string): string[] {
  const sides = Array.from(patch.matchAll(PAIR), ([, before = '', after = '']) => withoutSides(pathOf(before), pathOf(after)))
  const paths = new Set([
    ...Array.from(patch.matchAll(NAMED), ([, path = '']) => path),
    ...sides.flatMap(({ before, after }) => [before, after]).filter((path) => !isNothing(path)),
    ...Array.from(patch.matchAll(RENAME), ([, path = '']) => pathOf(path)),
  ])
  return [...paths].filter((path) => path !== '' && !path.includes('\0'))
}
