/** Paths as text: what they lead to, and the places whose loss cannot be made good. */
import { globMatcher } from '../../files/common/glob-match.ts'

/** Absolute paths. */
export interface WorkingFolder {
  /** Undefined where it is known only when the command runs. */
  readonly cwd: string | undefined
  readonly workspace: string
  readonly home: string
}

/** Absolute and without detours; undefined where the folder it starts in is not known. */
export function absolute(text: string, { cwd }: Pick<WorkingFolder, 'cwd'>): string | undefined {
  if (!text.startsWith('/') && cwd === undefined) return undefined
  const parts: string[] = []
  for (const part of (text.startsWith('/') ? text : `${cwd}/${text}`).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}

export const isBelow = (path: string, dir: string): boolean => path === dir || path.startsWith(dir === '/' ? '/' : `${dir}/`)

/** They and everything in them belong to the system. */
const SYSTEM = '/etc /usr /bin /sbin /lib /lib32 /lib64 /boot /dev /proc /sys /System /Library /run'.split(' ')
/** Only they as a whole. */
const TOP = '/ /var /var/lib /var/log /var/spool /opt /srv /mnt /media /home /root /Users /Applications /private /nix /snap'.split(' ')
/** Below a system folder and yet nobody's loss. */
const SCRATCH = /^\/dev\/(?:shm\/|null$|stdout$|stderr$|tty$|fd\/|pts\/|zero$|full$|u?random$|tcp\/|udp\/)/

/** Why the loss of a folder with all it holds is beyond repair; undefined where it is not. */
function vital(path: string, { home, workspace }: WorkingFolder): string | undefined {
  if (path === '/') return 'the whole file system'
  if (path === workspace) return 'the whole workspace'
  if (path === home || /^\/root$|^\/(?:home|Users)\/[^/]+$/.test(path)) return 'a home folder'
  if (isBelow(workspace, path)) return 'a folder that holds the workspace'
  if (isBelow(home, path)) return 'a folder that holds the home'
  if (path === `${workspace}/.git`) return "the repository's history"
  if (SCRATCH.test(path)) return undefined
  return TOP.includes(path) || SYSTEM.some((one) => isBelow(path, one)) ? 'a folder of the system' : undefined
}

/** Whether a pattern of the shell takes a name or an absolute path. */
export function takes(pattern: string, text: string): boolean {
  try {
    return globMatcher(pattern)(text.replace(/^\//, ''))
  } catch {
    return false
  }
}

/** The same for a word, which may be a pattern of the shell. */
export function vitalWord(text: string, place: WorkingFolder): string | undefined {
  const path = text === '' || /\s/.test(text) ? undefined : absolute(text, place)
  if (path === undefined) return undefined
  if (!/[*?[]/.test(path)) return vital(path, place)
  const [, folder = '', name = ''] = /^(.*)\/([^/]*)$/.exec(path) ?? []
  // `*`, `.[!.]*`, `[a-z]*` take all that a folder holds.
  if (/^\.*(?:\[[^\]]*\]|[*?])+$/.test(name) && name.includes('*') && !/[*?[]/.test(folder)) return vital(folder || '/', place)
  const above = (dir: string): string[] => dir.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/') || '/')
  const landmarks = [
    ...SYSTEM,
    ...TOP,
    ...above(place.home),
    ...above(place.workspace),
    `${place.workspace}/.git`,
    '/usr/bin',
    '/etc/passwd',
  ]
  return landmarks.filter((one) => takes(path, one)).map((one) => vital(one, place))[0]
}

const DISK = /^\/dev\/(?:r?disk\d|[shvx]v?d[a-z]|nvme\d|mmcblk\d|mapper\/|md\d|dm-\d|loop\d|sr\d|mem$|kmem$|port$|block\/|disk\/)/
export const isDisk = (path: string): boolean => DISK.test(path)

const AT_LOGIN =
  /^\.(?:(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login|inputrc|xinitrc|xprofile|xsession|gitconfig|vimrc|npmrc|pam_environment|[a-z_]*history)$|(?:ssh|gnupg|aws|kube|config\/fish|config\/autostart|config\/systemd|config\/git|config\/environment\.d|local\/share\/systemd|docker\/config\.json)(?:\/|$))|^Library\/LaunchAgents(?:\/|$)/

/** Why nothing should be written there; undefined where it may. */
export function guarded(path: string, { home }: WorkingFolder): string | undefined {
  if (isDisk(path)) return 'it writes to a disk'
  if (SCRATCH.test(path)) return undefined
  if (isBelow(path, '/var/log')) return 'it changes logs'
  if (['/var/spool', '/var/at'].some((one) => isBelow(path, one))) return 'it writes what runs by itself'
  if (isBelow(path, '/usr/local') || isBelow(path, '/run/user')) return undefined
  if (SYSTEM.some((one) => isBelow(path, one))) return 'it writes to a folder of the system'
  if (/\/\.git\/(?:hooks|config|info\/attributes|modules\/.*\/(?:hooks|config))(?:\/|$)/.test(path))
    return 'it writes what git runs by itself'
  if (/\/(?:\.mulligan(?:\/|$)|mulligan\.json$)/.test(path)) return 'it writes settings that are loaded as code'
  const own = [home, '/root'].find((one) => isBelow(path, one)) ?? /^\/(?:home|Users)\/[^/]+/.exec(path)?.[0]
  return own !== undefined && AT_LOGIN.test(path.slice(own.length + 1)) ? 'it writes what is run or trusted at the next login' : undefined
}
