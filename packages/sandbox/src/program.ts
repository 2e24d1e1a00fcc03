/**
 * Finds and starts host programs by absolute path, never from a place that a project can write to. `npx` and `npm run` put the
 * project's `node_modules/.bin` first in PATH, so a bare `git` would run whatever the repository put there under that name.
 */
import { type ExecFileOptions, execFile, spawn } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { attempt, isWithin } from './paths.ts'

/** System folders: programs that build the sandbox come only from here. */
const SYSTEM = [
  ...['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin', '/opt/homebrew/bin'],
  ...['/run/current-system/sw/bin', '/run/wrappers/bin', '/run/current-system/profile/bin'],
]
/** File extensions of programs that can be started without a shell. */
const ENDINGS = process.platform === 'win32' ? ['.exe', '.com'] : ['']
const PROJECT_BIN = /(?:^|[\\/])node_modules[\\/]+\.bin(?:[\\/]|$)/i

export interface ProgramSearch {
  /** Programs in it are ignored, including symbolic links into it. */
  readonly workspace?: string | undefined
  /** Default: the PATH of this process. */
  readonly path?: string | undefined
}

/**
 * Finds a program in PATH, ignoring entries that are empty, relative, in the workspace or in a `node_modules/.bin`.
 *
 * @returns its absolute path; undefined if there is none
 * @example
 * const git = resolveProgram('git', { workspace: '/home/me/project' })
 */
export function resolveProgram(name: string, { workspace, path = process.env['PATH'] }: ProgramSearch = {}): string | undefined {
  return firstIn(searchFolders(path, workspace), name, workspace)
}

/** Finds a program in the system folders only, ignoring PATH. */
export function systemProgram(name: string): string | undefined {
  const path = known.get(name) ?? firstIn(SYSTEM, name, undefined)
  if (path !== undefined) known.set(name, path)
  return path
}
const known = new Map<string, string>()

/** Returns the folders of a PATH that {@link resolveProgram} searches. */
const searchFolders = (path = '', workspace?: string): readonly string[] =>
  path.split(delimiter).filter((entry) => isAbsolute(entry) && real(entry) !== undefined && !isOfProject(entry, workspace))

/** Returns a PATH of the same folders, for child processes of a program. */
export const safePath = (path?: string, workspace?: string): string => searchFolders(path, workspace).join(delimiter)

/**
 * Returns whether a path is in the workspace or in a `node_modules/.bin`, directly or through a link. Without a workspace, only the
 * latter is checked.
 */
export function isOfProject(path: string, workspace?: string): boolean {
  const places = [resolve(path), real(path)].filter((one) => one !== undefined)
  const folders = workspace === undefined ? [] : [resolve(workspace), real(workspace)].filter((one) => one !== undefined)
  return places.some((place) => PROJECT_BIN.test(place) || folders.some((folder) => isWithin(folder, place)))
}

function firstIn(folders: readonly string[], name: string, workspace: string | undefined): string | undefined {
  return folders
    .flatMap((folder) => ENDINGS.map((ending) => join(folder, name.endsWith(ending) ? name : name + ending)))
    .find((file) => isExecutable(file) && !isOfProject(file, workspace))
}

const isExecutable = (file: string): boolean =>
  attempt(() => {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  }) ?? false

const real = (path: string): string | undefined => attempt(() => realpathSync.native(path))

/**
 * Calls `spawn` with an absolute path. With {@link runProgram}, this is the only way in which shipped code starts a process.
 * @throws TypeError if the path is not absolute
 */
export const startProgram = ((file: string, ...rest: readonly never[]) => spawn(absolute(file), ...rest)) as typeof spawn

/** Calls `execFile` with an absolute path and resolves with the output. Rejects if the path is not absolute. */
export async function runProgram(file: string, args: readonly string[], options: ExecFileOptions = {}) {
  return promisify(execFile)(absolute(file), args, { ...options, encoding: 'utf8' })
}

function absolute(file: string): string {
  if (isAbsolute(file)) return file
  throw new TypeError(`${file} is not an absolute path, so it could be a program of the project`)
}
