/** A copy of the index to compare with: `git diff` notes in the index which files it found the same, optional locks or not. */
import { copyFile, mkdtemp, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Repository } from '../common/repository.ts'

export interface IndexCopy {
  /** A folder for what belongs to it, gone afterwards. */
  readonly folder: string
  /** For git's environment. */
  readonly env: Readonly<Record<string, string>>
}

export async function withIndexCopy<T>(repository: Repository, use: (copy: IndexCopy) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mulligan-index-'))
  try {
    const index = join(folder, 'index')
    await copyIndex(join(repository.gitDir, 'index'), index)
    return await use({ folder, env: { GIT_INDEX_FILE: index } })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** With its time, rounded down: git takes a file for changed that is not older than the index, and looks. */
async function copyIndex(from: string, to: string): Promise<void> {
  const found = await stat(from).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (!found) return
  await copyFile(from, to)
  const seconds = Math.floor(found.mtimeMs / 1000)
  await utimes(to, seconds, seconds)
}
