/** What a commit would run, and whether the model could have written it. */
import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolFailure } from '@mulligan/core'
import { shown } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { settingPath } from '../common/config.ts'
import { isWritable, type Repository, writableConfig } from '../common/repository.ts'
import { pathsIn, programsIn } from './programs.ts'

/** Those that a commit starts. */
const HOOKS = [
  ...['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit', 'post-rewrite'],
  ...['post-index-change', 'reference-transaction', 'pre-auto-gc'],
]

/**
 * Which hooks run on `git_commit`. `protected`: those that the model cannot write, as in `.git/hooks`; where there are
 * others, or a filter or a program that signs lies in the workspace, the commit is refused; of a repository in a folder of the
 * workspace nothing runs. `all`: whatever git finds. `none`: commits without.
 */
export type HookPolicy = 'protected' | 'all' | 'none'

/** @returns the names of the hooks that will run */
export async function hooksToRun(workspace: Workspace, repository: Repository, policy: HookPolicy): Promise<string[]> {
  if (policy !== 'all') await refuseWritableConfig(workspace, repository)
  if (policy !== 'all') await refuseWritablePrograms(workspace, repository)
  if (policy === 'none' || (policy === 'protected' && repository.ofCommands)) return []
  const { stdout } = await repository.own(['rev-parse', '--path-format=absolute', '--git-path', 'hooks'])
  const folder = stdout.replace(/\n$/, '')
  const found: string[] = []
  for (const name of HOOKS) {
    const path = join(folder, name)
    const real = await executable(path)
    if (real === undefined) continue
    if (policy === 'protected' && ((await isWritable(workspace, path)) || (await isWritable(workspace, real))))
      throw new ToolFailure(
        `The hook ${name} of this repository is ${shown(workspace.root, real)}, which the file tools can write, so it is not run for a commit of yours. Nothing was done. Someone commits by hand, or sets hooks of the git tools to "all" (run them) or "none" (commit without).`,
        { errorType: 'config' },
      )
    found.push(name)
  }
  return found
}

async function refuseWritableConfig(workspace: Workspace, repository: Repository): Promise<void> {
  const [file] = await writableConfig(workspace, repository)
  if (file !== undefined)
    throw new ToolFailure(
      `The settings of this repository include ${shown(workspace.root, file)}, which the file tools can write; settings name programs that a commit runs. Nothing was done. Someone commits by hand, or sets hooks of the git tools to "all".`,
      { errorType: 'config' },
    )
}

/** Filters run while paths are staged, and what signs runs as well, without hooks too. */
async function refuseWritablePrograms(workspace: Workspace, { config, top }: Repository): Promise<void> {
  for (const { key, value } of programsIn(config))
    for (const word of pathsIn(value)) {
      const path = settingPath(word, top)
      const real = await realpath(path).catch(() => undefined)
      if (real === undefined || !(await stat(real)).isFile()) continue
      if ((await isWritable(workspace, path)) || (await isWritable(workspace, real)))
        throw new ToolFailure(
          `The setting ${key} of this repository runs ${shown(workspace.root, real)}, which the file tools can write, so it is not run for a commit of yours. Nothing was done. Someone commits by hand, or sets hooks of the git tools to "all".`,
          { errorType: 'config' },
        )
    }
}

async function executable(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  const runs = found?.isFile() && (process.platform === 'win32' || (found.mode & 0o111) !== 0)
  return runs ? realpath(path) : undefined
}
