/** The folder of one run: recreated, looked at afterwards, removed. Its path says nothing of task or arm. */
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { canonical } from '@mulligan/core'
import type { Files } from './check.ts'

export interface TaskFolder {
  /** The workspace. */
  readonly dir: string
  /** Where over-long results go; not in the workspace. */
  readonly outputs: string
  readonly look: () => Promise<{ readonly files: Files; readonly outsideChanged: boolean }>
  readonly remove: () => Promise<void>
}

/** Beyond it a file is distinguished by its size alone. */
const MAX_BYTES = 5_000_000

/** @param files path → text; a path that begins with `../` is beside the workspace */
export async function makePlace(files: Files): Promise<TaskFolder> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'project-')))
  const around = join(root, 'home')
  const dir = join(around, 'project')
  const outputs = join(root, 'outputs')
  await mkdir(dir, { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), text)
  }
  const outside = async (): Promise<string> => canonical(await filesIn(around, (path) => path !== 'project'))
  const before = await outside()
  return {
    dir,
    outputs,
    look: async () => ({ files: await filesIn(dir), outsideChanged: (await outside()) !== before }),
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  }
}

/** Path → text of what is in a folder, with `/` on every platform. A folder without files is not seen. */
async function filesIn(folder: string, isMeant: (name: string) => boolean = () => true, prefix = ''): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const name of (await readdir(folder)).filter(isMeant)) {
    const path = join(folder, name)
    const stats = await lstat(path)
    // The same name however the file system writes it.
    const shown = `${prefix}${name.normalize('NFC')}`
    if (stats.isDirectory()) Object.assign(found, await filesIn(path, undefined, `${shown}/`))
    else if (stats.isSymbolicLink()) found[shown] = `link to ${await readlink(path)}`
    else if (!stats.isFile() || stats.size > MAX_BYTES) found[shown] = `not read: ${stats.size} bytes`
    else found[shown] = await readFile(path, 'utf8')
  }
  return found
}
