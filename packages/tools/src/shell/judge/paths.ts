/** Paths as text: what they lead to, and the places whose loss cannot be made good. */
import { globMatcher } from './glob.ts'
import type { Place } from './types.ts'
import { type Arg, argOf } from './value.ts'

/** Absolute and without detours; undefined where the folder it starts in is not known. */
export function absolute(text: string, { cwd }: Pick<Place, 'cwd'>): string | undefined {
  if (!text.startsWith('/') && cwd === undefined) return undefined
  const parts: string[] = []
  for (const part of (text.startsWith('/') ? text : `${cwd}/${text}`).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  const path = `/${parts.join('/')}`
  const root = /^\/proc\/(?:\d+|self|thread-self)\/root(?=\/|$)/.exec(path)
  return root ? path.slice(root[0].length) || '/' : path
}

const isBelow = (path: string, dir: string): boolean => path === dir || path.startsWith(dir === '/' ? '/' : `${dir}/`)

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

/** They and everything in them belong to the system. */
const SYSTEM = [
  '/etc',
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/boot',
  '/dev',
  '/proc',
  '/sys',
  '/System',
  '/Library',
  '/run',
]
/** Only they as a whole. */
const TOP = [
  '/',
  '/var',
  '/var/lib',
  '/var/log',
  '/var/spool',
  '/opt',
  '/srv',
  '/mnt',
  '/media',
  '/home',
  '/root',
  '/Users',
  '/Applications',
  '/private',
  '/nix',
  '/snap',
]
const HOMES = /^\/(?:home|Users)\/[^/]+$/
/** Below a system folder and yet nobody's loss. */
const SCRATCH = ['/dev/shm', '/dev/null', '/dev/stdout', '/dev/stderr', '/dev/tty']

/** Why the loss of a folder with all it holds is beyond repair; undefined where it is not. */
export function vital(path: string, { home, workspace }: Place): string | undefined {
  if (path === '/') return 'the whole file system'
  if (path === workspace) return 'the whole workspace'
  if (path === home || path === '/root' || HOMES.test(path)) return 'a home folder'
  if (isBelow(workspace, path)) return 'a folder that holds the workspace'
  if (isBelow(home, path)) return 'a folder that holds the home'
  if (path === `${workspace}/.git`) return "the repository's history"
  if (SCRATCH.some((one) => isBelow(path, one) && path !== one)) return undefined
  if (TOP.includes(path) || SYSTEM.some((one) => isBelow(path, one))) return 'a folder of the system'
  return undefined
}

/** The same for a word, which may be a pattern or leave things open. */
export function vitalTarget(arg: Arg, place: Place): string | undefined {
  if (arg.dynamic) return vitalText(emptyUnset(arg), place)
  return vitalText(arg, place)
}

/** Only where nothing but unset variables is unknown, and something stays without them. */
function emptyUnset(arg: Arg): Arg | undefined {
  if (arg.pieces.some((one) => one.kind === 'unknown' && !one.unset)) return knownFolder(arg)
  const rest = arg.pieces.filter(({ kind }) => kind !== 'unknown')
  return rest.length === 0 ? undefined : argOf(rest)
}

/** `/$x` may be anything right below the root, and that is vital whatever it is. */
function knownFolder(arg: Arg): Arg | undefined {
  const [first, second] = arg.pieces
  return first?.kind === 'text' && second?.kind === 'unknown' && arg.pieces.length === 2 && /^\/+$/.test(first.text)
    ? argOf([{ kind: 'text', text: '/' }])
    : undefined
}

function vitalText(arg: Arg | undefined, place: Place): string | undefined {
  if (arg === undefined || arg.text === '') return undefined
  const path = absolute(arg.text, place)
  if (path === undefined) return undefined
  if (!arg.glob) return vital(path, place)
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (takesAll(name)) {
    const folder = parentOf(path)
    if (!isPattern(folder)) return vital(folder, place)
  }
  const matches = globMatcher(path)
  for (const one of landmarks(place)) if (matches(one)) return vital(one, place)
  return undefined
}

const landmarks = ({ home, workspace }: Place): string[] => [
  ...SYSTEM,
  ...TOP,
  ...parents(home),
  ...parents(workspace),
  `${workspace}/.git`,
  '/home/user',
  '/root',
  '/usr/bin',
  '/usr/lib',
  '/etc/passwd',
]

function parents(path: string): string[] {
  const all = [path]
  for (let dir = path; dir !== '/'; dir = parentOf(dir)) all.push(parentOf(dir))
  return all
}

const isPattern = (text: string): boolean => /[*?[]/.test(text)

/** A pattern without a letter of its own: `*`, `.*`, `.[!.]*`, `[a-z]*`. */
const takesAll = (pattern: string): boolean => pattern.includes('*') && /^\.*(?:\[[^\]]*\]|[*?])+$/.test(pattern)

export const isInside = isBelow

const DISK = /^\/dev\/(?:r?disk\d|[shvx]v?d[a-z]|nvme\d|mmcblk\d|mapper\/|md\d|dm-\d|loop\d|sr\d|mem$|kmem$|port$|block\/|disk\/)/
export const isDisk = (path: string): boolean => DISK.test(path)

const RC =
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login|inputrc|xinitrc|xprofile|xsession|gitconfig|vimrc|npmrc|pam_environment|[a-z_]*history)$/
const HOME_PLACES = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.kube',
  '.config/fish',
  '.config/autostart',
  '.config/systemd',
  '.config/git',
  '.config/environment.d',
  '.local/share/systemd',
  'Library/LaunchAgents',
  '.docker/config.json',
]
const CRON = ['/var/spool', '/var/log', '/var/at']

/** Why nothing may be written there; undefined where it may. */
export function guarded(path: string, { home }: Place): string | undefined {
  if (isDisk(path)) return 'it writes to a disk'
  if (SCRATCH.some((one) => isBelow(path, one)) || /^\/dev\/(?:fd\/|pts\/|zero$|full$|random$|urandom$|tcp\/|udp\/)/.test(path))
    return undefined
  if (CRON.some((one) => isBelow(path, one))) return isBelow(path, '/var/log') ? 'it changes logs' : 'it writes what runs by itself'
  if (isBelow(path, '/usr/local')) return undefined
  if (SYSTEM.some((one) => isBelow(path, one) && !isBelow(path, '/run/user'))) return 'it writes to a folder of the system'
  if (/\/\.git\/(?:hooks|config|info\/attributes|modules\/.*\/(?:hooks|config))(?:\/|$)/.test(path))
    return 'it writes what git runs by itself'
  if (/\/(?:\.mulligan(?:\/|$)|mulligan\.json$)/.test(path)) return 'it writes settings that are loaded as code'
  const inHome = homesOf(home).find((one) => isBelow(path, one))
  if (inHome === undefined) {
    const other = /^\/(?:home|Users)\/[^/]+/.exec(path)?.[0]
    return other === undefined ? undefined : guardedInHome(path.slice(other.length + 1))
  }
  return guardedInHome(path.slice(inHome.length + 1))
}

const homesOf = (home: string): string[] => [home, '/root']

const guardedInHome = (rest: string): string | undefined =>
  RC.test(rest) || HOME_PLACES.some((one) => isBelow(`/${rest}`, `/${one}`))
    ? 'it writes what is run or trusted at the next login'
    : undefined
