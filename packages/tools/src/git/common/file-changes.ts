/** Parses `--raw --numstat -z` output of git diffs: files and line counts. Pure. */

/** Git's status letters. */
export const CHANGES = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type changed',
  U: 'in conflict',
} as const

export type FileChange = (typeof CHANGES)[keyof typeof CHANGES]

export const changeOf = (letter: string | undefined): FileChange | undefined =>
  (CHANGES as Readonly<Record<string, FileChange>>)[letter ?? '']

export interface ChangedLines {
  readonly path: string
  readonly change: FileChange
  readonly from?: string
  /** Lines. Both are 0 for a binary file. */
  readonly added: number
  readonly removed: number
  readonly binary: boolean
}

/**
 * Parses the output.
 * @param printed an incomplete record at the end is ignored
 */
export function fileChanges(printed: string): ChangedLines[] {
  const fields = printed.split('\0').slice(0, -1).values()
  const files = new Map<string, ChangedLines>()
  for (const field of fields) {
    // A merge has one colon per parent.
    const status = /^:+[\d ]+ .* ([A-Z]+)\d*$/.exec(field)?.[1]
    const [, added, removed, name] = (status === undefined && /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field)) || []
    if (status === undefined && name === undefined) continue
    const change = changeOf(status?.at(-1)) ?? 'modified'
    // A moved file is followed by two names, the old one first.
    const from = change === 'renamed' || change === 'copied' || name === '' ? fields.next().value : undefined
    const path = name || fields.next().value
    if (path === undefined) break
    if (name !== undefined) {
      const lines = { added: Number(added) || 0, removed: Number(removed) || 0, binary: added === '-' }
      files.set(path, { change: 'modified', ...files.get(path), path, ...lines })
    }
    // A file in conflict is listed a second time, as modified.
    else if (files.get(path)?.change !== 'in conflict')
      files.set(path, { path, change, ...(from !== undefined && { from }), added: 0, removed: 0, binary: false })
  }
  return [...files.values()]
}

export const sum = (files: readonly ChangedLines[], of: 'added' | 'removed'): number => files.reduce((total, one) => total + one[of], 0)

/** True if the list contains the path, something below it, or the new folder that contains it. */
export function touches(path: string, changed: readonly string[]): boolean {
  if (path === '.') return changed.length > 0
  return changed.some((one) => one === path || one.startsWith(`${path}/`) || (one.endsWith('/') && `${path}/`.startsWith(one)))
}
