/**
 * Describes what a command changed on its layer, for keeping, for approval and as text. Pure, except for reading the contents of the diff.
 */
import type { Change, ChangeSet, Entry } from '@mulligan/sandbox'
import { isIndex, saySame } from '../../changes/git-index.ts'
import type { FileChange } from '../../changes/net.ts'
import { MISSING } from '../../changes/state.ts'
import { plural } from '../../files/common/page.ts'
import { turnDiff } from '../../turn-diff.ts'
import type { LayerChange, State } from '../../workspace/change.ts'

/** Files shown as a diff; further files are only named. */
const MAX_DIFFS = 40
const MAX_LISTED = 200
/** Characters. */
const MAX_DIFF = 400_000

/** Separates changes that can be kept from those that cannot, such as pipes, sockets and devices. */
export function keepable({ changes }: Pick<ChangeSet, 'changes'>): { readonly kept: readonly Change[]; readonly left: readonly Change[] } {
  const kept = changes.filter(({ unsupported, before, after }) => unsupported === undefined && readable(before) && readable(after))
  return { kept, left: changes.filter((one) => !kept.includes(one)) }
}

const readable = (entry: Entry | undefined): boolean => entry?.type !== 'special' && (entry?.type !== 'file' || entry.sha256 !== undefined)

export const toLayerChanges = (changes: readonly Change[]): readonly LayerChange[] =>
  changes.filter(({ path }) => path !== '.').map(({ path, before, after }) => ({ path, before: stateOf(before), after: stateOf(after) }))

function stateOf(entry: Entry | undefined): State {
  switch (entry?.type) {
    case 'file':
      return { kind: 'file', hash: entry.sha256 ?? '', size: entry.size, mode: entry.mode, mtime: entry.mtimeMs }
    case 'directory':
      return { kind: 'directory', mode: entry.mode }
    case 'link':
      return { kind: 'link', target: entry.target }
    case 'special':
      return { kind: 'other' }
    case undefined:
      return MISSING
  }
}

/**
 * Summarises changes, for example "2 files changed, 1 deleted". Folders count only if no files changed; everything inside `.git` counts as
 * one.
 */
export function summaryOf(changes: readonly Change[]): string {
  const plain = changes.filter(({ git }) => !git)
  const files = plain.filter(({ before, after }) => (after ?? before)?.type !== 'directory')
  const counted = files.length > 0 ? files : plain
  const what = files.length > 0 ? 'file' : 'folder'
  const count = (...kinds: readonly Change['kind'][]): number => counted.filter(({ kind }) => kinds.includes(kind)).length
  const parts = [
    [count('modified', 'mode'), 'changed'],
    [count('added'), 'added'],
    [count('deleted'), 'deleted'],
  ] as const
  const said = parts.filter(([n]) => n > 0).map(([n, verb], at) => `${at === 0 ? plural(n, what) : n} ${verb}`)
  if (changes.some(({ git }) => git)) said.push('the git repository changed')
  return said.join(', ')
}

/** Returns the paths for policies and the ledger. All of git's own files are represented by `.git`. */
export function targetsOf(changes: readonly Change[]): readonly string[] {
  const files = changes.filter(({ before, after, git }) => !git && (after ?? before)?.type !== 'directory')
  const paths = (files.length > 0 ? files : changes.filter(({ git }) => !git)).map(({ path }) => path)
  return changes.some(({ git }) => git) ? [...paths, '.git'] : paths
}

/** Drops index files that only record new timestamps of file checks, which `git status` and `git diff` write. */
export async function withoutRefreshedIndexes(changes: readonly Change[], { before, after }: Contents): Promise<readonly Change[]> {
  const kept = await Promise.all(
    changes.map(async (change) => {
      const { path, kind, before: was, after: is } = change
      if (kind !== 'modified' || was?.type !== 'file' || is?.type !== 'file' || was.mode !== is.mode || !isIndex(path)) return [change]
      return saySame(await before(path), await after(path)) ? [] : [change]
    }),
  )
  return kept.flat()
}

export interface Contents {
  /** Reads a workspace file as it was when the change set was made. */
  readonly before: (path: string) => Promise<Buffer>
  /** Reads a file of the layer. */
  readonly after: (path: string) => Promise<Buffer>
}

/** Returns a unified diff; changes beyond the limits are only named. */
export async function diffOf(changes: readonly Change[], { before, after }: Contents): Promise<string> {
  // Of git's own files, show only settings and protected files.
  const isNamed = (one: Change): boolean => one.git && !one.protected && !isSettings(one)
  const shown = changes.filter((one) => one.path !== '.' && !isNamed(one) && (one.after ?? one.before)?.type !== 'directory')
  const sources = new Map<string, () => Promise<Buffer>>()
  const all = shown.slice(0, MAX_DIFFS).map((change): FileChange => {
    const [old, now] = [stateOf(change.before), stateOf(change.after)]
    if (old.kind === 'file') sources.set(old.hash, () => before(change.path))
    if (now.kind === 'file') sources.set(now.hash, () => after(change.path))
    return { kind: KINDS[change.kind], path: change.path, before: old, after: now }
  })
  const diffs = await turnDiff(all, async (hash) => (await sources.get(hash)?.()) ?? Buffer.alloc(0))
  const rest = shown.slice(MAX_DIFFS)
  const listed = rest.slice(0, MAX_LISTED).map(({ kind, path }) => `${KINDS[kind]} ${path}`)
  if (rest.length > MAX_LISTED) listed.push(`and ${rest.length - MAX_LISTED} more`)
  const git = changes.filter(isNamed).map(({ kind, path }) => `${KINDS[kind]} ${path}`)
  const ofGit = git.length > 20 ? [...git.slice(0, 20), `and ${git.length - 20} more in .git`] : git
  const text = [...diffs.map((diff) => diff.text), ...listed, ...ofGit].join('\n')
  return text.length > MAX_DIFF ? `${text.slice(0, MAX_DIFF)}\n(the rest is not shown)` : text
}

const isSettings = ({ git, path }: Change): boolean => git && /(?:^|\/)config(?:\.worktree)?$/.test(path)

const KINDS: Readonly<Record<Change['kind'], FileChange['kind']>> = {
  added: 'created',
  modified: 'changed',
  mode: 'changed',
  deleted: 'deleted',
}
