/** Reads `git status --porcelain=v2 -z --branch`. Pure. */

export type ChangeKind = 'added' | 'modified' | 'deleted' | 'renamed' | 'copied' | 'type changed'

export interface ChangedFile {
  readonly path: string
  readonly change: ChangeKind
  /** Where it was, when it was renamed or copied. */
  readonly from?: string
  /** It is a submodule. */
  readonly submodule?: true
}

export interface ConflictFile {
  readonly path: string
  /** As in "both modified". */
  readonly conflict: string
}

export interface WorkingTree {
  /** Absent before the first commit. */
  readonly head?: string
  /** Absent when the head is detached. */
  readonly branch?: string
  readonly upstream?: string
  readonly ahead?: number
  readonly behind?: number
  readonly staged: readonly ChangedFile[]
  readonly unstaged: readonly ChangedFile[]
  readonly conflicts: readonly ConflictFile[]
  readonly untracked: readonly string[]
  readonly ignored: readonly string[]
}

const KINDS: Readonly<Record<string, ChangeKind>> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type changed',
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

/** Fields before the path, by the sign that the record begins with. */
const FIELDS: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10 }

/** @param printed a record that was cut off at the end is left out */
export function workingTree(printed: string): WorkingTree {
  const records = printed.split('\0').slice(0, -1)
  const staged: ChangedFile[] = []
  const unstaged: ChangedFile[] = []
  const conflicts: ConflictFile[] = []
  const untracked: string[] = []
  const ignored: string[] = []
  const branch: Record<string, string> = {}

  for (let at = 0; at < records.length; at++) {
    const record = records[at] as string
    const sign = record[0] ?? ''
    if (sign === '#') {
      const [, name = '', value = ''] = /^# branch\.(\w+) (.*)$/s.exec(record) ?? []
      branch[name] = value
    } else if (sign === '?') untracked.push(record.slice(2))
    else if (sign === '!') ignored.push(record.slice(2))
    else {
      const { fields, path } = cells(record, FIELDS[sign] ?? 0)
      const [, xy = '', sub = ''] = fields
      const from = sign === '2' ? records[++at] : undefined
      if (from === undefined && sign === '2') break
      if (sign === 'u') conflicts.push({ path, conflict: CONFLICTS[xy] ?? xy })
      else {
        const submodule = sub.startsWith('S') ? ({ submodule: true } as const) : {}
        for (const [letter = '.', list] of [
          [xy[0], staged],
          [xy[1], unstaged],
        ] as const) {
          const change = KINDS[letter]
          const moved = change === 'renamed' || change === 'copied'
          if (change) list.push({ path, change, ...(moved && from !== undefined ? { from } : {}), ...submodule })
        }
      }
    }
  }
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(branch['ab'] ?? '') ?? []
  return {
    ...(branch['oid'] === undefined || branch['oid'] === '(initial)' ? {} : { head: branch['oid'] }),
    ...(branch['head'] === undefined || branch['head'] === '(detached)' ? {} : { branch: branch['head'] }),
    ...(branch['upstream'] === undefined ? {} : { upstream: branch['upstream'] }),
    ...(ahead === undefined ? {} : { ahead: Number(ahead), behind: Number(behind) }),
    staged,
    unstaged,
    conflicts,
    untracked,
    ignored,
  }
}

/** The first `count` words, and the rest, which may have spaces of its own. */
function cells(record: string, count: number): { readonly fields: readonly string[]; readonly path: string } {
  const words = record.split(' ')
  return { fields: words.slice(0, count), path: words.slice(count).join(' ') }
}

/** The same with every path as `name` gives it. */
export function renamed(tree: WorkingTree, name: (path: string) => string): WorkingTree {
  const file = (one: ChangedFile): ChangedFile => ({
    ...one,
    path: name(one.path),
    ...(one.from === undefined ? {} : { from: name(one.from) }),
  })
  return {
    ...tree,
    staged: tree.staged.map(file),
    unstaged: tree.unstaged.map(file),
    conflicts: tree.conflicts.map((one) => ({ ...one, path: name(one.path) })),
    untracked: tree.untracked.map(name),
    ignored: tree.ignored.map(name),
  }
}
