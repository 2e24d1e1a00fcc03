/** Helpers to compare trees and to inspect the journal. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Resolved } from '../workspace/change.ts'
import { folderOf } from './folders.ts'

/** Returns every path with its kind, mode and content. */
export function snapshot(root: string): Readonly<Record<string, string>> {
  const out: Record<string, string> = {}
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    const at = join(root, path)
    const found = lstatSync(at)
    const mode = (found.mode & 0o7777).toString(8)
    if (found.isSymbolicLink()) out[path] = `link ${readlinkSync(at)}`
    else out[path] = found.isDirectory() ? `folder ${mode}` : `file ${mode} ${readFileSync(at, 'latin1')}`
  }
  return out
}

export const resolved = (root: string, path: string, kind: Resolved['kind'] = 'file'): Resolved => ({
  absolute: join(root, path),
  relative: path,
  kind,
  root,
  output: false,
})

export const pendingPlans = (dir: string, root: string): readonly string[] => names(join(folderOf(dir, root), 'pending'))

function names(folder: string): string[] {
  try {
    return readdirSync(folder).filter((file) => file.endsWith('.json'))
  } catch {
    return []
  }
}
