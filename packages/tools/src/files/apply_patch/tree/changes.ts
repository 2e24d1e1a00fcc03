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

const bytesOf = ({ text, original }: PatchFile): Uint8Array => encode(text ?? original?.text ?? '', original?.encoding ?? 'utf-8', 'patch')

/** Whether its text is another than on the disk. */
export const isChanged = ({ text, original }: PatchFile): boolean => text !== undefined && text !== original?.text

/** Deletions first, then moves, then what is written: so each finds its place empty, or as it was read. */
export function changesFor(files: readonly PatchFile[]): Change[] {
  const { ordered, stuck } = inOrder(moves(files))
  const made = files.filter(({ origin, at }) => !origin && at)
  const remade = new Set(made.map(({ at }) => at?.absolute))
  const moved = new Set(ordered.map(({ file }) => file))
  const hashes = new Map(
    files.filter((file) => file.origin && !moved.has(file)).map((file) => [file.origin?.absolute, file.original?.hash]),
  )
  const inPlace = files.filter((file) => file.origin && file.at?.absolute === file.origin.absolute && isChanged(file))
  const written = [...stuck.map(({ file }) => file), ...inPlace, ...made]
  return [
    ...files
      .filter(({ origin, at }) => origin && !at && !remade.has(origin.absolute))
      .map((file): Change => ({ kind: 'delete', file: file.origin as Resolved, before: file.original?.hash })),
    ...ordered.map(({ file, from, to }): Change => {
      const bytes = isChanged(file) && { bytes: bytesOf(file) }
      return { kind: 'move', from, to, before: file.original?.hash, ...bytes }
    }),
    ...written.map((file): Change => {
      const before = hashes.get(file.at?.absolute)
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
