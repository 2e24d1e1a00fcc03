/** The folders and files where data is kept. */
import { mkdirSync } from 'node:fs'
import { userInfo } from 'node:os'
import { isAbsolute, join, sep } from 'node:path'
import type { Env } from './env.ts'
import { UsageError } from './errors.ts'

export interface DataPaths {
  readonly dir: string
  readonly store: string
  readonly log: string
  /** Over-long results, a folder for each session. */
  readonly output: string
  /** Notes and task lists of the model, a file for each session. */
  readonly state: string
  /** What was changed in each workspace, to take it back. */
  readonly changes: string
}

/** Where a platform keeps a program's data. @throws UsageError */
export function dataDir(env: Env, platform: NodeJS.Platform = process.platform, home: () => string = () => homeFolder(env)): string {
  const own = env['MULLIGAN_DATA_DIR']
  if (own && !isAbsolute(own))
    throw new UsageError(`MULLIGAN_DATA_DIR=${own} must be an absolute path`, 'Use the absolute path of the folder.')
  if (own) return own
  if (platform === 'darwin') return join(home(), 'Library', 'Application Support', 'mulligan')
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home(), 'AppData', 'Local'), 'mulligan')
  const xdg = env['XDG_DATA_HOME']
  // a relative one is to be ignored, says the specification
  return join(xdg && isAbsolute(xdg) ? xdg : join(home(), '.local', 'share'), 'mulligan')
}

/** Where a platform keeps a program's configuration. @throws UsageError */
export function configDir(env: Env, platform: NodeJS.Platform = process.platform, home: () => string = () => homeFolder(env)): string {
  if (platform === 'darwin') return join(home(), 'Library', 'Application Support', 'mulligan')
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home(), 'AppData', 'Local'), 'mulligan')
  const xdg = env['XDG_CONFIG_HOME']
  return join(xdg && isAbsolute(xdg) ? xdg : join(home(), '.config'), 'mulligan')
}

/** The home folder of the user that the variables are of. @throws UsageError where there is none */
export function homeFolder(env: Env, platform: NodeJS.Platform = process.platform): string {
  const named = env[platform === 'win32' ? 'USERPROFILE' : 'HOME']
  if (named && isAbsolute(named)) return named
  try {
    const { homedir } = userInfo()
    if (isAbsolute(homedir)) return homedir
  } catch {
    // this user has none
  }
  throw new UsageError('there is no home folder to keep data in', 'Set HOME, or MULLIGAN_DATA_DIR to a writable folder.')
}

/** The same, or nothing where there is none: for paths that are only shown. */
function homeOf(env: Env): string {
  try {
    return homeFolder(env)
  } catch {
    return ''
  }
}

/** Makes the folder, for the person alone. @throws UsageError */
export function openDataDir(env: Env): DataPaths {
  const dir = dataDir(env)
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new UsageError(`the data folder ${dir} can't be made: ${(error as Error).message}`, 'Set MULLIGAN_DATA_DIR to a writable folder.')
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

/** A path as the user may show it around: `~` stands for the home folder. */
export function fromHome(path: string, env: Env): string {
  const home = homeOf(env)
  return home !== '' && path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path
}

/** The other way round. */
export const toHome = (path: string, env: Env): string => (/^~(?:\/|$)/.test(path) ? join(homeOf(env), path.slice(1)) : path)

/** The project's configuration. */
export const PROJECT_CONFIG = 'mulligan.json'

/** The person's own tools of a folder. */
export const TOOLS_FOLDER = join('.mulligan', 'tools')
