/** A configuration file is replaced in one step: a reader sees the earlier text or the new one, and a crash leaves one of them. */
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A link, as into a folder of dotfiles, stays one. A file that is there keeps its mode. */
export async function replaceFile(path: string, text: string, newMode = 0o600): Promise<void> {
  const file = await realpath(path).catch(() => path)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = join(dirname(file), `.config-${randomUUID()}.tmp`)
  try {
    const mode = await stat(file).then(
      (found) => found.mode,
      () => newMode,
    )
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600 })
    await chmod(temporary, mode & 0o777)
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
