/** Formats the changes of a turn as a diff that `git apply` understands. */
import { Lost } from './changes/blobs.ts'
import type { FileChange } from './changes/net.ts'
import { sameMode } from './changes/state.ts'
import { decode, sniff } from './files/common/encoding.ts'
import { HEAD_BYTES } from './files/common/magic.ts'
import { diffOf } from './files/common/unified-diff.ts'
import type { State } from './workspace/change.ts'
import { printable } from './workspace/paths.ts'

export interface FileDiff {
  readonly kind: FileChange['kind']
  readonly path: string
  /** Former path, if the file was moved. */
  readonly from?: string
  readonly added: number
  readonly removed: number
  /** Why there are no lines: the file is binary, too large or no longer stored. */
  readonly unshown?: 'binary' | 'large' | 'lost'
  /** Includes git's headers. */
  readonly text: string
}

const BOM = '\ufeff'
/** Larger contents are only named. Bytes. */
const MAX_SHOWN = 10 * 1024 * 1024
/** With more changed lines than this, the search for the smallest diff is not worth its time. */
const MAX_CHANGED_LINES = 5000

/** @param content returns a stored content by its hash. @throws errors of `content`, except for a lost content */
export async function turnDiff(changes: readonly FileChange[], content: (hash: string) => Promise<Buffer>): Promise<readonly FileDiff[]> {
  const diffs: FileDiff[] = []
  for (const change of changes) diffs.push(await fileDiff(change, content))
  return diffs
}

type Unshown = NonNullable<FileDiff['unshown']>

async function fileDiff(change: FileChange, content: (hash: string) => Promise<Buffer>): Promise<FileDiff> {
  const { kind, path, from = path, before, after } = change
  const header = headerOf(change)
  const base = { kind, path, ...(change.from !== undefined && { from: change.from }), added: 0, removed: 0 }
  // Git does not track folders. It ignores lines that are not part of a diff.
  if (before.kind === 'directory' || after.kind === 'directory')
    return { ...base, text: `Folder ${from === path ? '' : `${printable(from)} → `}${printable(path)}: ${kind}\n` }
  if (before.kind === 'file' && after.kind === 'file' && before.hash === after.hash) return { ...base, text: header }
  const [old, now] = [await sideOf(before, content), await sideOf(after, content)]
  const [a, b] = [before.kind === 'missing' ? '/dev/null' : name('a', from), after.kind === 'missing' ? '/dev/null' : name('b', path)]
  const diff = 'text' in old && 'text' in now ? diffOf(a, b, old.text, now.text, MAX_CHANGED_LINES) : undefined
  if (diff) return { ...base, added: diff.added, removed: diff.removed, text: header + (diff.added + diff.removed > 0 ? diff.text : '') }
  const unshown = 'unshown' in old ? old.unshown : 'unshown' in now ? now.unshown : 'large'
  return { ...base, unshown, text: `${header}${UNSHOWN[unshown](a, b)}\n` }
}

const UNSHOWN: Readonly<Record<Unshown, (a: string, b: string) => string>> = {
  binary: (a, b) => `Binary files ${a} and ${b} differ`,
  large: (a, b) => `Files ${a} and ${b} differ: too much to be shown`,
  lost: (a, b) => `Files ${a} and ${b} differ: a content is not kept any more`,
}

const name = (side: 'a' | 'b', path: string): string => printable(`${side}/${path}`)

function headerOf({ kind, path, from = path, before, after }: FileChange): string {
  const lines = [`diff --git ${name('a', from)} ${name('b', path)}`]
  if (kind === 'created') lines.push(`new file mode ${modeOf(after)}`)
  if (kind === 'deleted') lines.push(`deleted file mode ${modeOf(before)}`)
  if (kind === 'changed' && before.kind === 'file' && !sameMode(before, after))
    lines.push(`old mode ${modeOf(before)}`, `new mode ${modeOf(after)}`)
  if (kind === 'moved') lines.push(`rename from ${printable(from)}`, `rename to ${printable(path)}`)
  return `${lines.join('\n')}\n`
}

/** Returns the mode in git's format. */
function modeOf(state: State): string {
  if (state.kind === 'link') return '120000'
  return state.kind === 'file' && ((state.mode ?? 0) & 0o111) !== 0 ? '100755' : '100644'
}

async function sideOf(
  state: State,
  content: (hash: string) => Promise<Buffer>,
): Promise<{ readonly text: string } | { readonly unshown: Unshown }> {
  if (state.kind === 'link') return { text: state.target }
  if (state.kind !== 'file') return { text: '' }
  if (state.size > MAX_SHOWN) return { unshown: 'large' }
  try {
    const bytes = await content(state.hash)
    const found = sniff(bytes.subarray(0, HEAD_BYTES))
    // Patches are UTF-8 here, byte for byte: text that would have to be converted could not be applied.
    if (found.kind !== 'text' || found.encoding.startsWith('utf-16')) return { unshown: 'binary' }
    const text = decode(bytes, found.encoding)
    if (text === undefined) return { unshown: 'binary' }
    return { text: found.encoding === 'utf-8-bom' ? `${BOM}${text}` : text }
  } catch (error) {
    if (!(error instanceof Lost)) throw error
    return { unshown: 'lost' }
  }
}
