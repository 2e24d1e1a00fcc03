/**
 * What of `.git` a command may not change, since git runs it on the host later: hooks, and settings that name programs
 * (`core.fsmonitor`, `core.hooksPath`, filters). Nor does git in a command run them: it sees the harmless settings, and no hooks.
 */
import { randomUUID } from 'node:crypto'
import { lstat, mkdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { readHarmlessConfig } from '../git/harmless-config.ts'
import { isWithin } from '../run/paths.ts'
import * as files from './files.ts'
import type { Mount, View } from './view.ts'

export interface GitMounts {
  readonly mounts: readonly Mount[]
  readonly created: readonly string[]
}

const ro = (source: string, target = source): Mount => ({ source, target, mode: 'read-only' })
const rw = (source: string): Mount => ({ source, target: source, mode: 'read-write' })

export interface GitOptions {
  /** A folder without anything in it. */
  readonly empty: string
  /** A folder of our own, for settings. */
  readonly folder: string
  /** The host's git; undefined where there is none. */
  readonly program: string | undefined
  /** `run`: what the repository names is shown, and runs. */
  readonly programs: GitPrograms
}

/** Whether git in a command runs what a repository names: hooks, filters, drivers, aliases. */
export type GitPrograms = 'run' | 'ignore'

export async function gitMounts(workspace: string, options: GitOptions): Promise<GitMounts> {
  const { mounts, created } = await held(workspace, options.empty)
  return {
    mounts: options.programs === 'run' ? mounts : await Promise.all(mounts.map((mount) => withoutPrograms(mount, options))),
    created,
  }
}

/** The same place with another content. Settings that can't be read are none. */
async function withoutPrograms(mount: Mount, { empty, folder, program }: GitOptions): Promise<Mount> {
  const name = basename(mount.target)
  const kind = await files.kind(mount.source)
  const isInGitFolder = (await files.kind(join(dirname(mount.source), 'HEAD'))) === 'file'
  if (mount.mode !== 'read-only' || !isInGitFolder) return mount
  if (name === 'hooks' && kind === 'directory') return { ...mount, source: empty, orItself: true }
  if (!SETTINGS.has(name) || kind !== 'file') return mount
  await files.makeFolder(folder)
  const source = join(folder, randomUUID())
  await files.makeFile(source, program === undefined ? '' : await readHarmlessConfig(program, mount.source))
  return { ...mount, source, orItself: true }
}

const SETTINGS = new Set(['config', 'config.worktree'])

async function held(workspace: string, empty: string): Promise<GitMounts> {
  const git = join(workspace, '.git')
  const kind = await files.kind(git)
  if (kind === 'file') return { mounts: await worktree(workspace, git), created: [] }
  if (kind === 'directory' && (await files.list(git)).length > 0)
    return { mounts: [...(await guarded(git)), ...(await inWorkspace(git, workspace))], created: [] }
  // The link itself can't be held in its place; what it leads to can.
  if (kind === 'link') {
    const to = await files.real(git)
    const isHere = to !== undefined && isWithin(workspace, to) && (await files.kind(to)) === 'directory'
    return { mounts: isHere ? await guarded(to) : [], created: [] }
  }
  // A repository made inside, with hooks of its own choice, would be run by whoever says "git status" here later.
  if (kind === undefined) await mkdir(git)
  return { mounts: [ro(empty, git)], created: [git] }
}

/** A worktree's `.git` is a file that names a folder in the main repository: git does not work without that one. */
async function worktree(workspace: string, file: string): Promise<readonly Mount[]> {
  const [, named] = /^gitdir:\s*(.+?)\s*$/m.exec(await files.text(file)) ?? []
  const folder = named && (await files.real(resolve(workspace, named)))
  if (!folder) return [ro(file)]
  const named2 = (await files.text(join(folder, 'commondir'))).trim()
  const common = named2 === '' ? undefined : await files.real(resolve(folder, named2))
  // A file may name any folder: one that is no part of a repository is not shown because of it.
  const back = (await files.text(join(folder, 'gitdir'))).trim()
  const isOurs = common !== undefined && isWithin(join(common, 'worktrees'), folder) && (await files.real(back)) === file
  if (!isOurs || (await files.kind(join(common, 'config'))) !== 'file') return [ro(file)]
  await Promise.all(['objects', 'refs', 'logs'].map((name) => mkdir(join(common, name), { recursive: true })))
  const fixed = await existing(folder, ['commondir', 'gitdir', 'config.worktree'])
  const shared = await existing(common, ['hooks', 'config'])
  return [
    ro(file),
    ro(common),
    ...shared,
    rw(join(common, 'objects')),
    rw(join(common, 'refs')),
    rw(join(common, 'logs')),
    rw(folder),
    ...fixed,
  ]
}

async function guarded(git: string): Promise<readonly Mount[]> {
  // Where the process that should have sealed it was killed. Only a folder without settings of its own needs one.
  if ((await files.text(join(git, 'config'))).trim() !== '') await rm(join(git, 'commondir'), { recursive: true, force: true })
  const hooks = join(git, 'hooks')
  if ((await files.kind(hooks)) === undefined) await mkdir(hooks)
  const config = join(git, 'config')
  if ((await files.kind(config)) === undefined) await writeFile(config, '')
  if (/worktreeconfig/i.test(await files.text(config)) && (await files.kind(join(git, 'config.worktree'))) === undefined)
    await writeFile(join(git, 'config.worktree'), '')
  return [...(await existing(git, ['hooks', 'config', 'config.worktree', 'commondir'])), ...(await modules(join(git, 'modules')))]
}

/** Settings and hooks of submodules: git reads them when it looks at the repository above. */
async function modules(folder: string, depth = 3): Promise<readonly Mount[]> {
  const found = await files.list(folder)
  if (depth === 0) return []
  if (found.some(({ name }) => name === 'HEAD'))
    return [...(await existing(folder, ['hooks', 'config'])), ...(await modules(join(folder, 'modules'), depth - 1))]
  const below = found.filter(({ kind }) => kind === 'directory').slice(0, 50)
  return (await Promise.all(below.map(({ name }) => modules(join(folder, name), depth - 1)))).flat()
}

/** `hooksPath = .husky/_`, and files that the settings include. */
async function inWorkspace(git: string, workspace: string): Promise<readonly Mount[]> {
  const named = [...(await files.text(join(git, 'config'))).matchAll(/^\s*(hookspath|path)\s*=\s*"?(.+?)"?\s*$/gim)]
  const paths = named.map(([, key = '', value = '']) => resolve(key.toLowerCase() === 'path' ? git : workspace, value))
  const real = await Promise.all(paths.map((path) => files.real(path)))
  return real.filter((path) => path !== undefined && path !== workspace && isWithin(workspace, path)).map((path) => ro(path as string))
}

async function existing(folder: string, names: readonly string[]): Promise<readonly Mount[]> {
  const found = await Promise.all(names.map(async (name) => ({ path: join(folder, name), kind: await files.kind(join(folder, name)) })))
  return found.filter(({ kind }) => kind === 'file' || kind === 'directory').map(({ path }) => ro(path))
}

/**
 * After each command: a `commondir` in the main repository would make git read settings from wherever it says. It can't be
 * mounted over, since git stops at an empty one.
 */
export async function sealGit({ workspace, mounts }: Pick<View, 'workspace' | 'mounts'>): Promise<void> {
  const git = join(workspace, '.git')
  const path = join(git, 'commondir')
  if (mounts.some(({ target }) => target === path) || !mounts.some(({ target, mode }) => target === git && mode === 'read-write')) return
  if (await lstat(path).catch(() => undefined)) await rm(path, { recursive: true, force: true })
}

/** Takes away the empty folders that were made for mounting, in their order: one may lie in the next. */
export async function releaseView({ created }: Pick<View, 'created'>): Promise<void> {
  for (const folder of created) await rmdir(folder).catch(() => {})
}
