/**
 * What of `.git` a command may not change, since git runs it on the host later: hooks, and settings that name programs
 * (`core.fsmonitor`, `core.hooksPath`, filters). Nor does git in a command run them: it sees the harmless settings, and no hooks.
 */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { readHarmlessConfig } from '../git/harmless-config.ts'
import { isWithin } from '../paths.ts'
import * as files from './files.ts'
import type { Guarded, Mount } from './view.ts'

const ro = (source: string, target = source): Mount => ({ source, target, mode: 'read-only' })
const rw = (source: string): Mount => ({ source, target: source, mode: 'read-write' })

const none: Guarded = { mounts: [], absent: [] }
const both = (parts: readonly Guarded[]): Guarded => ({
  mounts: parts.flatMap(({ mounts }) => mounts),
  absent: parts.flatMap(({ absent }) => absent),
})

export interface GitOptions {
  /** A folder without anything in it. */
  readonly empty: string
  /** A folder of our own, for settings. */
  readonly folder: string
  /** The host's git; undefined if there is none. */
  readonly program: string | undefined
  /** `run`: what the repository names is shown, and runs. */
  readonly programs: GitPrograms
}

/** Whether git in a command runs what a repository names: hooks, filters, drivers, aliases. */
export type GitPrograms = 'run' | 'ignore'

export async function gitMounts(workspace: string, options: GitOptions): Promise<Guarded> {
  const { mounts, absent } = await held(workspace)
  return {
    mounts: options.programs === 'run' ? mounts : await Promise.all(mounts.map((mount) => withoutPrograms(mount, options))),
    absent,
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

async function held(workspace: string): Promise<Guarded> {
  const git = join(workspace, '.git')
  const kind = await files.kind(git)
  // A repository made inside, with hooks of its own choice, would be run by whoever says "git status" here later.
  if (kind === undefined) return { mounts: [], absent: [git] }
  if (kind === 'file') return worktree(workspace, git)
  if (kind === 'directory' && (await files.list(git)).length > 0) return both([await guarded(git), await inWorkspace(git, workspace)])
  // The link itself can't be held in its place; what it leads to can.
  if (kind === 'link') {
    const to = await files.real(git)
    const isHere = to !== undefined && isWithin(workspace, to) && (await files.kind(to)) === 'directory'
    return isHere ? guarded(to) : none
  }
  return { mounts: [ro(git)], absent: [] }
}

/** A worktree's `.git` is a file that names a folder in the main repository: git does not work without that one. */
async function worktree(workspace: string, file: string): Promise<Guarded> {
  const [, named] = /^gitdir:\s*(.+?)\s*$/m.exec(await files.text(file)) ?? []
  const folder = named && (await files.real(resolve(workspace, named)))
  const alone: Guarded = { mounts: [ro(file)], absent: [] }
  if (!folder) return alone
  const named2 = (await files.text(join(folder, 'commondir'))).trim()
  const common = named2 === '' ? undefined : await files.real(resolve(folder, named2))
  // A file may name any folder: one that is not part of a repository is not shown because of it.
  const back = (await files.text(join(folder, 'gitdir'))).trim()
  const isOurs = common !== undefined && isWithin(join(common, 'worktrees'), folder) && (await files.real(back)) === file
  if (!isOurs || (await files.kind(join(common, 'config'))) !== 'file') return alone
  const written = await existing(common, ['objects', 'refs', 'logs'])
  const shared = await existing(common, ['hooks', 'config'])
  const shown = [ro(file), ro(common), ...shared, ...written.map(({ source }) => rw(source)), rw(folder)]
  return both([{ mounts: shown, absent: [] }, await guard(folder, ['commondir', 'gitdir', 'config.worktree'])])
}

async function guarded(git: string): Promise<Guarded> {
  // Where the process that should have taken it away was killed. Only a folder without settings of its own needs one.
  if ((await files.text(join(git, 'config'))).trim() !== '') await rm(join(git, 'commondir'), { recursive: true, force: true })
  // A `commondir` makes git read settings from wherever it says. It can't be mounted over, since git stops at an empty one.
  return both([await guard(git, ['hooks', 'config', 'config.worktree', 'commondir']), await modules(join(git, 'modules'))])
}

/** Settings and hooks of submodules: git reads them when it looks at the repository above. */
async function modules(folder: string, depth = 3): Promise<Guarded> {
  const found = await files.list(folder)
  if (depth === 0) return none
  if (found.some(({ name }) => name === 'HEAD'))
    return both([await guard(folder, ['hooks', 'config']), await modules(join(folder, 'modules'), depth - 1)])
  const below = found.filter(({ kind }) => kind === 'directory').slice(0, 50)
  return both(await Promise.all(below.map(({ name }) => modules(join(folder, name), depth - 1))))
}

/** `hooksPath = .husky/_`, and files that the settings include. */
async function inWorkspace(git: string, workspace: string): Promise<Guarded> {
  const named = [...(await files.text(join(git, 'config'))).matchAll(/^\s*(hookspath|path)\s*=\s*"?(.+?)"?\s*$/gim)]
  const paths = named.map(([, key = '', value = '']) => resolve(key.toLowerCase() === 'path' ? git : workspace, value))
  const found = await Promise.all(paths.map(async (path) => ({ path, real: await files.real(path) })))
  const isHere = (path: string) => path !== workspace && isWithin(workspace, path)
  return {
    mounts: found.flatMap(({ real }) => (real !== undefined && isHere(real) ? [ro(real)] : [])),
    absent: found.flatMap(({ path, real }) => (real === undefined && isHere(path) ? [path] : [])),
  }
}

/** What is there can't be written; what is not can't come to stay. */
async function guard(folder: string, names: readonly string[]): Promise<Guarded> {
  const found = await Promise.all(names.map(async (name) => ({ path: join(folder, name), kind: await files.kind(join(folder, name)) })))
  return {
    mounts: await existing(folder, names),
    absent: found.flatMap(({ path, kind }) => (kind === undefined ? [path] : [])),
  }
}

async function existing(folder: string, names: readonly string[]): Promise<readonly Mount[]> {
  const found = await Promise.all(names.map(async (name) => ({ path: join(folder, name), kind: await files.kind(join(folder, name)) })))
  return found.filter(({ kind }) => kind === 'file' || kind === 'directory').map(({ path }) => ro(path))
}
