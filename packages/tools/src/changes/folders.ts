/** The folders in which the changes of workspaces are kept. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const NOTE = 'workspace.json'

/** That of one workspace. */
export const folderOf = (dir: string, root: string): string => join(dir, createHash('sha256').update(root).digest('hex').slice(0, 32))

/** Says in it which workspace it is of. */
export async function noteFolder(folder: string, root: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(join(folder, NOTE), `${JSON.stringify({ root })}\n`, { flag: 'wx', mode: 0o600 })
}

/** Workspaces of which there are changes, and which are not there any more: moved, or removed. */
export async function goneWorkspaces(dir: string): Promise<readonly string[]> {
  const folders = await readdir(dir).catch(() => [])
  const roots = await Promise.all(folders.map((name) => rootIn(join(dir, name))))
  const gone = await Promise.all(roots.map(async (root) => (root !== undefined && !(await isThere(root)) ? [root] : [])))
  return gone.flat().sort()
}

async function rootIn(folder: string): Promise<string | undefined> {
  try {
    const { root } = JSON.parse(await readFile(join(folder, NOTE), 'utf8')) as { readonly root?: unknown }
    return typeof root === 'string' ? root : undefined
  } catch {
    return undefined
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
