/** The folder of one run: created for it, inspected afterwards, and removed. Its path reveals neither the task nor the arm. */
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'
import { canonical } from '@mulligan/core/executor'
import type { Files } from './check.ts'

export type TaskFolder = Awaited<ReturnType<typeof makePlace>>

/** Larger files are compared by size only. */
const MAX_BYTES = 5_000_000

/** @param files path → text; a path that begins with `../` is outside the workspace */
export async function makePlace(files: Files) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'project-')))
  const home = join(root, 'home')
  const dir = join(home, 'project')
  await mkdir(dir, { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), text)
  }
  const outside = async (): Promise<string> => canonical(await filesIn(home, (path) => !path.startsWith(join(dir, sep))))
  const before = await outside()
  return {
    /** The workspace. */
    dir,
    /** Where results that are too long are written; outside the workspace. */
    outputs: join(root, 'outputs'),
    look: async () => ({ files: await filesIn(dir), outsideChanged: (await outside()) !== before }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  }
}

/** Path → text of the files in a folder, with `/` on every platform. */
async function filesIn(folder: string, isMeant: (path: string) => boolean = () => true): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isDirectory() && isMeant(path)) found[shown(relative(folder, path))] = await textOf(path)
  }
  return found
}

/** File systems may return another normal form of a name than was written. */
const shown = (path: string): string => path.replaceAll(sep, '/').normalize('NFC')

async function textOf(path: string): Promise<string> {
  const stats = await lstat(path)
  if (stats.isSymbolicLink()) return `link to ${await readlink(path)}`
  if (!stats.isFile() || stats.size > MAX_BYTES) return `not read: ${stats.size} bytes`
  return readFile(path, 'utf8')
}
