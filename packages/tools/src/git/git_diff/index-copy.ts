/**
 * Creates a copy of the index for comparing, because `git diff` updates the index with files it found unchanged, even without optional
 * locks.
 */
import { copyFile, mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Repository } from '../common/repository.ts'

const MAX_UNTRACKED = 2000

interface IndexCopy {
  /** Temporary folder for its files, deleted afterwards. */
  readonly folder: string
  /** Variables for git's environment. */
  readonly env: Readonly<Record<string, string>>
}

export async function withIndexCopy<T>(repository: Repository, use: (copy: IndexCopy) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mulligan-index-'))
  try {
    const [from, index] = [join(repository.gitDir, 'index'), join(folder, 'index')]
    const found = await stat(from).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    if (found) {
      await copyFile(from, index)
      // Keep its time, rounded down: git considers files that are not older than the index as possibly changed, and compares them.
      const seconds = Math.floor(found.mtimeMs / 1000)
      await utimes(index, seconds, seconds)
    }
    return await use({ folder, env: { GIT_INDEX_FILE: index } })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Adds new files to the copy, so that a diff shows them and detects renames.
 * @returns variables for git's environment, and the number of new files left out because there are too many
 */
export async function withUntracked(repository: Repository, path: string, { folder, env }: IndexCopy) {
  const { stdout } = await repository.read('list the new files', ['ls-files', '-z', '--others', '--exclude-standard', '--', path])
  // A trailing slash marks a nested repository.
  const files = stdout.split('\0').filter((file) => file !== '' && !file.endsWith('/'))
  if (files.length === 0 || files.length > MAX_UNTRACKED) return { env, leftOut: files.length }
  const [list, objects] = [join(folder, 'files'), join(folder, 'objects')]
  await writeFile(list, files.join('\0'))
  // Write the empty blob that represents each new file next to the index, not into the repository.
  await mkdir(objects)
  const alternates = JSON.stringify(join(repository.commonDir, 'objects'))
  const all = { ...env, GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates }
  const args = ['add', '--intent-to-add', `--pathspec-from-file=${list}`, '--pathspec-file-nul']
  await repository.read('take in the new files', args, { env: all })
  return { env: all, leftOut: 0 }
}
