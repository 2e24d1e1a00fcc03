import { execFile } from 'node:child_process'
import { devNull } from 'node:os'
import { promisify } from 'node:util'

const run = promisify(execFile)
const AUTHOR = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org'] as const

/** A repository with a commit, made with nobody's settings. Without git nothing is made: the tools say so themselves. */
export async function makeRepository(dir: string): Promise<void> {
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...environment } = process.env
  const env = { ...environment, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' }
  try {
    await run('git', ['init', '--quiet', '--initial-branch=main', '--template='], { cwd: dir, env })
    await run('git', [...AUTHOR, 'commit', '--quiet', '--allow-empty', '--message=Begin'], { cwd: dir, env })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
