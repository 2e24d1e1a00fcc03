/** New files entered in a copy of the index too, so that a diff shows them and finds what was renamed. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Repository } from '../common/repository.ts'
import type { IndexCopy } from './index-copy.ts'

const MAX_UNTRACKED = 2000

export interface Untracked {
  /** For git's environment. */
  readonly env: Readonly<Record<string, string>>
  /** New files that are not in it, because there are too many. */
  readonly leftOut: number
}

export async function withUntracked(repository: Repository, path: string, copy: IndexCopy): Promise<Untracked> {
  const { stdout } = await repository.read('list the new files', ['ls-files', '-z', '--others', '--exclude-standard', '--', path])
  // A slash at the end is a repository of its own.
  const files = stdout.split('\0').filter((file) => file !== '' && !file.endsWith('/'))
  if (files.length === 0 || files.length > MAX_UNTRACKED) return { env: copy.env, leftOut: files.length }
  const list = join(copy.folder, 'files')
  await writeFile(list, files.join('\0'))
  // The empty blob that stands for each new file is written beside the index too, not into the repository.
  const objects = join(copy.folder, 'objects')
  await mkdir(objects)
  const env = {
    ...copy.env,
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(repository.commonDir, 'objects')),
  }
  await repository.read('take in the new files', ['add', '--intent-to-add', `--pathspec-from-file=${list}`, '--pathspec-file-nul'], { env })
  return { env, leftOut: 0 }
}
