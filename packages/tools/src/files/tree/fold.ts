/** Formats a list of files as a tree, folding folders that are too deep or too wide. */
import { directoriesOf } from '../../workspace/nearest.ts'
import { printable } from '../../workspace/paths.ts'

export interface TreeOptions {
  readonly depth: number
  /** Maximum number of files shown per folder. */
  readonly width: number
  /** Maximum number of lines in total. */
  readonly lines: number
}

/**
 * @param files paths relative to the shown folder, with forward slashes
 * @returns the tree, the number of files and folders in it, and whether anything was folded
 */
export function foldTree(files: readonly string[], { depth, width, lines: most }: TreeOptions) {
  const lines: string[] = []
  let folded = false
  const show = (paths: readonly string[], level: number): void => {
    const indent = '  '.repeat(level)
    const { true: below = [], false: names = [] } = Object.groupBy(paths, (path) => (path.includes('/') ? 'true' : 'false'))
    for (const [name, inner] of [...Map.groupBy(below, (path) => path.slice(0, path.indexOf('/')))].sort(byKey)) {
      const isFolded = level + 1 >= depth || lines.length >= most
      folded ||= isFolded
      lines.push(`${indent}${printable(name)}/${isFolded ? ` (${inner.length} files)` : ''}`)
      if (!isFolded)
        show(
          inner.map((path) => path.slice(name.length + 1)),
          level + 1,
        )
    }
    const room = Math.min(width, Math.max(0, most - lines.length))
    for (const name of names.sort().slice(0, room)) lines.push(indent + printable(name))
    if (names.length <= room) return
    folded = true
    lines.push(`${indent}… ${names.length - room} more files`)
  }
  show(files, 0)
  return { text: lines.join('\n'), files: files.length, folders: directoriesOf(files).length, folded }
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1)
