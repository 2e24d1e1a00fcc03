/** Checks what would prevent a commit, before anything is staged. */
import { readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ModelRetry, ToolFailure } from '@mulligan/core'
import { plural } from '../../files/common/page.ts'
import { hint } from '../../workspace/errors.ts'
import { shown } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { type ConfigEntry, settingPath } from '../common/config.ts'
import { touches } from '../common/file-changes.ts'
import { NAMED, some } from '../common/parameters.ts'
import { NO_IDENTITY } from '../common/process.ts'
import { isWritable, type Operation, type Repository, writableConfig } from '../common/repository.ts'
import type { WorkingTree } from '../git_status/porcelain.ts'

/** What the call wants to commit. */
interface Choice {
  readonly all: boolean
  readonly paths?: readonly string[] | undefined
}

export async function refuseConflicts(workspace: Workspace, { all, paths }: Choice, { conflicts }: WorkingTree): Promise<void> {
  const unresolved: string[] = []
  for (const { path } of conflicts) {
    const chosen = all || paths?.some((one) => touches(workspace.target(one), [path]))
    const { kind, absolute } = await workspace.resolve(path, { contents: false })
    if (!chosen || (kind === 'file' && hasMarkers(await readFile(absolute, 'latin1')))) unresolved.push(path)
  }
  if (unresolved.length > 0)
    throw new ModelRetry(`In conflict: ${some(unresolved)}. Nothing was committed.`, {
      errorType: 'conflict',
      parameter: 'paths',
      constraint: 'every file in conflict, once no conflict marker is left in it',
      ...hint(conflicts.slice(0, NAMED).map(({ path }) => path)),
    })
}

/** True if the text has both conflict markers. */
export const hasMarkers = (text: string): boolean => /^<{7}(?: |$)/m.test(text) && /^>{7}(?: |$)/m.test(text)

export async function refuseAmend(repository: Repository, { head, conflicts }: WorkingTree, operation: Operation | undefined) {
  const refuse = (why: string) =>
    new ModelRetry(why, { errorType: 'conflict', parameter: 'amend', value: true, constraint: 'false here', suggestion: false })
  if (head === undefined) throw refuse('There is no commit yet to amend.')
  if (operation !== undefined && (operation !== 'rebase' || conflicts.length > 0))
    throw refuse(`A ${operation} is under way, so the last commit cannot be amended.`)
  const args = ['for-each-ref', '--count=1', '--contains=HEAD', '--format=%(refname:short)', 'refs/remotes']
  const remote = (await repository.read('look at the remote branches', args)).stdout.trim()
  if (remote !== '') throw refuse(`The last commit is on ${remote} already; amending it would rewrite history that others have.`)
}

/** Refuses if files outside the folder are staged, because they would be committed along with the rest. */
export async function refuseElsewhere({ prefix, folder, read }: Repository, { staged }: WorkingTree): Promise<void> {
  if (prefix === '') return
  const { stdout } = await read('list what is staged', ['diff', '--cached', '--name-only', '--no-relative', '--no-renames', '-z'])
  const outside = stdout.split('\0').filter((path) => path !== '' && !path.startsWith(prefix)).length
  if (outside > 0)
    throw new ModelRetry(`${plural(outside, 'file')} outside "${folder}" ${outside === 1 ? 'is' : 'are'} staged too.`, {
      errorType: 'conflict',
      parameter: 'paths',
      constraint: 'the files to commit',
      suggestion: staged.map(({ path }) => path),
    })
}

export async function identity(git: Repository['git']): Promise<void> {
  for (const who of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'])
    if ((await git(['var', who], { writes: true })).code !== 0) throw new ToolFailure(NO_IDENTITY, { errorType: 'config' })
}

/** The hooks that a commit runs. */
const HOOKS = [
  ...['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit', 'post-rewrite'],
  ...['post-index-change', 'reference-transaction', 'pre-auto-gc'],
]

/**
 * Which hooks run on `git_commit`. `protected`: only those the model cannot write, such as hooks in `.git/hooks`. The commit is refused if
 * there are other hooks, or if a filter or signing program is inside the workspace; of a repository in a subfolder of the workspace, no
 * hooks, filters or signing programs run. `all`: every hook git finds. `none`: commits without hooks.
 */
export type HookPolicy = 'protected' | 'all' | 'none'

/**
 * Finds the hooks a commit will run.
 * @returns the names of the hooks
 * @throws ToolFailure (config) if a commit would run something the model could have written
 */
export async function hooksToRun(workspace: Workspace, repository: Repository, policy: HookPolicy): Promise<string[]> {
  const refuse = (what: string, file: string, then: string, or = 'sets hooks of the git tools to "all"') =>
    new ToolFailure(
      `${what} ${shown(workspace.root, file)}, which the file tools can write${then}. Nothing was done. Someone commits by hand, or ${or}.`,
      { errorType: 'config' },
    )
  const notRun = ', so it is not run for a commit of yours'
  if (policy !== 'all') {
    const [file] = await writableConfig(workspace, repository)
    if (file !== undefined) throw refuse('The settings of this repository include', file, '; settings name programs that a commit runs')
    // Filters run while paths are staged, and signing programs run too, even without hooks.
    for (const { key, value } of programsIn(repository.config))
      for (const word of pathsIn(value)) {
        const real = await writableFile(workspace, settingPath(word, repository.top))
        if (real?.writable) throw refuse(`The setting ${key} of this repository runs`, real.path, notRun)
      }
  }
  if (policy === 'none' || (policy === 'protected' && repository.ofCommands)) return []
  const { stdout } = await repository.own(['rev-parse', '--path-format=absolute', '--git-path', 'hooks'])
  const found: string[] = []
  for (const name of HOOKS) {
    const real = await writableFile(workspace, join(stdout.replace(/\n$/, ''), name))
    if (real === undefined || (process.platform !== 'win32' && (real.mode & 0o111) === 0)) continue
    if (policy === 'protected' && real.writable) {
      const or = 'sets hooks of the git tools to "all" (run them) or "none" (commit without)'
      throw refuse(`The hook ${name} of this repository is`, real.path, notRun, or)
    }
    found.push(name)
  }
  return found
}

/** Returns an existing file's real path and mode, and whether the model can write it there or through a link on the way. */
async function writableFile(workspace: Workspace, path: string) {
  const real = await realpath(path).catch(() => undefined)
  const found = real === undefined ? undefined : await stat(real)
  if (real === undefined || !found?.isFile()) return undefined
  return { path: real, mode: found.mode, writable: (await isWritable(workspace, path)) || (await isWritable(workspace, real)) }
}

const PROGRAM = /^(?:filter\..+\.(?:clean|smudge|process)|gpg\.(?:.+\.)?program|gpg\.ssh\.defaultkeycommand|hook\..+\.command)$/s

/** Returns the settings that name programs which a commit runs. Pure. */
export const programsIn = (entries: readonly ConfigEntry[]): ConfigEntry[] => entries.filter(({ key }) => PROGRAM.test(key))

/** Returns everything in a command that may be a path: the whole command, its words without quotes, and the values after "=" in options. */
export function pathsIn(command: string): string[] {
  const words = command.trim().split(/[\s;&|<>()`]+/)
  const [first = '', ...rest] = words.map((word) => word.replaceAll(/["'\\]/g, ''))
  const all = [command, first, first.slice(first.indexOf('=') + 1), ...rest.flatMap((word) => [word, word.slice(word.indexOf('=') + 1)])]
  // A first word without a slash is looked up in PATH.
  return [...new Set(all)].filter((word) => word !== '' && (word !== first || word.includes('/')))
}
