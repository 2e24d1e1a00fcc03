/** Tracks the files of a patch while it is planned, and collects the resulting changes. Only reads the disk. */
import { dirname } from 'node:path'
import type { Change, Resolved } from '../../workspace/change.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { encode } from '../common/encoding.ts'
import type { TextFile } from '../common/text-file.ts'

/** A file, followed through the moves of the patch. */
export interface PatchFile {
  /** Where the file is on the disk; undefined for a new file. */
  readonly origin: Resolved | undefined
  /** Where the file is now; undefined if it was deleted. */
  at: Resolved | undefined
  /** Read on first use, because binary files can be deleted and moved too. */
  original?: TextFile
  /** Undefined while it is the same as on the disk. */
  text?: string
  /** Lines added and removed by hunks. */
  counts?: { readonly added: number; readonly removed: number }
}

/** Returns true if the text differs from the one on the disk. */
export const isChanged = ({ text, original }: PatchFile): boolean => text !== undefined && text !== original?.text

export type Tree = ReturnType<typeof createTree>

/** @param read reads the content of a file on the disk; called once per file */
export function createTree(workspace: Workspace, read: (file: PatchFile) => Promise<TextFile>) {
  const files: PatchFile[] = []
  const at = new Map<string, PatchFile | undefined>()
  /** Folders that contain files of the patch. */
  const folders = new Set<string>()
  /** Moves, and deletions (without `to`), of files on the disk, in the order of the patch. */
  const steps: { readonly file: PatchFile; readonly from: Resolved; readonly to?: Resolved }[] = []

  const enter = (file: PatchFile, place: Resolved): void => {
    file.at = place
    at.set(place.absolute, file)
    for (let folder = dirname(place.absolute); folder !== place.root && !folders.has(folder); folder = dirname(folder)) folders.add(folder)
  }
  const add = (file: PatchFile, place: Resolved): PatchFile => {
    files.push(file)
    enter(file, place)
    return file
  }
  /** Returns the file at a path at this point of the patch. */
  const get = (place: Resolved): PatchFile | undefined => {
    if (at.has(place.absolute)) return at.get(place.absolute)
    return place.kind === 'file' ? add({ origin: place, at: place }, place) : undefined
  }
  const leave = (file: PatchFile, to?: Resolved): void => {
    if (!file.at) return
    if (file.origin) steps.push({ file, from: file.at, ...(to && { to }) })
    at.set(file.at.absolute, undefined)
    file.at = undefined
  }
  const openFolder = async (folder: string, root: string): Promise<string | undefined> => {
    if (folder === root || folders.has(folder)) return undefined
    const place = await workspace.resolve(folder, { for: 'write' })
    return get(place) ? place.relative : openFolder(dirname(folder), root)
  }
  return {
    files,
    get,
    /** Returns the path that blocks a new file: the path itself, or a parent that is a file. */
    async blocked(place: Resolved): Promise<string | undefined> {
      if (get(place) || place.kind === 'directory' || folders.has(place.absolute)) return place.relative
      return openFolder(dirname(place.absolute), place.root)
    },
    put(file: PatchFile, place: Resolved): void {
      leave(file, place)
      enter(file, place)
    },
    create: (place: Resolved, text: string): void => void add({ origin: undefined, at: place, text }, place),
    remove: (file: PatchFile): void => leave(file),
    /** Returns moves and deletions in the order of the patch, then the writes, one per file. */
    async changes(): Promise<Change[]> {
      const writes: Change[] = []
      const replaced = new Set<unknown>()
      for (const file of files) {
        const { at: place, origin, original, text } = file
        if (!place || text === undefined || !isChanged(file)) continue
        // A file that is deleted and added again is overwritten, so that it keeps its mode.
        const last = origin ? undefined : steps.findLast(({ from, to }) => [from, to].some((one) => one?.absolute === place.absolute))
        const gone = last && !last.to ? last.file : undefined
        if (gone) replaced.add(last)
        const before = gone ? (await read(gone)).hash : original?.hash
        writes.push({ kind: 'write', file: place, bytes: encode(text, original?.encoding ?? 'utf-8', 'patch'), before })
      }
      const done = steps.filter((step) => !replaced.has(step))
      const made = done.map(({ file, from, to }): Change => {
        const before = file.original?.hash
        return to ? { kind: 'move', from, to, before } : { kind: 'delete', file: from, before }
      })
      return [...made, ...writes]
    },
  }
}
