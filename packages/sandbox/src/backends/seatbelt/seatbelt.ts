/**
 * Runs commands on macOS with sandbox-exec and a generated profile per sandbox. Written from Apple's documentation and not yet
 * tested on a Mac.
 */
import { existsSync } from 'node:fs'
import { realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Backend, Enforcement, Launch, OpenBackend } from '../../backend.ts'
import { SandboxError } from '../../command.ts'
import { words } from '../../paths.ts'
import type { Mount, Network, View } from '../../view/view.ts'
import { none } from '../none/none.ts'

const PROGRAM = '/usr/bin/sandbox-exec'

export const seatbelt: Backend = {
  name: 'seatbelt',
  open: async (request) => {
    if (process.platform !== 'darwin') throw new SandboxError({ message: 'seatbelt needs macOS', remedy: 'Set sandbox.backend to auto.' })
    if (!existsSync(PROGRAM))
      throw new SandboxError({ message: `${PROGRAM} does not exist`, remedy: 'Set sandbox.backend to docker or podman.' })
    const view = await inPlace(request.view)
    const profile = join(dirname(view.homeFolder), 'seatbelt.sb')
    await writeFile(profile, seatbeltProfile(view, request.network))
    // Processes, their exit and their memory are handled as for unsandboxed host processes.
    const host = await none.open({ ...request, view })
    const launch = ({ argv, ...rest }: Launch) => host.launch({ ...rest, argv: [PROGRAM, '-f', profile, ...argv] })
    const backend: OpenBackend = {
      name: 'seatbelt',
      enforces: enforcement(host.enforces, request.network),
      // The profile names protected paths whether or not they exist.
      view: { ...view, absent: [] },
      launch,
      beside: (other) => seatbelt.open({ ...request, view: other, network: 'none' }),
      close: host.close,
    }
    try {
      await probe(backend, view)
    } catch (error) {
      await host.close()
      throw error
    }
    return backend
  },
}

/** Paths can't be shown elsewhere, so home and tmp are set through environment variables. */
async function inPlace(view: View): Promise<View> {
  const [homeFolder, tmpFolder] = [await realpath(view.homeFolder), await realpath(view.tmpFolder)]
  const folders = [homeFolder, tmpFolder].map((path) => ({ source: path, target: path, mode: 'read-write' as const }))
  const shown = view.mounts.map((mount) => (mount.orItself ? { ...mount, source: mount.target } : mount))
  const mounts = [...shown.filter(({ target }) => target !== view.home && target !== '/tmp'), ...folders]
  return { ...view, home: homeFolder, homeFolder, tmpFolder, mounts, env: { ...view.env, HOME: homeFolder, TMPDIR: tmpFolder } }
}

const byProfile = { hold: 'partial', by: 'a sandbox-exec profile, not tested on a Mac' } as const

const enforcement = (host: Enforcement, network: 'none' | 'bridge'): Enforcement => ({
  ...host,
  files: byProfile,
  network: network === 'none' ? byProfile : { hold: 'none', by: 'set to bridge' },
})

/** Tests the profile: if it does not parse, all commands fail; if it has no effect, the last of these is allowed. */
async function probe({ launch }: OpenBackend, view: View): Promise<void> {
  const outside = join(dirname(view.homeFolder), 'outside')
  const script = 'echo x > "$1" && ! (echo x > "$2") 2>/dev/null'
  const argv = ['/bin/sh', '-c', script, 'sh', join(view.tmpFolder, 'inside'), outside]
  const { stderr, exited, kill } = await launch({ argv, cwd: view.workspace, env: view.env, stdin: undefined })
  const [says, { exitCode }] = await Promise.all([text(stderr), exited])
  await kill()
  if (existsSync(outside)) throw new SandboxError({ message: 'sandbox-exec lets commands write outside of their folders' })
  if (exitCode !== 0) throw new SandboxError({ message: `sandbox-exec does not run a command: ${says.trim() || `exit code ${exitCode}`}` })
}

type ProfileView = Pick<View, 'workspace' | 'home' | 'homeFolder' | 'tmpFolder' | 'mounts' | 'absent'>

/** The system: programs, libraries, frameworks, time zones, certificates. */
const READABLE = words(`
  /bin /sbin /usr /System /Library/Apple /Library/Developer /Library/Frameworks /Library/Java /Library/Preferences/Logging
  /Applications/Xcode.app /opt/homebrew /private/etc/ssl /private/var/db/dyld /private/var/db/timezone /private/var/select`)
const READABLE_FILES = words(`
  / /private/etc/hosts /private/etc/localtime /private/etc/passwd /private/etc/protocols /private/etc/resolv.conf /private/etc/services
  /private/etc/shells /dev/autofs_nowait /dev/fd /dev/random /dev/urandom`)
/** `/etc` and similar folders are links on a Mac, and their targets are listed too. */
const LINKS = words('/etc /tmp /var /private /private/etc /private/var /private/var/folders')
const DEVICES = words('/dev/null /dev/zero /dev/dtracehelper /dev/stdin /dev/stdout /dev/stderr')
/** Name lookup, notifications and the log, but not the keychain, the pasteboard, the launcher or Apple events. */
const SERVICES = words(`
  com.apple.system.logger com.apple.system.notification_center com.apple.system.opendirectoryd.libinfo
  com.apple.system.opendirectoryd.membership com.apple.logd com.apple.diagnosticd`)
const NETWORK_SERVICES = words('com.apple.dnssd.service com.apple.SystemConfiguration.configd com.apple.trustd.agent')

/**
 * Writes a sandbox-exec profile of what commands may do. The last matching rule decides.
 *
 * @param view must contain real paths: `/private/tmp`, not `/tmp`. Nothing can be shown at a path other than its own
 */
export function seatbeltProfile(view: ProfileView, network: Network): string {
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

/** Where bubblewrap would show something else (an empty file over a credential), nothing is shown here. */
function folderRules({ source, target, mode }: Mount): readonly string[] {
  const path = [subpath(target)]
  if (source !== target) return [rule('deny', 'file-read* file-write*', path)]
  return mode === 'read-write'
    ? [rule('allow', 'file-read* file-write*', path)]
    : [rule('allow', 'file-read*', path), rule('deny', 'file-write*', path)]
}

/** Returns the parent folders, which are looked up on the way to a file without being listed. */
const ancestors = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths.flatMap((path) => Array.from(path.slice(1).matchAll(/\//g), ({ index }) => path.slice(0, index + 1))))].sort()

const rule = (decision: 'allow' | 'deny', operations: string, filters: readonly string[]): string =>
  `(${decision} ${operations} ${filters.join(' ')})`
const subpath = (path: string): string => `(subpath ${quote(path)})`
const literal = (path: string): string => `(literal ${quote(path)})`
const globalName = (name: string): string => `(global-name ${quote(name)})`
const quote = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
