/** What a patch has done, for the model, the person and programs. Pure. */
import { fenced, unifiedDiff } from '../common/unified-diff.ts'
import { isChanged } from './tree/changes.ts'
import type { PatchFile } from './tree/tree.ts'

export interface PatchedFile {
  readonly change: 'added' | 'modified' | 'deleted' | 'moved' | 'unchanged'
  /** Where it is now; of a deleted file, where it was. */
  readonly path: string
  /** Where a moved file was. */
  readonly from?: string
  readonly added: number
  readonly removed: number
  /** Unified, three lines of context; of deleted files none. */
  readonly diff: string
}

const LETTERS = { added: 'A', modified: 'M', deleted: 'D', moved: 'R' } as const

export function report(all: readonly PatchFile[]): {
  readonly files: readonly PatchedFile[]
  readonly content: string
  readonly display: string
} {
  const files = merged(all.flatMap(patched))
  const diffs = files.map(({ change, path, diff }) => (change === 'deleted' ? `Deleted ${path}\n` : diff)).join('')
  return {
    files,
    content: files.every(({ change }) => change === 'unchanged')
      ? `Nothing to change: ${files.map(said).join(', ')}`
      : files.map(said).join('\n'),
    display: diffs === '' ? '' : fenced(diffs, 'diff'),
  }
}

function patched(file: PatchFile): PatchedFile[] {
  const { origin, at, original, text } = file
  if (!at) return origin ? [{ change: 'deleted', path: origin.relative, added: 0, removed: 0, diff: '' }] : []
  const change = !origin ? 'added' : origin.absolute !== at.absolute ? 'moved' : isChanged(file) ? 'modified' : 'unchanged'
  const before = original?.text ?? ''
  const diff =
    change === 'unchanged' || text === undefined ? { text: '', added: 0, removed: 0 } : unifiedDiff(at.relative, before, text, !origin)
  // Of new files the diff counts; of long ones it may have given up.
  const { added, removed } = (origin && file.counts) || diff
  const moved = change === 'moved' && origin ? { from: origin.relative } : {}
  const head = change === 'moved' && origin ? `rename from ${origin.relative}\nrename to ${at.relative}\n` : ''
  return [{ change, path: at.relative, ...moved, added, removed, diff: head + diff.text }]
}

/** Deleted and added again is modified. */
function merged(files: readonly PatchedFile[]): PatchedFile[] {
  const added = new Set(files.filter(({ change }) => change === 'added').map(({ path }) => path))
  const deleted = new Set(files.filter(({ change }) => change === 'deleted').map(({ path }) => path))
  return files
    .filter(({ change, path }) => change !== 'deleted' || !added.has(path))
    .map((file) => (file.change === 'added' && deleted.has(file.path) ? { ...file, change: 'modified' } : file))
}

function said({ change, path, from, added, removed }: PatchedFile): string {
  if (change === 'unchanged') return `${path} is unchanged.`
  const lines = added + removed > 0 ? ` (+${added} -${removed})` : ''
  return `${LETTERS[change]} ${from === undefined ? path : `${from} -> ${path}`}${lines}`
}
