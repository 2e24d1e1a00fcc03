/** Test helpers: builds a patch and reads the files of a folder. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export const patch = (...lines: readonly string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')

/** Returns the text of every file by path, sorted. */
export function contentsOf(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => relative(root, join(entry.parentPath, entry.name))).sort()
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}
