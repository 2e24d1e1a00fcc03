/** The locations of the configuration files. Loads nothing slow. */
import { statSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { configDir, fromHome, PROJECT_CONFIG } from '../common/paths.ts'
import { foldersTo } from '../common/repository.ts'
import type { ConfigFile } from './config-file.ts'

/** Read where there is no {@link PROJECT_CONFIG}. */
const EARLIER_PROJECT_CONFIG = join('.mulligan', 'config.json')

/** Where a file is, whether it is there or not. */
export type FilePlace = Pick<ConfigFile, 'origin' | 'path' | 'folder' | 'shown'>

/**
 * The nearest one from the folder up to the root of its repository; where there is none, the one that would be at the root.
 * @throws UsageError where a folder has two
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
        `${now.shown} and ${earlier.shown} are both there, and only one can count`,
        `Move what is in ${earlier.shown} to ${now.shown}, and delete it.`,
      )
    if (found[0]) return found[0]
  }
  return place(folders.at(-1) ?? cwd, PROJECT_CONFIG)
}

/** @throws UsageError */
export function userPlace(env: Env): FilePlace {
  const named = env['MULLIGAN_CONFIG']
  if (named && !isAbsolute(named))
    throw new UsageError(`MULLIGAN_CONFIG=${named} must be an absolute path`, 'Use the absolute path of the file.')
  const path = named || ownPath('config.json', env) || ''
  return { origin: 'user', path, folder: '', shown: fromHome(path, env) }
}

/** In the person's own folder; undefined if they have none. */
export function ownPath(name: string, env: Env): string | undefined {
  try {
    return join(configDir(env), name)
  } catch {
    return undefined
  }
}

/** Also where it is not a file, which is told when it is read. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR'
  }
}
