/** Opens the repository that contains a folder, and checks that the model cannot write its settings. */
import { existsSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { dirname, join, posix, resolve } from 'node:path'
import { ModelRetry, ToolFailure } from '@mulligan/core'
import { hint } from '../../workspace/errors.ts'
import { isInside } from '../../workspace/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { configEntries, type GitFolders, ownFilters, refuseEndless, withoutEndless, withoutSettings } from './config.ts'
import { type Git, type GitEnd, type GitRun, gitFailure } from './process.ts'

export type Repository = Awaited<ReturnType<typeof openRepository>>

type RunGit = (args: readonly string[], run?: Partial<GitRun>) => Promise<GitEnd>

/**
 * Opens a repository.
 * @throws ModelRetry outside a repository, with the nearest folders that are in one
 */
export async function openRepository(workspace: Workspace, git: Git, value: string, signal: AbortSignal) {
  const { root } = workspace
  const { relative: folder, absolute: cwd, ...at } = await workspace.resolve(value, { mustExist: true, kind: 'directory' })
  const wrong = { parameter: 'repo', value, constraint: 'a folder in a git repository' }
  if (at.kind === 'file' || at.output)
    throw new ModelRetry(`"${folder}" is not a folder in the workspace.`, { ...wrong, suggestion: at.output ? '.' : posix.dirname(folder) })
  const asked = ['--is-inside-work-tree', '--absolute-git-dir', '--git-common-dir', '--show-prefix', '--show-toplevel']
  const found = await git(['rev-parse', '--path-format=absolute', ...asked], { cwd, signal })
  const [inTree, gitDir = '', commonDir = '', prefix = '', top = '', ...rest] = found.stdout.split('\n')
  if (found.code !== 0 && /not a git repository/i.test(found.stderr)) {
    const below = await repositoriesBelow(cwd)
    const near = below.length > 0 || cwd === root ? below : await repositoriesBelow(root)
    throw new ModelRetry(`"${folder}" is not in a git repository${near.length === 0 ? ', and there is none below the workspace' : ''}.`, {
      errorType: 'not_found',
      ...wrong,
      ...hint(near.map((path) => posix.join(below.length > 0 ? folder : '.', path))),
    })
  }
  if (inTree === 'false' || /must be run in a work tree|safe\.bareRepository/.test(found.stderr))
    throw new ToolFailure(`"${folder}" is in a git folder or a bare repository, without a working tree.`, {
      errorType: 'unsupported',
      status: 'failed',
      ...wrong,
      value: folder,
      constraint: 'a folder with checked-out files',
    })
  if (found.code !== 0) throw gitFailure('open the repository', found, root)
  // A newline in a folder name would also shift the lines.
  if (rest.length !== 1 || !isInside(top, cwd))
    throw new ToolFailure(`The working tree of the repository at "${folder}" lies elsewhere.`, { errorType: 'permission' })
  if ((await isWritable(workspace, gitDir)) || (await isWritable(workspace, commonDir)))
    throw new ToolFailure(
      `The git folder of "${folder}" is an ordinary folder of the workspace, which the file tools can write; its settings run programs, so the git tools do not use it.`,
      { errorType: 'permission', ...wrong, value: folder, constraint: 'a repository whose git folder is named .git' },
    )
  await refuseEndless(commonDir)

  const run: RunGit = (args, more) => git(args, { cwd, signal, ...more })
  const listed = await run(['config', '--list', '-z', '--show-scope', '--show-origin'])
  if (listed.code !== 0) throw gitFailure('read its configuration', listed, root)
  const config = configEntries(listed.stdout)
  const bounds = await withoutEndless(config, top)
  const folders = { gitDir, commonDir, top }
  const guarded: RunGit = (args, more = {}) =>
    withoutSettings(folders, config, more.writes ?? false, (env) =>
      run(args, { ...more, env: { ...env, ...more.env }, config: [...bounds, ...(more.config ?? [])] }),
    )
  const own: RunGit = (args, more) => run(args, { ...more, writes: true, config: [...bounds, ...(more?.config ?? [])] })
  return {
    ...folders,
    /** The folder git runs in, relative to the workspace. */
    folder,
    /** The same folder relative to the top of the working tree, with a trailing slash, or empty. */
    prefix,
    /** The model may have written its settings and hooks, so none of its programs are run. */
    ofCommands: await isOfCommands(root, cwd, folders),
    config,
    /** Filters defined by the repository, which are not run when reading. */
    filters: ownFilters(config),
    /** Runs git in the folder, read-only unless `writes` is set. Neither hooks nor programs named in the repository's settings are run. */
    git: guarded,
    /** Runs git with the repository's settings and hooks, for writing. Programs they name are run. */
    own,
    /** Like `git`, but throws on failure. `doing` completes the sentence "git could not …". */
    read: async (doing: string, args: readonly string[], more?: Partial<GitRun>): Promise<GitEnd> => {
      const end = await guarded(args, more)
      if (end.code !== 0 && !end.cut) throw gitFailure(doing, end, root)
      return end
    },
    /** Converts a path printed by git, relative to the top, to one relative to the workspace. */
    shown: (path: string): string => {
      const inner = path.startsWith(prefix) ? path.slice(prefix.length) : posix.relative(prefix, path)
      const whole = folder === '.' ? inner : posix.join(folder, inner)
      // Git prints a nested repository with a trailing slash.
      return path.endsWith('/') && !whole.endsWith('/') ? `${whole}/` : whole
    },
    /**
     * Checks a workspace path and returns it as git expects it in the folder.
     * @param contents whether its contents are shown, in which case a secret file is refused
     */
    inside: async (parameter: string, path: string, contents = true) => {
      const file = await workspace.resolve(path, { contents })
      const inner = posix.relative(folder, file.relative) || '.'
      if (file.output || inner === '..' || inner.startsWith('../'))
        throw new ModelRetry(`"${file.relative}" is not in the repository folder "${folder}".`, {
          parameter,
          value: path,
          constraint: `a path in "${folder}", from the workspace`,
          suggestion: folder,
        })
      return { path: inner, missing: file.kind === 'missing' }
    },
  }
}

/** Lists the settings files git reads that the model can write. */
export async function writableConfig(workspace: Workspace, { config, top }: Repository): Promise<string[]> {
  const files = [...new Set(config.flatMap(({ file }) => (file === '' ? [] : [resolve(top, file)])))]
  const found: string[] = []
  for (const file of files) if (await isWritable(workspace, file)) found.push(file)
  return found
}

/** True for unprotected paths in the workspace. */
export const isWritable = (workspace: Workspace, absolute: string): Promise<boolean> =>
  workspace.resolve(absolute, { for: 'write', contents: false }).then(
    () => true,
    () => false,
  )

const MAX_FOLDERS = 2000
const MAX_DEPTH = 4
const MAX_FOUND = 5

/** Finds folders with a `.git`, nearest first. */
async function repositoriesBelow(root: string): Promise<string[]> {
  const found: string[] = []
  const queue = [{ folder: '', depth: 0 }]
  for (let looked = 0; looked < MAX_FOLDERS && found.length < MAX_FOUND; looked++) {
    const next = queue.shift()
    if (!next) break
    const { folder, depth } = next
    const entries = await readdir(resolve(root, folder), { withFileTypes: true }).catch(() => [])
    if (folder !== '' && entries.some(({ name }) => name === '.git')) found.push(folder)
    else if (depth < MAX_DEPTH)
      for (const entry of entries)
        if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
          queue.push({ folder: posix.join(folder, entry.name), depth: depth + 1 })
  }
  return found
}

/**
 * True if the model's commands wrote the repository, or could have. The sandbox protects the settings and hooks of the workspace's own
 * `.git` only, and programs configured in another repository would run on the host. A repository around the workspace is out of the
 * commands' reach.
 */
async function isOfCommands(root: string, cwd: string, { gitDir, commonDir }: GitFolders): Promise<boolean> {
  const entry = (path: string) => lstat(path).catch(() => undefined)
  // A `.git` on the way may be a file that points to any folder, whose settings may name any working tree.
  for (let folder = cwd; folder !== root && isInside(root, folder); folder = dirname(folder))
    if ((await entry(join(folder, '.git'))) !== undefined) return true
  const own = join(root, '.git')
  // A link cannot be protected from being replaced.
  if ((await entry(own))?.isSymbolicLink()) return true
  if (gitDir === own) return commonDir !== own
  return isInside(root, gitDir) || isInside(root, commonDir)
}

/** Files git keeps in its folder while an operation is in progress. */
const MARKS = {
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  MERGE_HEAD: 'merge',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
  BISECT_LOG: 'bisect',
} as const

export type Operation = (typeof MARKS)[keyof typeof MARKS]

export const operationIn = (gitDir: string): Operation | undefined =>
  Object.entries(MARKS).find(([file]) => existsSync(join(gitDir, file)))?.[1]
