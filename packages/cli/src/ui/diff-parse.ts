/** Parses unified diffs, also those that were cut or have no headers, which the library refuses. Pure. */
import { diffWordsWithSpace } from 'diff'
import { languageOf } from './highlight.ts'

export type DiffRow =
  /** A text on its own: the name of a file, or a note. */
  | { readonly kind: 'file' | 'note'; readonly text: string }
  /** What lies between two hunks. */
  | { readonly kind: 'gap' }
  | DiffLine

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  /** Its numbers in the old and in the new file, if they are known. */
  readonly old: number | undefined
  readonly now: number | undefined
  /** Tabs are four spaces. */
  readonly text: string
  /** The language, as its file extension. */
  readonly language: string
  /** Ranges of the text that differ from the line that it replaces or is replaced by. */
  readonly changed: readonly (readonly [from: number, to: number])[]
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/
const NAME = /^(?:--- |\+\+\+ )/
const FILE = /^(?:diff --git |index |new file |deleted file |old mode |new mode |similarity |dissimilarity |rename |copy )/

export function parseDiff(diff: string): readonly DiffRow[] {
  const rows: DiffRow[] = []
  let language = ''
  let header: string[] = []
  let hunks = 0
  let [before, after] = [0, 0]
  /** Lines that the hunk still has, on both sides; they tell a removed line `-- x` from a header. Infinite before the first header. */
  let [leftBefore, leftAfter] = [Infinity, Infinity]
  let isNumbered = false

  const add = (kind: DiffLine['kind'], text: string): void => {
    const [old, now] = isNumbered ? [before, after] : []
    rows.push({ kind, old, now, text: text.slice(1).replaceAll('\t', '    '), language, changed: [] })
    if (kind !== 'added') {
      before++
      leftBefore--
    }
    if (kind !== 'removed') {
      after++
      leftAfter--
    }
  }
  const endHeader = (): void => {
    if (header.length === 0) return
    const named = namesOf(header)
    language = languageOf(named.path)
    rows.push({ kind: 'file', text: named.text })
    header = []
    hunks = 0
  }

  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const isInHunk = isNumbered && (leftBefore > 0 || leftAfter > 0)
    const hunk = HUNK.exec(line)
    if (hunk) {
      endHeader()
      const [, from, count = '1', to, countAfter = '1'] = hunk
      ;[before, after, leftBefore, leftAfter] = [Number(from), Number(to), Number(count), Number(countAfter)]
      if (hunks++ > 0) rows.push({ kind: 'gap' })
      isNumbered = true
    } else if (FILE.test(line) || (!isInHunk && NAME.test(line))) {
      if (line.startsWith('diff --git ') || (line.startsWith('--- ') && header.some((one) => one.startsWith('+++ ')))) endHeader()
      header.push(line)
    } else if (line.startsWith('+')) add('added', line)
    else if (line.startsWith('-')) add('removed', line)
    else if (line.startsWith(' ') || (line === '' && isInHunk)) add('same', line)
    else {
      endHeader()
      rows.push({ kind: 'note', text: line.replace(/^\\ /, '') })
    }
  }
  endHeader()
  return withChanges(rows)
}

/** Describes a file by the lines of its header. */
function namesOf(header: readonly string[]): { readonly path: string; readonly text: string } {
  const after = (start: string): string | undefined =>
    header
      .find((line) => line.startsWith(start))
      ?.slice(start.length)
      .replace(/\t.*$/, '')
  const git = after('diff --git ')
  const short = (name: string | undefined): string | undefined =>
    name === undefined || name === '/dev/null' ? undefined : git === undefined ? name : name.replace(/^("?)[ab]\//, '$1')
  const from = after('rename from ') ?? after('copy from ') ?? short(after('--- '))
  const to = after('rename to ') ?? after('copy to ') ?? short(after('+++ '))
  const path = to ?? from ?? / b\/(.*)$/.exec(git ?? '')?.[1] ?? git ?? ''
  const mode = after('new mode ')
  const isNew = header.some((line) => line.startsWith('new file ')) || (from === undefined && after('--- ') !== undefined)
  const isGone = header.some((line) => line.startsWith('deleted file ')) || (to === undefined && after('+++ ') !== undefined)
  const is = isNew ? ' (new)' : isGone ? ' (deleted)' : ''
  const moved = from !== undefined && to !== undefined && from !== to ? `${from} → ` : ''
  return { path, text: `${moved}${path}${is}${mode === undefined ? '' : ` (mode ${mode})`}` }
}

/** Maximum characters of a line whose words are compared. */
const MAX_WORDS = 400
/** What two lines must have in common, as a part of the longer one, for their words to be compared. */
const ALIKE = 0.4

/** Marks the words that differ. Of a block of removed and added lines, the first replaces the first, and so on. */
function withChanges(rows: readonly DiffRow[]): readonly DiffRow[] {
  const marked = [...rows]
  for (let at = 0; at < rows.length; ) {
    const removed = runOf(rows, at, 'removed')
    const added = runOf(rows, at + removed, 'added')
    for (let pair = 0; pair < Math.min(removed, added); pair++) {
      const [old, now] = [at + pair, at + removed + pair]
      const [a, b] = [marked[old] as DiffLine, marked[now] as DiffLine]
      const [ofOld, ofNow] = wordChanges(a.text, b.text)
      marked[old] = { ...a, changed: ofOld }
      marked[now] = { ...b, changed: ofNow }
    }
    at += Math.max(1, removed + added)
  }
  return marked
}

/** Counts the rows of one kind that follow one another. */
export function runOf(rows: readonly DiffRow[], from: number, kind: DiffRow['kind']): number {
  let at = from
  while (rows[at]?.kind === kind) at++
  return at - from
}

type Ranges = DiffLine['changed']

function wordChanges(a: string, b: string): readonly [Ranges, Ranges] {
  if (a.length > MAX_WORDS || b.length > MAX_WORDS) return [[], []]
  const ranges: [[number, number][], [number, number][]] = [[], []]
  let [inA, inB, common] = [0, 0, 0]
  for (const { value, added, removed } of diffWordsWithSpace(a, b)) {
    if (removed) ranges[0].push([inA, inA + value.length])
    else if (added) ranges[1].push([inB, inB + value.length])
    else common += value.trim().length
    if (!added) inA += value.length
    if (!removed) inB += value.length
  }
  return common >= ALIKE * Math.max(a.trim().length, b.trim().length) ? ranges : [[], []]
}
