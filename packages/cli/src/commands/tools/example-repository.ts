import { devNull } from 'node:os'
import { resolveProgram, runProgram, safePath } from '@mulligan/sandbox'

const AUTHOR = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org'] as const

/** A repository with a commit, made with nobody's settings. Without git nothing is made: the tools say so themselves. */
export async function makeRepository(dir: string): Promise<void> {
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...environment } = process.env
  const git = resolveProgram('git', { workspace: process.cwd() })
  if (git === undefined) return
  const env = { ...environment, PATH: safePath(environment['PATH'], process.cwd()), GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' }
  await runProgram(git, ['init', '--quiet', '--initial-branch=main', '--template='], { cwd: dir, env })
  await runProgram(git, [...AUTHOR, 'commit', '--quiet', '--allow-empty', '--message=Begin'], { cwd: dir, env })
}
