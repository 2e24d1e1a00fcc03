/** What a turn changed, as a diff that `git apply` understands. */
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff'
import { Lost } from './changes/blobs.ts'
import type { FileChange } from './changes/net.ts'
import { sameMode } from './changes/state.ts'
import { decode, sniff } from './files/common/encoding.ts'
import { HEAD_BYTES } from './files/common/magic.ts'
import type { State } from './workspace/change.ts'
import { printable } from './workspace/paths.ts'

export interface FileDiff {
  readonly kind: FileChange['kind']
  readonly path: string
  /** Where it was, when it was moved. */
  readonly from?: string
  readonly added: number
  readonly removed: number
  /** Why there are no lines: it is binary, too large, or not kept any more. */
  readonly unshown?: 'binary' | 'large' | 'lost'
  /** With the headers of git. */
  readonly text: string
}

const CONTEXT = 3
const BOM = '\ufeff'
/** Larger contents are named only. Bytes. */
const MAX_SHOWN = 10 * 1024 * 1024
/** Past this many changed lines the search for the smallest diff is not worth its time. */
const MAX_CHANGED_LINES = 5000

/** @param content of a hash. @throws what it throws, unless that content is lost */
export async function turnDiff(changes: readonly FileChange[], content: (hash: string) => Promise<Buffer>): Promise<readonly FileDiff[]> {
  const diffs: FileDiff[] = []
  for (const change of changes) diffs.push(await diffOf(change, content))
  return diffs
}

type Side = { readonly text: string } | { readonly unshown: NonNullable<FileDiff['unshown']> }

async function diffOf(change: FileChange, content: (hash: string) => Promise<Buffer>): Promise<FileDiff> {
  const { kind, path, from = path, before, after } = change
  const header = headerOf(change)
  const base = { kind, path, ...(change.from !== undefined && { from: change.from }), added: 0, removed: 0 }
  // Git knows no folders; a line that is no part of a diff is passed over.
  if (before.kind === 'directory' || after.kind === 'directory')
    return { ...base, text: `Folder ${from === path ? '' : `${printable(from)} → `}${printable(path)}: ${kind}\n` }
  const same = before.kind === 'file' && after.kind === 'file' && before.hash === after.hash
  if (same) return { ...base, text: header }
  const [old, now] = [await sideOf(before, content), await sideOf(after, content)]
  const unshown = 'unshown' in old ? old.unshown : 'unshown' in now ? now.unshown : undefined
  const [a, b] = [before.kind === 'missing' ? '/dev/null' : name('a', from), after.kind === 'missing' ? '/dev/null' : name('b', path)]
  if (unshown !== undefined || 'unshown' in old || 'unshown' in now)
    return { ...base, ...(unshown && { unshown }), text: `${header}${UNSHOWN[unshown ?? 'lost'](a, b)}\n` }
  const patch = structuredPatch(a, b, old.text, now.text, undefined, undefined, { context: CONTEXT, maxEditLength: MAX_CHANGED_LINES })
  if (!patch) return { ...base, unshown: 'large', text: `${header}${UNSHOWN.large(a, b)}\n` }
  const lines = patch.hunks.flatMap((hunk) => hunk.lines)
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length
  return { ...base, added: count('+'), removed: count('-'), text: header + (lines.length > 0 ? formatPatch(patch, FILE_HEADERS_ONLY) : '') }
}

const UNSHOWN: Readonly<Record<NonNullable<FileDiff['unshown']>, (a: string, b: string) => string>> = {
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

/** As git writes it. */
function modeOf(state: State): string {
  if (state.kind === 'link') return '120000'
  return state.kind === 'file' && ((state.mode ?? 0) & 0o111) !== 0 ? '100755' : '100644'
}

async function sideOf(state: State, content: (hash: string) => Promise<Buffer>): Promise<Side> {
  if (state.kind === 'link') return { text: state.target }
  if (state.kind !== 'file') return { text: '' }
  if (state.size > MAX_SHOWN) return { unshown: 'large' }
  try {
    const bytes = await content(state.hash)
    const found = sniff(bytes.subarray(0, HEAD_BYTES))
    // A patch is UTF-8 here, byte for byte: what would have to be converted can't be applied.
    if (found.kind !== 'text' || found.encoding.startsWith('utf-16')) return { unshown: 'binary' }
    const text = decode(bytes, found.encoding)
    if (text === undefined) return { unshown: 'binary' }
    return { text: found.encoding === 'utf-8-bom' ? `${BOM}${text}` : text }
  } catch (error) {
    if (!(error instanceof Lost)) throw error
    return { unshown: 'lost' }
  }
}
