/** A copy of the index in which new files are entered too, so that a diff shows them and finds what was renamed. */
import { copyFile, mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Repository } from '../common/repository.ts'

const MAX_UNTRACKED = 2000

export interface Untracked {
  /** For git's environment. */
  readonly env: Readonly<Record<string, string>>
  /** New files that are not in it, because there are too many. */
  readonly leftOut: number
}

export async function withUntracked<T>(repository: Repository, path: string, use: (untracked: Untracked) => Promise<T>): Promise<T> {
  const { stdout } = await repository.read('list the new files', ['ls-files', '-z', '--others', '--exclude-standard', '--', path])
  // A slash at the end is a repository of its own.
  const files = stdout.split('\0').filter((file) => file !== '' && !file.endsWith('/'))
  if (files.length === 0 || files.length > MAX_UNTRACKED) return use({ env: {}, leftOut: files.length })
  const folder = await mkdtemp(join(tmpdir(), 'mulligan-index-'))
  try {
    const index = join(folder, 'index')
    const list = join(folder, 'files')
    await copyIndex(join(repository.gitDir, 'index'), index)
    await writeFile(list, files.join('\0'))
    // The empty blob that stands for each new file is written beside the index too, not into the repository.
    const objects = join(folder, 'objects')
    await mkdir(objects)
    const env = {
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(repository.commonDir, 'objects')),
    }
    await repository.read('take in the new files', ['add', '--intent-to-add', `--pathspec-from-file=${list}`, '--pathspec-file-nul'], {
      env,
    })
    return await use({ env, leftOut: 0 })
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
