/** What commands may do, in the language of macOS' sandbox-exec. The last rule that fits decides. Pure. */
import type { Mount, Network, View } from '../../view/view.ts'

export interface ProfileOptions {
  /** With real paths: `/private/tmp`, not `/tmp`. Nothing can be shown at another place than its own. */
  readonly view: Pick<View, 'workspace' | 'home' | 'homeFolder' | 'tmpFolder' | 'mounts' | 'absent'>
  readonly network: Network
}

/** The system: programs, libraries, frameworks, time zones, certificates. */
const READABLE = [
  '/bin',
  '/sbin',
  '/usr',
  '/System',
  '/Library/Apple',
  '/Library/Developer',
  '/Library/Frameworks',
  '/Library/Java',
  '/Library/Preferences/Logging',
  '/Applications/Xcode.app',
  '/opt/homebrew',
  '/private/etc/ssl',
  '/private/var/db/dyld',
  '/private/var/db/timezone',
  '/private/var/select',
]
const READABLE_FILES = [
  '/',
  '/private/etc/hosts',
  '/private/etc/localtime',
  '/private/etc/passwd',
  '/private/etc/protocols',
  '/private/etc/resolv.conf',
  '/private/etc/services',
  '/private/etc/shells',
  '/dev/autofs_nowait',
  '/dev/fd',
  '/dev/random',
  '/dev/urandom',
]
/** `/etc` and the like are links on a Mac, and so is what they lead to. */
const LINKS = ['/etc', '/tmp', '/var', '/private', '/private/etc', '/private/var', '/private/var/folders']
const DEVICES = ['/dev/null', '/dev/zero', '/dev/dtracehelper', '/dev/stdin', '/dev/stdout', '/dev/stderr']
/** Look-up of names, notifications, the log: not the key chain, the pasteboard, the launcher or Apple events. */
const SERVICES = [
  'com.apple.system.logger',
  'com.apple.system.notification_center',
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.opendirectoryd.membership',
  'com.apple.logd',
  'com.apple.diagnosticd',
]
const NETWORK_SERVICES = ['com.apple.dnssd.service', 'com.apple.SystemConfiguration.configd', 'com.apple.trustd.agent']

export function seatbeltProfile({ view, network }: ProfileOptions): string {
  const folders: readonly Mount[] = [view.homeFolder, view.tmpFolder].map((path) => ({ source: path, target: path, mode: 'read-write' }))
  const shown = [...view.mounts.filter(({ target }) => target !== view.home && target !== '/tmp'), ...folders]
  const lines = [
    '(version 1)',
    '(deny default)',
    '(allow process-fork process-exec)',
    '(allow process-info* signal (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow pseudo-tty)',
    '(allow ipc-posix-sem)',
    rule('allow', 'mach-lookup', SERVICES.map(globalName)),
    rule('allow', 'file-read*', [...READABLE.map(subpath), ...[...READABLE_FILES, ...DEVICES].map(literal)]),
    rule('allow', 'file-read-metadata', [...LINKS, ...ancestors(shown.map(({ target }) => target))].map(literal)),
    rule('allow', 'file-write-data file-ioctl', DEVICES.map(literal)),
    ...shown.flatMap(folderRules),
    ...view.absent.map((path) => rule('deny', 'file-write*', [subpath(path)])),
    ...(network === 'none'
      ? []
      : [
          '(allow system-socket)',
          '(allow network-outbound (remote ip))',
          '(allow network-inbound network-bind (local ip))',
          rule('allow', 'network-outbound', [literal('/private/var/run/mDNSResponder')]),
          rule('allow', 'mach-lookup', NETWORK_SERVICES.map(globalName)),
        ]),
  ]
  return `${lines.join('\n')}\n`
}

/** Where bubblewrap would show something else (an empty file over a credential), here nothing is shown. */
function folderRules({ source, target, mode }: Mount): readonly string[] {
  const path = [subpath(target)]
  if (source !== target) return [rule('deny', 'file-read* file-write*', path)]
  return mode === 'read-write'
    ? [rule('allow', 'file-read* file-write*', path)]
    : [rule('allow', 'file-read*', path), rule('deny', 'file-write*', path)]
}

/** Each is looked up on the way to a file, without being listed. */
function ancestors(paths: readonly string[]): readonly string[] {
  const all = paths.flatMap((path) => {
    const parts = path.split('/').slice(1, -1)
    return parts.map((_, at) => `/${parts.slice(0, at + 1).join('/')}`)
  })
  return [...new Set(all)].sort()
}

const rule = (decision: 'allow' | 'deny', operations: string, filters: readonly string[]): string =>
  `(${decision} ${operations} ${filters.join(' ')})`
const subpath = (path: string): string => `(subpath ${quote(path)})`
const literal = (path: string): string => `(literal ${quote(path)})`
const globalName = (name: string): string => `(global-name ${quote(name)})`
const quote = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
