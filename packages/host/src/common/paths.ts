/** The folders and files that data is kept in. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, isAbsolute, join, sep } from 'node:path'
import type { Env } from './env.ts'
import { UsageError } from './errors.ts'

export interface DataPaths {
  readonly dir: string
  readonly store: string
  readonly log: string
  /** Results that were too long; one folder per session. */
  readonly output: string
  /** Notes and task lists of the model; one file per session. */
  readonly state: string
  /** Changes made in each workspace, for undo. */
  readonly changes: string
}

type Home = () => string

/** Returns the platform's folder for application data. @throws UsageError */
export function dataDir(env: Env, platform: NodeJS.Platform = process.platform, home: Home = () => homeFolder(env)): string {
  const own = env['MULLIGAN_DATA_DIR']
  if (own && !isAbsolute(own))
    throw new UsageError(`MULLIGAN_DATA_DIR=${own} must be an absolute path`, 'Use the absolute path of the folder.')
  return own || ownFolder(env, platform, home, 'XDG_DATA_HOME', join('.local', 'share'))
}

/** Returns the platform's folder for configuration. @throws UsageError */
export const configDir = (env: Env, platform: NodeJS.Platform = process.platform, home: Home = () => homeFolder(env)): string =>
  ownFolder(env, platform, home, 'XDG_CONFIG_HOME', '.config')

function ownFolder(env: Env, platform: NodeJS.Platform, home: Home, variable: string, byDefault: string): string {
  if (platform === 'darwin') return join(home(), 'Library', 'Application Support', 'mulligan')
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home(), 'AppData', 'Local'), 'mulligan')
  const xdg = env[variable]
  // The specification says to ignore a relative path.
  return join(xdg && isAbsolute(xdg) ? xdg : join(home(), byDefault), 'mulligan')
}

/** Returns the home folder of the user whose variables these are. @throws UsageError if there is none */
export function homeFolder(env: Env, platform: NodeJS.Platform = process.platform): string {
  const named = env[platform === 'win32' ? 'USERPROFILE' : 'HOME']
  if (named && isAbsolute(named)) return named
  try {
    const { homedir } = userInfo()
    if (isAbsolute(homedir)) return homedir
  } catch {
    // this user has no home folder
  }
  throw new UsageError('there is no home folder to keep data in', 'Set HOME, or MULLIGAN_DATA_DIR to a writable folder.')
}

/** The same, but empty if there is none: for paths that are only displayed. */
function homeOf(env: Env): string {
  try {
    return homeFolder(env)
  } catch {
    return ''
  }
}

/** Creates a folder and those above it. Node's own `recursive` never returns where a file system reports a new folder as missing: /proc. */
function makeFolder(dir: string): void {
  const missing: string[] = []
  for (let at = dir; !existsSync(at); at = dirname(at)) missing.unshift(at)
  for (const one of missing)
    try {
      mkdirSync(one, { mode: 0o700 })
    } catch (error) {
      // Another process was faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  readdirSync(dir)
}

/** Creates the folder, readable by the user only. @throws UsageError */
export function openDataDir(env: Env): DataPaths {
  const dir = dataDir(env)
  try {
    makeFolder(dir)
  } catch (error) {
    throw new UsageError(
      `the data folder ${dir} can't be created: ${(error as Error).message}`,
      'Set MULLIGAN_DATA_DIR to a writable folder.',
    )
  }
  return {
    dir,
    store: join(dir, 'mulligan.db'),
    log: join(dir, 'mulligan.log'),
    output: join(dir, 'output'),
    state: join(dir, 'state'),
    changes: join(dir, 'changes'),
  }
}

/** Shortens a path for display: `~` replaces the home folder. */
export function fromHome(path: string, env: Env): string {
  const home = homeOf(env)
  return home !== '' && path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path
}

/** The reverse of {@link fromHome}. */
export const toHome = (path: string, env: Env): string => (/^~(?:\/|$)/.test(path) ? join(homeOf(env), path.slice(1)) : path)

/** The project's configuration file. */
export const PROJECT_CONFIG = 'mulligan.json'

/** Folder of the user-defined tools of a project. */
export const TOOLS_FOLDER = join('.mulligan', 'tools')
