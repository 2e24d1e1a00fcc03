/** The folders that store the changes of each workspace. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../sha256.ts'

const NOTE = 'workspace.json'

/** Returns the folder for one workspace. */
export const folderOf = (dir: string, root: string): string => join(dir, sha256(root).slice(0, 32))

/** Records in the folder which workspace it belongs to. */
export async function noteFolder(folder: string, root: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(join(folder, NOTE), `${JSON.stringify({ root })}\n`, { flag: 'wx', mode: 0o600 })
}

/** Returns workspaces with recorded changes that no longer exist, because they were moved or removed. */
export async function goneWorkspaces(dir: string): Promise<readonly string[]> {
  const roots: unknown[] = []
  for (const name of await readdir(dir).catch(() => []))
    try {
      roots.push((JSON.parse(await readFile(join(dir, name, NOTE), 'utf8')) as { readonly root?: unknown }).root)
    } catch {
      // Not the folder of a workspace.
    }
  return roots.filter((root) => typeof root === 'string' && !existsSync(root)).sort() as string[]
}
