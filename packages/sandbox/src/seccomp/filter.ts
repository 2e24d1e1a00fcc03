/** What commands may not ask of the kernel: what namespaces and mounts do not hold off. Everything else goes through. */
import type { User } from '../user.ts'
import { ALLOW, ARCH, and, argument, assemble, errno, give, type Instruction, KILL, load, NR, unless, when, whenAtLeast } from './bpf.ts'
import { ARCHITECTURES, type Architecture, type Name } from './syscalls.ts'

const EPERM = 1
const ENOSYS = 38
const EPROTONOSUPPORT = 93
const EAFNOSUPPORT = 97

export const REFUSED: readonly Name[] = [
  ...([
    'mount',
    'umount2',
    'pivot_root',
    'chroot',
    'quotactl',
    'swapon',
    'swapoff',
    'open_by_handle_at',
    'fanotify_init',
    'setns',
  ] as const),
  ...(['bpf', 'perf_event_open', 'userfaultfd', 'kexec_load', 'kexec_file_load', 'init_module', 'finit_module', 'delete_module'] as const),
  ...(['syslog', 'acct', 'reboot', 'iopl', 'ioperm', 'uselib', '_sysctl', 'sysfs', 'lookup_dcookie', 'nfsservctl', 'vhangup'] as const),
  ...(['add_key', 'request_key', 'keyctl', 'settimeofday', 'clock_settime', 'clock_adjtime', 'sethostname', 'setdomainname'] as const),
]

/** Programs go another way where these do not exist: `clone3` and `openat2` hide their flags from a filter, so it has to be the older. */
export const ABSENT: readonly Name[] = [
  ...(['clone3', 'openat2', 'io_uring_setup', 'io_uring_enter', 'io_uring_register', 'quotactl_fd'] as const),
  ...(['open_tree', 'open_tree_attr', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr'] as const),
]

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
export const NAMESPACES = 0x7e020000
export const NEWTIME = 0x80

const SOCK_TYPE = 0xf
const SOCK_DGRAM = 2
const AF = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const
const NETLINK_ROUTE = 0
/** They put characters into the terminal that a command was started from. */
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c

const SETUID = 0o4000
const SETGID = 0o2000
/** Only with these is a mode looked at: O_CREAT, O_TMPFILE. */
const CREATES = 0x400040

export interface FilterOptions {
  /**
   * False where the address of one could be the host's, which a filter can't see: with the host's network abstract sockets are (D-Bus,
   * X11, container runtimes), in a workspace that is not overlaid those that lie in it.
   */
  readonly unixSockets: boolean
  readonly onHost: User['onHost']
}

/** @returns undefined for an architecture that is not known here */
export function seccompFilter(options: FilterOptions, arch: string = process.arch): Uint8Array | undefined {
  const architecture = Object.hasOwn(ARCHITECTURES, arch) ? ARCHITECTURES[arch] : undefined
  return architecture && assemble(steps(architecture, options))
}

function steps({ audit, otherAbi, numbers }: Architecture, { unixSockets, onHost }: FilterOptions): readonly Instruction[] {
  const call = (name: Name, rule: readonly Instruction[]): readonly Instruction[] => {
    const number = numbers[name]
    return number === undefined ? [] : when(number, rule)
  }
  const mode = (at: number) => modes(at, onHost === 'root' ? SETUID | SETGID : SETUID)
  const each = (names: readonly Name[], error: number) => names.flatMap((name) => call(name, [give(errno(error))]))
  return [
    load(ARCH),
    // Another architecture has other numbers: 32-bit programs end here.
    ...unless(audit, [give(KILL)]),
    load(NR),
    ...(otherAbi === undefined ? [] : whenAtLeast(otherAbi, [give(errno(ENOSYS))])),
    ...call('openat', [...onlyWhenCreating(2), ...mode(3)]),
    ...call('open', [...onlyWhenCreating(1), ...mode(2)]),
    ...['creat', 'mknod', 'chmod', 'fchmod'].flatMap((name) => call(name as Name, mode(1))),
    ...['mknodat', 'fchmodat', 'fchmodat2'].flatMap((name) => call(name as Name, mode(2))),
    ...each(REFUSED, EPERM),
    ...each(ABSENT, ENOSYS),
    ...call('clone', flags(NAMESPACES)),
    ...call('unshare', flags(NAMESPACES | NEWTIME)),
    ...call('socket', sockets(unixSockets)),
    ...call('socketpair', [load(argument(0)), ...when(AF.unix, pairs(unixSockets)), give(errno(EAFNOSUPPORT))]),
    ...call('ioctl', [load(argument(1)), ...[TIOCSTI, TIOCLINUX].flatMap((request) => when(request, [give(errno(EPERM))])), give(ALLOW)]),
    give(ALLOW),
  ]
}

/**
 * A program that runs with the rights of its owner, left in the workspace, is a way to them for every user of the host: to
 * root's, where the workspace is root's. A group's bit is needed on folders that are shared.
 */
const modes = (at: number, mask: number): readonly Instruction[] => [
  load(argument(at)),
  and(mask),
  ...when(0, [give(ALLOW)]),
  give(errno(EPERM)),
]

const onlyWhenCreating = (at: number): readonly Instruction[] => [load(argument(at)), and(CREATES), ...when(0, [give(ALLOW)])]

const flags = (mask: number): readonly Instruction[] => [load(argument(0)), and(mask), ...when(0, [give(ALLOW)]), give(errno(EPERM))]

/** One end of a pair of datagram sockets can send to any other address too. */
const pairs = (unix: boolean): readonly Instruction[] =>
  unix ? [give(ALLOW)] : [load(argument(1)), and(SOCK_TYPE), ...when(SOCK_DGRAM, [give(errno(EAFNOSUPPORT))]), give(ALLOW)]

/** AF_VSOCK talks to the hypervisor whatever the network namespace. */
function sockets(unix: boolean): readonly Instruction[] {
  const families = [AF.inet, AF.inet6, ...(unix ? [AF.unix] : [])]
  return [
    load(argument(0)),
    ...families.flatMap((family) => when(family, [give(ALLOW)])),
    ...when(AF.netlink, [load(argument(2)), ...when(NETLINK_ROUTE, [give(ALLOW)]), give(errno(EPROTONOSUPPORT))]),
    give(errno(EAFNOSUPPORT)),
  ]
}
