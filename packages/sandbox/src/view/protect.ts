/**
 * Finds workspace paths that commands must not write because something outside the sandbox loads code from there. In `.git` these
 * are hooks and settings that name programs (`core.fsmonitor`, `core.hooksPath`, filters). Git inside a command does not run these
 * either: it sees only harmless settings and no hooks.
 */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { SandboxError } from '../command.ts'
import { readHarmlessConfig } from '../git/harmless-config.ts'
import { isWithin } from '../paths.ts'
import * as files from './files.ts'
import type { Guarded, Mount, View } from './view.ts'

const ro = (path: string): Mount => ({ source: path, target: path, mode: 'read-only' })
const rw = (path: string): Mount => ({ source: path, target: path, mode: 'read-write' })
const shown = (...mounts: readonly Mount[]): Guarded => ({ mounts, absent: [] })
const all = (parts: readonly Guarded[]): Guarded => ({
  mounts: parts.flatMap(({ mounts }) => mounts),
  absent: parts.flatMap(({ absent }) => absent),
})

/** @throws SandboxError for a path that can't be protected */
export async function protectedMounts(workspace: string, paths: readonly string[]): Promise<Guarded> {
  const mounts: Mount[] = []
  const absent: string[] = []
  for (const path of paths) {
    const target = resolve(workspace, path)
    if (target === workspace || !isWithin(workspace, target))
      throw new SandboxError({ message: `${path} can't be protected: it is not a path in the workspace` })
    // A link can't be pinned in place: a command could replace it with another one.
    for (let at = target; at !== workspace; at = dirname(at))
      if ((await files.kind(at)) === 'link')
        throw new SandboxError({
          message: `${path} in the workspace is a symbolic link or is behind one, and commands could replace the link`,
          remedy: 'Replace the link with the folder itself.',
        })
    if ((await files.kind(target)) === undefined) absent.push(target)
    else mounts.push(ro(target))
  }
  return { mounts, absent }
}

/** Returns whether something appeared at a path that was empty when the view was planned, or a mounted path in the workspace is gone. */
export async function isStale({ workspace, mounts, absent }: Pick<View, 'workspace' | 'mounts' | 'absent'>): Promise<boolean> {
  const guarded = mounts.filter(({ source, target }) => source === target && target.startsWith(`${workspace}/`))
  const kinds = (paths: readonly string[]) => Promise.all(paths.map((path) => files.kind(path)))
  const [come, stayed] = await Promise.all([kinds(absent), kinds(guarded.map(({ source }) => source))])
  return come.some((kind) => kind !== undefined) || stayed.includes(undefined)
}

/** Whether git in a command runs programs named by a repository: hooks, filters, drivers, aliases. */
export type GitPrograms = 'run' | 'ignore'

export interface GitOptions {
  /** An empty folder. */
  readonly empty: string
  /** Our own folder for settings files. */
  readonly folder: string
  /** The host's git executable; undefined if there is none. */
  readonly program: string | undefined
  /** `run` shows the repository's programs and allows them to run. */
  readonly programs: GitPrograms
}

export async function gitMounts(workspace: string, options: GitOptions): Promise<Guarded> {
  const { mounts, absent } = await held(workspace)
  return {
    mounts: options.programs === 'run' ? mounts : await Promise.all(mounts.map((mount) => withoutPrograms(mount, options))),
    absent,
  }
}

/** Mounts harmless content at the same path. Unreadable settings count as empty. */
async function withoutPrograms(mount: Mount, { empty, folder, program }: GitOptions): Promise<Mount> {
  const name = basename(mount.target)
  const kind = await files.kind(mount.source)
  const isInGitFolder = (await files.kind(join(dirname(mount.source), 'HEAD'))) === 'file'
  if (mount.mode !== 'read-only' || !isInGitFolder) return mount
  if (name === 'hooks' && kind === 'directory') return { ...mount, source: empty, orItself: true }
  if ((name !== 'config' && name !== 'config.worktree') || kind !== 'file') return mount
  await files.makeFolder(folder)
  const source = join(folder, randomUUID())
  await files.makeFile(source, program === undefined ? '' : await readHarmlessConfig(program, mount.source))
  return { ...mount, source, orItself: true }
}

async function held(workspace: string): Promise<Guarded> {
  const git = join(workspace, '.git')
  const kind = await files.kind(git)
  // A repository created inside, with hooks of the command's choice, would take effect for anyone who later runs `git status` here.
  if (kind === undefined) return { mounts: [], absent: [git] }
  if (kind === 'file') return worktree(workspace, git)
  if (kind === 'directory' && (await files.list(git)).length > 0) return all([await guarded(git), await inWorkspace(git, workspace)])
  if (kind !== 'link') return shown(ro(git))
  // The link itself can't be pinned in place, but its target can.
  const to = await files.real(git)
  return to !== undefined && isWithin(workspace, to) && (await files.kind(to)) === 'directory' ? guarded(to) : shown()
}

/** Protects a worktree. Its `.git` is a file that names a folder in the main repository, which git needs. */
async function worktree(workspace: string, file: string): Promise<Guarded> {
  const [, named] = /^gitdir:\s*(.+?)\s*$/m.exec(await files.text(file)) ?? []
  const folder = named && (await files.real(resolve(workspace, named)))
  if (!folder) return shown(ro(file))
  const main = (await files.text(join(folder, 'commondir'))).trim()
  const common = main === '' ? undefined : await files.real(resolve(folder, main))
  // The file may name any folder, so a folder is shown only if it is part of a repository.
  const back = (await files.text(join(folder, 'gitdir'))).trim()
  const isOurs = common !== undefined && isWithin(join(common, 'worktrees'), folder) && (await files.real(back)) === file
  if (!isOurs || (await files.kind(join(common, 'config'))) !== 'file') return shown(ro(file))
  const [shared, written] = [await guard(common, ['hooks', 'config']), await guard(common, ['objects', 'refs', 'logs'])]
  const mounts = [ro(file), ro(common), ...shared.mounts, ...written.mounts.map(({ source }) => rw(source)), rw(folder)]
  return all([shown(...mounts), await guard(folder, ['commondir', 'gitdir', 'config.worktree'])])
}

async function guarded(git: string): Promise<Guarded> {
  // A process that was killed may have left one behind. Only a folder without settings of its own needs it.
  if ((await files.text(join(git, 'config'))).trim() !== '') await rm(join(git, 'commondir'), { recursive: true, force: true })
  // A `commondir` makes git read settings from an arbitrary place. It can't be mounted over, because git fails on an empty one.
  return all([await guard(git, ['hooks', 'config', 'config.worktree', 'commondir']), await modules(join(git, 'modules'))])
}

/** Protects the settings and hooks of submodules, which git reads when it examines the parent repository. */
async function modules(folder: string, depth = 3): Promise<Guarded> {
  if (depth === 0) return shown()
  const found = await files.list(folder)
  if (found.some(({ name }) => name === 'HEAD'))
    return all([await guard(folder, ['hooks', 'config']), await modules(join(folder, 'modules'), depth - 1)])
  const below = found.filter(({ kind }) => kind === 'directory').slice(0, 50)
  return all(await Promise.all(below.map(({ name }) => modules(join(folder, name), depth - 1))))
}

/** Protects workspace paths named by settings, such as `hooksPath = .husky/_` and included files. */
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

/** Makes existing names read-only, and marks missing ones to be removed if they are created. */
async function guard(folder: string, names: readonly string[]): Promise<Guarded> {
  const found = await Promise.all(names.map(async (name) => ({ path: join(folder, name), kind: await files.kind(join(folder, name)) })))
  return {
    mounts: found.flatMap(({ path, kind }) => (kind === 'file' || kind === 'directory' ? [ro(path)] : [])),
    absent: found.flatMap(({ path, kind }) => (kind === undefined ? [path] : [])),
  }
}
