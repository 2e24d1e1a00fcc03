/** Locations of the configuration files. Imports nothing slow. */
import { statSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { configDir, fromHome, PROJECT_CONFIG } from '../common/paths.ts'
import { foldersTo } from '../common/repository.ts'
import type { Config } from './schema.ts'

/** Read if there is no {@link PROJECT_CONFIG}. */
const EARLIER_PROJECT_CONFIG = join('.mulligan', 'config.json')

export interface ConfigFile {
  readonly origin: 'project' | 'user'
  readonly path: string
  /** Folder that the file belongs to: the project's root. Empty for the user's own file. */
  readonly folder: string
  /** Path for display. */
  readonly shown: string
  readonly found: boolean
  readonly values: Config
}

/** Location of a file, whether it exists or not. */
export type FilePlace = Pick<ConfigFile, 'origin' | 'path' | 'folder' | 'shown'>

/**
 * Returns the nearest file between the folder and the root of its repository; if there is none, the one that would be at the root.
 * @throws UsageError if a folder has two
 */
export function projectPlace(cwd: string): FilePlace {
  const folders = foldersTo(cwd).toReversed()
  const place = (folder: string, name: string): FilePlace => {
    const path = join(folder, name)
    return { origin: 'project', path, folder, shown: relative(cwd, path).replaceAll('\\', '/') }
  }
  for (const folder of folders) {
    const [now, earlier] = [PROJECT_CONFIG, EARLIER_PROJECT_CONFIG].map((name) => place(folder, name)) as [FilePlace, FilePlace]
    const found = [now, earlier].filter(({ path }) => isThere(path))
    if (found.length === 2)
      throw new UsageError(
        `${now.shown} and ${earlier.shown} both exist, but only one can be used`,
        `Move the contents of ${earlier.shown} to ${now.shown}, then delete ${earlier.shown}.`,
      )
    if (found[0]) return found[0]
  }
  return place(folders.at(-1) ?? cwd, PROJECT_CONFIG)
}

/** Returns the location of the user's own file. @throws UsageError */
export function userPlace(env: Env): FilePlace {
  const named = env['MULLIGAN_CONFIG']
  if (named && !isAbsolute(named))
    throw new UsageError(`MULLIGAN_CONFIG=${named} must be an absolute path`, 'Use the absolute path of the file.')
  const path = named || ownPath('config.json', env) || ''
  return { origin: 'user', path, folder: '', shown: fromHome(path, env) }
}

/** Returns a path in the user's own configuration folder; undefined if there is no such folder. */
export function ownPath(name: string, env: Env): string | undefined {
  try {
    return join(configDir(env), name)
  } catch {
    return undefined
  }
}

/** True also for something other than a file, which is reported when it is read. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR'
  }
}
