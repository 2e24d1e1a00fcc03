/** A view in the words of bubblewrap. Pure. */
import type { Launch } from '../../backend.ts'
import type { User } from '../../user.ts'
import type { View } from '../../view/view.ts'
import type { RootOnly } from './root-only-proc.ts'

export interface Walls {
  readonly view: View
  readonly user: User
  /** Whether that of whoever starts bubblewrap is kept: the host's, or the sandbox's own. */
  readonly keepsNetwork: boolean
  /** Nothing, where commands are not root to the host: the kernel keeps them off. */
  readonly proc: RootOnly
  /** Bytes of `/dev/shm`. */
  readonly shared: number
  readonly hasFilter: boolean
}

/** Numbers of the descriptors that bubblewrap is started with, after stdin, stdout and stderr. */
export const STATUS_FD = 3
/** Its options: in a command line every user of the host could read the environment of a command, and the command the paths of the host. */
export const ARGS_FD = 4
export const FILTER_FD = 5

/** The same for every command. */
export function wallArgs({ view, user, keepsNetwork, proc, shared, hasFilter }: Walls): readonly string[] {
  return [
    ...['--unshare-all', '--unshare-user', ...(keepsNetwork ? ['--share-net'] : [])],
    ...['--uid', String(user.uid), '--gid', String(user.gid), '--cap-drop', 'ALL'],
    ...['--hostname', 'sandbox', '--new-session', '--die-with-parent'],
    ...['--json-status-fd', String(STATUS_FD), ...(hasFilter ? ['--seccomp', String(FILTER_FD)] : [])],
    ...['--proc', '/proc'],
    ...proc.folders.flatMap((path) => ['--ro-bind', path, path]),
    ...proc.files.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...['--dev', '/dev', '--size', String(shared), '--perms', '1777', '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--dir', '/run', '--dir', '/var'],
    ...view.links.flatMap(({ path, to }) => ['--symlink', to, path]),
    ...view.mounts.flatMap(({ source, target, mode }) => [mode === 'read-only' ? '--ro-bind' : '--bind', source, target]),
    // Where nothing is mounted: a file left there would be gone with the command, and take memory until then.
    ...['--remount-ro', '/', '--clearenv'],
  ]
}

export const commandArgs = ({ cwd, env }: Pick<Launch, 'cwd' | 'env'>): readonly string[] => [
  ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ...['--chdir', cwd],
]
