/** The repository that a folder lies in, found by git and checked: what is in its settings must not be the model's to write. */
import { readdir } from 'node:fs/promises'
import { posix, resolve as resolvePath } from 'node:path'
import { ModelRetry, ToolFailure } from '@mulligan/core'
import { isInside } from '../../workspace/paths.ts'
import { hint, type Workspace } from '../../workspace/workspace.ts'
import { type ConfigEntry, configEntries, ownFilters } from './config.ts'
import { refuseEndless, withoutEndless } from './endless.ts'
import { gitFailure } from './failure.ts'
import { fromWorkspace } from './names.ts'
import { isOfCommands } from './nested.ts'
import type { Git, GitEnd, GitRun } from './process.ts'
import { withoutSettings } from './without-settings.ts'

export interface Repository {
  /** Real path of the folder that git is called in. */
  readonly cwd: string
  /** The same from the workspace. */
  readonly folder: string
  /** The same from the top of the working tree; with a slash, or empty. */
  readonly prefix: string
  readonly top: string
  readonly gitDir: string
  /** Where the objects are: the same, but for a linked working tree. */
  readonly commonDir: string
  /** Its settings and hooks may be the model's: none of its programs are run. */
  readonly ofCommands: boolean
  readonly config: readonly ConfigEntry[]
  /** Filters of the repository's own, which are not run for reading. */
  readonly filters: readonly string[]
  /** Runs git in the folder, for reading unless it says `writes`. Nothing that the repository's settings name is run, nor its hooks. */
  readonly git: (args: readonly string[], run?: Partial<GitRun>) => Promise<GitEnd>
  /** The same with its settings and hooks, for writing: what it names is run. */
  readonly own: Repository['git']
  /** The same, where anything but success is a failure. `doing` as in "git could not …". */
  readonly read: (doing: string, args: readonly string[], run?: Partial<GitRun>) => Promise<GitEnd>
  /** A path that git printed, as the model sees it. */
  readonly shown: (path: string) => string
  /** A path of the model's, checked, as git takes it in the folder. */
  /** A path of the workspace, from the folder. `contents`: whether what stands in it is shown; a secret file is refused then. Default true. */
  readonly inside: (parameter: string, path: string, contents?: boolean) => Promise<{ readonly path: string; readonly missing: boolean }>
}

/** @throws ModelRetry outside a repository, with the nearest folders that are one */
export async function openRepository(workspace: Workspace, git: Git, folder: string, signal: AbortSignal): Promise<Repository> {
  const at = await workspace.resolve(folder, { mustExist: true, kind: 'directory' })
  if (at.kind === 'file' || at.output)
    throw new ModelRetry(`"${at.relative}" is no folder of the workspace.`, {
      parameter: 'repo',
      value: folder,
      constraint: 'a folder in a git repository',
      suggestion: at.output ? '.' : posix.dirname(at.relative),
    })
  const cwd = at.absolute
  const found = await git(
    [
      ...['rev-parse', '--path-format=absolute', '--is-inside-work-tree', '--absolute-git-dir', '--git-common-dir'],
      ...['--show-prefix', '--show-toplevel'],
    ],
    { cwd, signal },
  )
  const [inTree, gitDir = '', commonDir = '', prefix = '', top = ''] = found.stdout.split('\n')
  if (found.code !== 0 && /not a git repository/i.test(found.stderr)) throw await noRepository(workspace, folder, at.relative, cwd)
  if (inTree === 'false' || /must be run in a work tree|safe\.bareRepository/.test(found.stderr)) throw noWorkingTree(at.relative)
  if (found.code !== 0) throw gitFailure('open the repository', found, workspace.root)
  // A name with a newline in it would also shift the lines.
  if (found.stdout.split('\n').length !== 6 || !isInside(top, cwd))
    throw new ToolFailure(`The working tree of the repository at "${at.relative}" lies elsewhere.`, { errorType: 'permission' })
  for (const dir of [gitDir, commonDir]) if (await isWritable(workspace, dir)) throw notTrusted(at.relative)

  await refuseEndless(commonDir)

  const run = (args: readonly string[], more: Partial<GitRun> = {}): Promise<GitEnd> => git(args, { cwd, signal, ...more })
  const listed = await run(['config', '--list', '-z', '--show-scope', '--show-origin'])
  if (listed.code !== 0) throw gitFailure('read its configuration', listed, workspace.root)
  const config = configEntries(listed.stdout)
  const bounds = await withoutEndless(config, top)
  const guarded: Repository['git'] = (args, more = {}) =>
    withoutSettings({ gitDir, commonDir, top }, config, more.writes ?? false, (env) =>
      run(args, { ...more, env: { ...env, ...more.env }, config: [...bounds, ...(more.config ?? [])] }),
    )
  return {
    cwd,
    folder: at.relative,
    prefix,
    top,
    gitDir,
    commonDir,
    ofCommands: await isOfCommands(workspace.root, cwd, { gitDir, commonDir }),
    config,
    filters: ownFilters(config),
    git: guarded,
    own: (args, more = {}) => run(args, { ...more, writes: true, config: [...bounds, ...(more.config ?? [])] }),
    read: async (doing, args, more) => {
      const end = await guarded(args, more)
      if (end.code !== 0 && !end.cut) throw gitFailure(doing, end, workspace.root)
      return end
    },
    shown: (path) => fromWorkspace(path, at.relative, prefix),
    inside: async (parameter, path, contents = true) => {
      const file = await workspace.resolve(path, { contents })
      const inner = posix.relative(at.relative, file.relative) || '.'
      if (file.output || inner === '..' || inner.startsWith('../'))
        throw new ModelRetry(`"${file.relative}" is not in the repository folder "${at.relative}".`, {
          parameter,
          value: path,
          constraint: `a path in "${at.relative}", from the workspace`,
          suggestion: at.relative,
        })
      return { path: inner, missing: file.kind === 'missing' }
    },
  }
}

/** The files whose settings git follows and that the model may write. */
export async function writableConfig(workspace: Workspace, { config, top }: Repository): Promise<string[]> {
  const files = [...new Set(config.flatMap(({ file }) => (file === '' ? [] : [resolvePath(top, file)])))]
  const found: string[] = []
  for (const file of files) if (await isWritable(workspace, file)) found.push(file)
  return found
}

/** True for what lies in the workspace and is not protected. */
export const isWritable = (workspace: Workspace, absolute: string): Promise<boolean> =>
  workspace.resolve(absolute, { for: 'write', contents: false }).then(
    () => true,
    () => false,
  )

const notTrusted = (folder: string): ToolFailure =>
  new ToolFailure(
    `The git folder of "${folder}" is an ordinary folder of the workspace, which the file tools can write; its settings run programs, so the git tools do not use it.`,
    { errorType: 'permission', parameter: 'repo', value: folder, constraint: 'a repository whose git folder is named .git' },
  )

const noWorkingTree = (folder: string): ToolFailure =>
  new ToolFailure(`"${folder}" is in a git folder or a bare repository, without a working tree.`, {
    errorType: 'unsupported',
    status: 'failed',
    parameter: 'repo',
    value: folder,
    constraint: 'a folder with checked-out files',
  })

async function noRepository(workspace: Workspace, value: string, folder: string, cwd: string): Promise<ModelRetry> {
  const below = await repositoriesBelow(cwd)
  const near = below.length > 0 || cwd === workspace.root ? below : await repositoriesBelow(workspace.root)
  const from = below.length > 0 ? folder : '.'
  return new ModelRetry(`"${folder}" is not in a git repository${near.length === 0 ? ', and there is none below the workspace' : ''}.`, {
    errorType: 'not_found',
    parameter: 'repo',
    value,
    constraint: 'a folder in a git repository',
    ...hint(near.map((path) => posix.join(from, path))),
  })
}

const MAX_FOLDERS = 2000
const MAX_DEPTH = 4
const MAX_FOUND = 5

/** Folders with a `.git`, nearest first. */
async function repositoriesBelow(root: string): Promise<string[]> {
  const found: string[] = []
  let level = ['']
  let left = MAX_FOLDERS
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const next: string[] = []
    for (const folder of level) {
      if (found.length === MAX_FOUND || left-- === 0) return found
      const entries = await readdir(resolvePath(root, folder), { withFileTypes: true }).catch(() => [])
      if (folder !== '' && entries.some(({ name }) => name === '.git')) {
        found.push(folder)
        continue
      }
      const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
      next.push(...folders.map(({ name }) => posix.join(folder, name)))
    }
    level = next
  }
  return found
}
