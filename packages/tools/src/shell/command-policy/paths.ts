/** Resolves paths as text, and recognises places whose loss is irreversible. */
import { globMatcher } from '../../files/common/glob-match.ts'
import { isSecretFile } from '../../workspace/secret-files.ts'

/** Absolute paths. */
export interface WorkingFolder {
  /** Undefined if only known at run time. */
  readonly cwd: string | undefined
  readonly workspace: string
  readonly home: string
}

/** Returns an absolute, normalised path. Undefined if the path is relative and the current folder is unknown. */
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

/** System folders, protected with everything in them. */
const SYSTEM = '/etc /usr /bin /sbin /lib /lib32 /lib64 /boot /dev /proc /sys /System /Library /run'.split(' ')
/** Folders protected only as a whole. */
const TOP = '/ /var /var/lib /var/log /var/spool /opt /srv /mnt /media /home /root /Users /Applications /private /nix /snap'.split(' ')
/** Paths below a system folder that can be written or deleted without loss. */
const SCRATCH = /^\/dev\/(?:shm\/|null$|stdout$|stderr$|tty$|fd\/|pts\/|zero$|full$|u?random$|tcp\/|udp\/)/

/** Returns why losing a folder and its contents would be irreversible, or undefined if it would not be. */
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

/** True if a shell pattern matches a name or an absolute path. */
export function takes(pattern: string, text: string): boolean {
  try {
    return globMatcher(pattern)(text.replace(/^\//, ''))
  } catch {
    return false
  }
}

/** Like {@link vital}, for a word that may be a shell pattern. */
export function vitalWord(text: string, place: WorkingFolder): string | undefined {
  const path = text === '' || /\s/.test(text) ? undefined : absolute(text, place)
  if (path === undefined) return undefined
  if (!/[*?[]/.test(path)) return vital(path, place)
  const [, folder = '', name = ''] = /^(.*)\/([^/]*)$/.exec(path) ?? []
  // `*`, `.[!.]*` and `[a-z]*` match everything in a folder.
  if (/^\.*(?:\[[^\]]*\]|[*?])+$/.test(name) && name.includes('*') && !/[*?[]/.test(folder)) return vital(folder || '/', place)
  const above = (dir: string): string[] => dir.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/') || '/')
  const own = [...above(place.home), ...above(place.workspace), `${place.workspace}/.git`]
  const landmarks = [...SYSTEM, ...TOP, ...own, '/usr/bin', '/etc/passwd']
  return landmarks.filter((one) => takes(path, one)).map((one) => vital(one, place))[0]
}

const DISK = /^\/dev\/(?:r?disk\d|[shvx]v?d[a-z]|nvme\d|mmcblk\d|mapper\/|md\d|dm-\d|loop\d|sr\d|mem$|kmem$|port$|block\/|disk\/)/
const isDisk = (path: string): boolean => DISK.test(path)

const AT_LOGIN =
  /^\.(?:(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login|inputrc|xinitrc|xprofile|xsession|gitconfig|vimrc|npmrc|pam_environment|[a-z_]*history)$|(?:ssh|gnupg|aws|kube|config\/fish|config\/autostart|config\/systemd|config\/git|config\/environment\.d|local\/share\/systemd|docker\/config\.json)(?:\/|$))|^Library\/LaunchAgents(?:\/|$)/

/** Returns why a path should not be written to, or undefined if it may be. */
export function guarded(path: string, { home }: WorkingFolder): string | undefined {
  if (isDisk(path)) return 'it writes to a disk'
  if (SCRATCH.test(path)) return undefined
  if (isBelow(path, '/var/log')) return 'it changes logs'
  if (['/var/spool', '/var/at'].some((one) => isBelow(path, one))) return 'it writes what runs automatically'
  if (isBelow(path, '/usr/local') || isBelow(path, '/run/user')) return undefined
  if (SYSTEM.some((one) => isBelow(path, one))) return 'it writes to a folder of the system'
  if (/\/\.git\/(?:hooks|config|info\/attributes|modules\/.*\/(?:hooks|config))(?:\/|$)/.test(path))
    return 'it writes what git runs automatically'
  if (/\/(?:\.mulligan(?:\/|$)|mulligan\.json$)/.test(path)) return 'it writes settings that are loaded as code'
  const own = [home, '/root'].find((one) => isBelow(path, one)) ?? /^\/(?:home|Users)\/[^/]+/.exec(path)?.[0]
  return own !== undefined && AT_LOGIN.test(path.slice(own.length + 1)) ? 'it writes what is run or trusted at the next login' : undefined
}

/** System and home files that contain keys, in addition to those of {@link isSecretFile}. `~` is a home folder. */
const PLACES: readonly RegExp[] = [
  /^\/etc\/(?:g?shadow-?|sudoers|security\/opasswd|krb5\.keytab)$/,
  /^\/etc\/sudoers\.d\//,
  /^\/proc\/[^/]+\/(?:environ|mem)$/,
  /^\/(?:proc\/kcore|dev\/k?mem)$/,
  /^\/dev\/(?:r?disk\d|[shvx]v?d[a-z]|nvme\d|mmcblk\d|mapper\/|dm-\d)/,
  /^~\/\.(?:chef|databrickscfg)\/./,
  /^~\/\.config\/(?:gcloud|gh|hub|rclone|op|doctl|heroku|sops|git\/credentials|containers\/auth\.json)(?:\/|$)/,
  /^~\/\.(?:cargo|gem)\/credentials/,
  /^~\/\.local\/share\/(?:keyrings|kwalletd)(?:\/|$)/,
  /^~\/Library\/Keychains(?:\/|$)/,
  /^~\/\.(?:mozilla|config\/(?:google-chrome|chromium))\/.*(?:Cookies|Login Data|cookies\.sqlite)/,
  /^~\/\.(?:mulligan|config\/mulligan)\/.*(?:key|token|credential|secret)/i,
  // Folders that reveal their secrets when read as a whole.
  /^~\/\.(?:ssh|aws|gnupg|password-store|azure|kube|docker)$|^~\/\.config\/(?:gcloud|gh)$|^\/(?:var\/)?run\/secrets$/,
]

/**
 * True for a file or folder that contains keys.
 * @param path absolute
 */
export function isSecretPath(path: string, home: string): boolean {
  const own = [home, '/root'].find((one) => path.startsWith(`${one}/`)) ?? /^\/(?:home|Users)\/[^/]+(?=\/)/.exec(path)?.[0]
  const forms = own === undefined ? [path] : [path, `~${path.slice(own.length)}`]
  return isSecretFile(path) || forms.some((form) => PLACES.some((one) => one.test(form)))
}
