/** A list of files as a tree, folded where it gets too deep or too wide. */
import { printable } from '../../workspace/paths.ts'

interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: string[]
}

export interface TreeOptions {
  readonly depth: number
  /** Files shown of one folder. */
  readonly width: number
  /** Lines in all. */
  readonly lines: number
}

export interface Tree {
  readonly text: string
  readonly files: number
  readonly folders: number
  /** Something was folded. */
  readonly folded: boolean
}

/** @param files paths relative to the folder shown, with forward slashes */
export function foldTree(files: readonly string[], { depth, width, lines: most }: TreeOptions): Tree {
  const root: Folder = { folders: new Map(), files: [] }
  for (const path of files) {
    const names = path.split('/')
    const name = names.pop() as string
    let at = root
    for (const step of names) {
      let next = at.folders.get(step)
      if (!next) {
        next = { folders: new Map(), files: [] }
        at.folders.set(step, next)
      }
      at = next
    }
    at.files.push(name)
  }
  const lines: string[] = []
  let folded = false
  const count = (folder: Folder): number => [...folder.folders.values()].reduce((sum, one) => sum + count(one), folder.files.length)
  const countFolders = (folder: Folder): number => [...folder.folders.values()].reduce((sum, one) => sum + 1 + countFolders(one), 0)
  const show = (folder: Folder, level: number): void => {
    const indent = '  '.repeat(level)
    for (const [name, inner] of [...folder.folders].sort(byKey)) {
      const isFolded = level + 1 >= depth || lines.length >= most
      if (isFolded) folded = true
      lines.push(`${indent}${printable(name)}/${isFolded ? ` (${count(inner)} files)` : ''}`)
      if (!isFolded) show(inner, level + 1)
    }
    const names = folder.files.sort()
    const room = Math.min(width, Math.max(0, most - lines.length))
    for (const name of names.slice(0, room)) lines.push(indent + printable(name))
    if (names.length > room) {
      folded = true
      lines.push(`${indent}… ${names.length - room} more files`)
    }
  }
  show(root, 0)
  return { text: lines.join('\n'), files: files.length, folders: countFolders(root), folded }
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)
