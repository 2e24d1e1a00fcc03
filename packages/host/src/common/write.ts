/**
 * Replaces a configuration file atomically: a reader sees the old text or the new one, and so does the next start after a crash. If two
 * processes change it at once, one waits for the other.
 */
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Replaces a file. Writes through a link, such as one into a folder of dotfiles. An existing file keeps its mode. */
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

/** In milliseconds. A change renews its lock: one this old was left by a process that died. */
const LOCK_DIES = 5000
const PAUSE = 10

/** Runs a read-change-replace of a file under a lock, so that changes made by another process at the same time are not lost. */
export async function changing<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${await realpath(path).catch(() => path)}.lock`
  while (!(await take(lock))) await sleep(PAUSE)
  const renewal = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => undefined), LOCK_DIES / 5).unref()
  try {
    return await work()
  } finally {
    clearInterval(renewal)
    await rm(lock, { force: true })
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close()
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') {
      await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
      return false
    }
    if (code !== 'EEXIST') throw error
    const since = await stat(lock).catch(() => undefined)
    if (since && Date.now() - since.mtimeMs > LOCK_DIES) await rm(lock, { force: true })
    return false
  }
}
