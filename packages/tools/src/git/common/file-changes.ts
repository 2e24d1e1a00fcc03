/** Reads `--raw --numstat -z` of git's diffs: which files, and how many lines. Pure. */

export type FileChange = 'added' | 'modified' | 'deleted' | 'renamed' | 'copied' | 'type changed' | 'in conflict'

export interface ChangedLines {
  readonly path: string
  readonly change: FileChange
  readonly from?: string
  /** Lines; both 0 for a binary file. */
  readonly added: number
  readonly removed: number
  readonly binary: boolean
}

const CHANGES: Readonly<Record<string, FileChange>> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type changed',
  U: 'in conflict',
}

/** @param printed a record that was cut off at the end is left out */
export function fileChanges(printed: string): ChangedLines[] {
  const fields = printed.split('\0').slice(0, -1)
  const files = new Map<string, ChangedLines>()
  let at = 0
  while (at < fields.length) {
    const field = fields[at++] as string
    // A merge has a colon for each parent.
    const status = /^:+[\d ]+ .* ([A-Z]+)\d*$/.exec(field)?.[1]
    if (status !== undefined) {
      const change = CHANGES[status.at(-1) ?? ''] ?? 'modified'
      const from = change === 'renamed' || change === 'copied' ? fields[at++] : undefined
      const path = fields[at++]
      if (path === undefined) break
      // A file in conflict is told a second time, as modified.
      if (files.get(path)?.change !== 'in conflict')
        files.set(path, { path, change, ...(from === undefined ? {} : { from }), added: 0, removed: 0, binary: false })
      continue
    }
    const [, added, removed, name] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field) ?? []
    if (name === undefined) continue
    if (name === '') at++
    const path = name === '' ? fields[at++] : name
    if (path === undefined) break
    const lines = { added: Number(added) || 0, removed: Number(removed) || 0, binary: added === '-' }
    files.set(path, { change: 'modified', ...files.get(path), path, ...lines })
  }
  return [...files.values()]
}

export const sum = (files: readonly ChangedLines[], of: 'added' | 'removed'): number => files.reduce((total, one) => total + one[of], 0)
