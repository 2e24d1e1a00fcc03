/** From what a patch came to, to the changes on the disk. Pure. */
import type { Change } from '../../../workspace/change.ts'
import type { Resolved } from '../../../workspace/workspace.ts'
import { encode } from '../../common/encoding.ts'
import type { PatchFile } from './tree.ts'

interface Move {
  readonly file: PatchFile
  readonly from: Resolved
  readonly to: Resolved
}

const bytesOf = ({ text = '', original }: PatchFile): Uint8Array => encode(text, original?.encoding ?? 'utf-8', 'patch')

/** Whether its text is another than on the disk. */
export const isChanged = ({ text, original }: PatchFile): boolean => text !== undefined && text !== original?.text

/** Deletions first, then moves, then what is written: so each finds its place empty. */
export function changesFor(files: readonly PatchFile[]): Change[] {
  const gone = files.filter(({ origin, at }) => origin && !at)
  const made = files.filter(({ origin, at }) => !origin && at)
  const replaced = new Map(gone.map((file) => [file.origin?.absolute, file]))
  const kept = new Set(made.map(({ at }) => replaced.get(at?.absolute)))
  const deleted = gone.filter((file) => !kept.has(file))
  const { ordered, stuck } = inOrder(moves(files))
  return [
    ...deleted.map((file): Change => ({ kind: 'delete', file: file.origin as Resolved, before: file.original?.hash })),
    ...ordered.map(
      ({ file, from, to }): Change => ({
        kind: 'move',
        from,
        to,
        before: file.original?.hash,
        ...(isChanged(file) && { bytes: bytesOf(file) }),
      }),
    ),
    ...stuck.map(({ file, to }): Change => {
      const there = files.find(({ origin }) => origin?.absolute === to.absolute)
      return {
        kind: 'write',
        file: to,
        bytes: encode(file.text ?? file.original?.text ?? '', file.original?.encoding ?? 'utf-8', 'patch'),
        before: there?.original?.hash,
      }
    }),
    ...files
      .filter((file) => file.origin && file.at?.absolute === file.origin.absolute && isChanged(file))
      .map((file): Change => ({ kind: 'write', file: file.at as Resolved, bytes: bytesOf(file), before: file.original?.hash })),
    ...made.map((file): Change => {
      const before = replaced.get(file.at?.absolute)?.original?.hash
      return { kind: 'write', file: file.at as Resolved, bytes: bytesOf(file), before }
    }),
  ]
}

export const moves = (files: readonly PatchFile[]): Move[] =>
  files.flatMap((file) =>
    file.origin && file.at && file.at.absolute !== file.origin.absolute ? [{ file, from: file.origin, to: file.at }] : [],
  )

/** Each after the one that frees its place. Those that wait for each other in a circle are left. */
export function inOrder(all: readonly Move[]): { readonly ordered: readonly Move[]; readonly stuck: readonly Move[] } {
  const waiting = new Map(all.map((move) => [move.to.absolute, move]))
  const taken = new Set(all.map(({ from }) => from.absolute))
  const ordered = all.filter(({ to }) => !taken.has(to.absolute))
  // Grows while it is gone through: each move may free the place of the next.
  for (const { from, to } of ordered) {
    waiting.delete(to.absolute)
    const next = waiting.get(from.absolute)
    if (next) ordered.push(next)
  }
  return { ordered, stuck: [...waiting.values()] }
}
