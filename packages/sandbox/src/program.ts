/**
 * Programs that we start on the host: found once, by an absolute path, where no project can have put them. `npx` and `npm run` put
 * the project's `node_modules/.bin` first in PATH, so a bare `git` would be whatever the repository calls so.
 */
import { type ExecFileOptions, execFile, spawn } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { isWithin } from './paths.ts'

/** Of the system: what walls are built with comes from nowhere else. */
const SYSTEM = [
  ...['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin', '/opt/homebrew/bin'],
  ...['/run/current-system/sw/bin', '/run/wrappers/bin', '/run/current-system/profile/bin'],
]
/** What can be started without a shell. */
const ENDINGS = process.platform === 'win32' ? ['.exe', '.com'] : ['']
const PROJECT_BIN = /(?:^|[\\/])node_modules[\\/]+\.bin(?:[\\/]|$)/i

export interface ProgramSearch {
  /** Nothing in it is found, nor what leads into it by a symbolic link. */
  readonly workspace?: string | undefined
  /** Default: PATH of the process. */
  readonly path?: string | undefined
}

/**
 * Looks a program up in PATH, without entries that are empty, relative, in the workspace or a `node_modules/.bin`.
 *
 * @returns its absolute path; undefined if there is none
 * @example
 * const git = resolveProgram('git', { workspace: '/home/me/project' })
 */
export function resolveProgram(name: string, { workspace, path = process.env['PATH'] }: ProgramSearch = {}): string | undefined {
  return firstIn(searchFolders(path, workspace), name, workspace)
}

/** The same in the system's own folders: PATH is not asked. */
export const systemProgram = (name: string): string | undefined => firstIn(SYSTEM, name, undefined)

/** The folders of a PATH in which {@link resolveProgram} looks. */
export const searchFolders = (path = '', workspace?: string): readonly string[] =>
  path.split(delimiter).filter((entry) => isAbsolute(entry) && real(entry) !== undefined && !isOfProject(entry, workspace))

/** A PATH of the same, for the programs that a program starts. */
export const safePath = (path?: string, workspace?: string): string => searchFolders(path, workspace).join(delimiter)

/** Whether a path is in the workspace or in a `node_modules/.bin`, or leads there. Without a workspace, only the latter. */
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

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

function real(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** `spawn` of an absolute path. The only way in which shipped code starts a process, with {@link runProgram}. @throws TypeError for a bare name */
export const startProgram = ((file: string, ...rest: readonly never[]) => spawn(absolute(file), ...rest)) as typeof spawn

/** `execFile` of an absolute path, as a promise of what it printed. Rejects for a bare name. */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)(absolute(file), args, { ...options, encoding: 'utf8' })
}

function absolute(file: string): string {
  if (isAbsolute(file)) return file
  throw new TypeError(`${file} is not an absolute path, so it could be a program of the project`)
}
