/** The files that a patch touches, as they are at each point of it. The disk is only read. */
import { dirname } from 'node:path'
import type { Resolved, Workspace } from '../../../workspace/workspace.ts'
import type { TextFile } from '../../common/text-file.ts'

/** A file, wherever the patch has moved it by now. */
export interface PatchFile {
  /** Where it is on the disk; undefined for a new one. */
  readonly origin: Resolved | undefined
  /** Where it is now; undefined when it was deleted. */
  at: Resolved | undefined
  /** Read when it is first needed: a binary file can be deleted and moved. */
  original?: TextFile
  /** Undefined while it is as on the disk. */
  text?: string
  /** Lines that hunks brought and took. */
  counts?: { readonly added: number; readonly removed: number }
}

export interface Tree {
  readonly files: readonly PatchFile[]
  /** The file at a path, at this point of the patch. */
  readonly get: (place: Resolved) => PatchFile | undefined
  /** What stands in the way of a new file: itself, or the parent that is a file. */
  readonly blocked: (place: Resolved) => Promise<string | undefined>
  readonly put: (file: PatchFile, place: Resolved) => void
  readonly create: (place: Resolved, text: string) => void
  readonly remove: (file: PatchFile) => void
}

export function createTree(workspace: Workspace): Tree {
  const files: PatchFile[] = []
  const at = new Map<string, PatchFile | undefined>()
  /** Folders that files of the patch lie in. */
  const folders = new Set<string>()

  const enter = (file: PatchFile, place: Resolved): void => {
    file.at = place
    at.set(place.absolute, file)
    for (let folder = dirname(place.absolute); folder !== place.root && !folders.has(folder); folder = dirname(folder)) folders.add(folder)
  }
  const add = (file: PatchFile): PatchFile => {
    files.push(file)
    if (file.at) enter(file, file.at)
    return file
  }
  const get = (place: Resolved): PatchFile | undefined => {
    if (at.has(place.absolute)) return at.get(place.absolute)
    return place.kind === 'file' ? add({ origin: place, at: place }) : undefined
  }
  const leave = (file: PatchFile): void => {
    if (file.at) at.set(file.at.absolute, undefined)
    file.at = undefined
  }
  const isOpen = async (folder: string, root: string): Promise<string | undefined> => {
    if (folder === root || folders.has(folder)) return undefined
    const place = await workspace.resolve(folder, { for: 'write' })
    return get(place) ? place.relative : isOpen(dirname(folder), root)
  }
  return {
    files,
    get,
    async blocked(place) {
      if (get(place) || place.kind === 'directory' || folders.has(place.absolute)) return place.relative
      return isOpen(dirname(place.absolute), place.root)
    },
    put(file, place) {
      leave(file)
      enter(file, place)
    },
    create: (place, text) => void add({ origin: undefined, at: place, text }),
    remove: leave,
  }
}
