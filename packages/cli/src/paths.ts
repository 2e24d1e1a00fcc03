/** Where things are kept. */
import { mkdirSync, realpathSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { UsageError } from './exit.ts'

type Env = Readonly<Record<string, string | undefined>>

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
export function dataDir(env: Env, platform: NodeJS.Platform = process.platform, home: () => string = homeFolder): string {
  const own = env['MULLIGAN_DATA_DIR']
  if (own) return absolute(own)
  if (platform === 'darwin') return join(home(), 'Library', 'Application Support', 'mulligan')
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home(), 'AppData', 'Local'), 'mulligan')
  const xdg = env['XDG_DATA_HOME']
  // a relative one is to be ignored, says the specification
  return join(xdg && isAbsolute(xdg) ? xdg : join(home(), '.local', 'share'), 'mulligan')
}

/** Where a platform keeps a program's configuration. @throws UsageError */
export function configDir(env: Env, platform: NodeJS.Platform = process.platform, home: () => string = homeFolder): string {
  if (platform === 'darwin') return join(home(), 'Library', 'Application Support', 'mulligan')
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(home(), 'AppData', 'Local'), 'mulligan')
  const xdg = env['XDG_CONFIG_HOME']
  return join(xdg && isAbsolute(xdg) ? xdg : join(home(), '.config'), 'mulligan')
}

/** Also where `HOME` is set to nothing. @throws UsageError */
function homeFolder(): string {
  for (const find of [homedir, () => userInfo().homedir])
    try {
      const home = find()
      if (isAbsolute(home)) return home
    } catch {
      // this user has none
    }
  throw new UsageError('there is no home folder to keep data in', 'Set HOME, or MULLIGAN_DATA_DIR to a folder you can write.')
}

/** Makes the folder, for the person alone. @throws UsageError */
export function openDataDir(env: Env = process.env): DataPaths {
  const dir = dataDir(env)
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new UsageError(
      `the data folder ${dir} can't be made: ${(error as Error).message}`,
      'Set MULLIGAN_DATA_DIR to a folder you can write.',
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

/** A path as the person may show it around: `~` stands for the home folder. */
export const fromHome = (path: string, home: string = homedir()): string =>
  home !== '' && path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path

/** The other way round. */
export const toHome = (path: string, home: string = homedir()): string => (/^~(?:\/|$)/.test(path) ? join(home, path.slice(1)) : path)

/** The real path of the folder to work in. @throws UsageError */
export function workingFolder(given: string | undefined): string {
  const asked = absolute(given ?? '.')
  try {
    const found = statSync(asked, { throwIfNoEntry: false })
    if (found?.isDirectory()) return realpathSync(asked)
    throw new UsageError(`--cwd: ${found ? 'not a folder' : 'there is no folder'} ${asked}`, 'Name a folder that exists.')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--cwd: ${asked} can't be used: ${(error as Error).message}`, 'Name a folder that you may enter.')
  }
}

function absolute(path: string): string {
  try {
    return resolve(path)
  } catch {
    throw new UsageError('the folder you are in does not exist any more', 'Go to one that does: cd again, or name one with --cwd.')
  }
}

/** The project's configuration. */
export const PROJECT_CONFIG = 'mulligan.json'

/** The person's own tools of a folder. */
export const TOOLS_FOLDER = join('.mulligan', 'tools')
