/** For the tests: a patch, and what is in a folder. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export const patch = (...lines: readonly string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')

/** Path → text of every file, in order. */
export function contentsOf(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => relative(root, join(entry.parentPath, entry.name))).sort()
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}
