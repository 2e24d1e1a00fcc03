/** Parses the output of `git status --porcelain=v2 -z --branch`. Pure. */
import { changeOf, type FileChange } from '../common/file-changes.ts'
import { withPaths } from '../common/parameters.ts'

export interface ChangedFile {
  readonly path: string
  readonly change: FileChange
  /** The previous path of a renamed or copied file. */
  readonly from?: string
  /** The file is a submodule. */
  readonly submodule?: true
}

export interface WorkingTree {
  /** Absent before the first commit. */
  readonly head?: string
  /** Absent if HEAD is detached. */
  readonly branch?: string
  readonly upstream?: string
  readonly ahead?: number
  readonly behind?: number
  readonly staged: readonly ChangedFile[]
  readonly unstaged: readonly ChangedFile[]
  /** `conflict` is a description such as "both modified". */
  readonly conflicts: readonly { readonly path: string; readonly conflict: string }[]
  readonly untracked: readonly string[]
}

const CONFLICTS: Readonly<Record<string, string>> = {
  DD: 'both deleted',
  AU: 'added by us',
  UD: 'deleted by them',
  UA: 'added by them',
  DU: 'deleted by us',
  AA: 'both added',
  UU: 'both modified',
}

/** A file record: type, two status letters, submodule state, type-specific fields, and the path. */
const RECORD = /^(?:1 (..) (.)\S*(?: \S+){5}|2 (..) (.)\S*(?: \S+){6}|u (..) (.)\S*(?: \S+){7}) (.*)$/s

/**
 * Parses the output.
 * @param printed an incomplete record at the end is ignored
 */
export function workingTree(printed: string): WorkingTree {
  const [staged, unstaged]: [ChangedFile[], ChangedFile[]] = [[], []]
  const conflicts: { path: string; conflict: string }[] = []
  const untracked: string[] = []
  const branch: Record<string, string> = {}
  const records = printed.split('\0').slice(0, -1).values()
  for (const record of records) {
    const [, name, value = ''] = /^# branch\.(\w+) (.*)$/s.exec(record) ?? []
    if (name !== undefined) branch[name] = value
    if (record.startsWith('? ')) untracked.push(record.slice(2))
    const [, one, ofOne, two, ofTwo, both, , path] = RECORD.exec(record) ?? []
    if (path === undefined) continue
    if (both !== undefined) {
      conflicts.push({ path, conflict: CONFLICTS[both] ?? both })
      continue
    }
    const from = two === undefined ? undefined : records.next().value
    if (two !== undefined && from === undefined) break
    const [x, y] = one ?? two ?? ''
    for (const [letter, list] of [[x, staged] as const, [y, unstaged] as const]) {
      const change = changeOf(letter)
      const moved = (change === 'renamed' || change === 'copied') && from !== undefined && { from }
      if (change) list.push({ path, change, ...moved, ...((ofOne ?? ofTwo) === 'S' && { submodule: true }) })
    }
  }
  const { oid, head, upstream, ab } = branch
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(ab ?? '') ?? []
  return {
    ...(oid !== undefined && oid !== '(initial)' && { head: oid }),
    ...(head !== undefined && head !== '(detached)' && { branch: head }),
    ...(upstream !== undefined && { upstream }),
    ...(ahead !== undefined && { ahead: Number(ahead), behind: Number(behind) }),
    staged,
    unstaged,
    conflicts,
    untracked,
  }
}

/** Returns the same tree with all paths mapped by `name`. */
export const renamed = ({ staged, unstaged, conflicts, untracked, ...tree }: WorkingTree, name: (path: string) => string): WorkingTree => ({
  ...tree,
  staged: staged.map((file) => withPaths(file, name)),
  unstaged: unstaged.map((file) => withPaths(file, name)),
  conflicts: conflicts.map((file) => withPaths(file, name)),
  untracked: untracked.map(name),
})
