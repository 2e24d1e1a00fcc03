/** Builds a seccomp filter that refuses system calls which namespaces and mounts do not block. All other calls are allowed. Pure. */
import type { User } from '../user.ts'

/** Calls that fail with EPERM. Each name is followed by its number on x86-64 and on arm64, or `-` if there is none. */
const REFUSED = `
  mount 165 40   umount2 166 39   pivot_root 155 41   chroot 161 51   quotactl 179 60   swapon 167 224   swapoff 168 225
  open_by_handle_at 304 265   fanotify_init 300 262   setns 308 268
  bpf 321 280   perf_event_open 298 241   userfaultfd 323 282   kexec_load 246 104   kexec_file_load 320 294
  init_module 175 105   finit_module 313 273   delete_module 176 106   syslog 103 116   acct 163 89   reboot 169 142
  iopl 172 -   ioperm 173 -   uselib 134 -   _sysctl 156 -   sysfs 139 -   lookup_dcookie 212 18   nfsservctl 180 42   vhangup 153 58
  add_key 248 217   request_key 249 218   keyctl 250 219
  settimeofday 164 170   clock_settime 227 112   clock_adjtime 305 266   sethostname 170 161   setdomainname 171 162`

/**
 * Calls that appear not to exist, so that programs fall back to an older one: `clone3` and `openat2` hide their flags from a
 * filter, the others have no use in a sandbox.
 */
const ABSENT = `
  clone3 435 435   openat2 437 437   io_uring_setup 425 425   io_uring_enter 426 426   io_uring_register 427 427   quotactl_fd 443 443
  open_tree 428 428   open_tree_attr 467 467   move_mount 429 429   fsopen 430 430   fsconfig 431 431   fsmount 432 432   fspick 433 433
  mount_setattr 442 442`

/** Calls that are allowed depending on their arguments. */
const CHECKED = `
  unshare 272 97   clone 56 220   socket 41 198   socketpair 53 199   ioctl 16 29
  open 2 -   creat 85 -   openat 257 56   mknod 133 -   mknodat 259 33   chmod 90 -   fchmod 91 52   fchmodat 268 53   fchmodat2 452 452`

type Numbers = Readonly<Record<string, number | undefined>>

const numbersIn = (table: string, column: 2 | 3): Numbers =>
  Object.fromEntries(
    Array.from(table.matchAll(/(\w+) (\S+) (\S+)/g), (row) => [row[1], row[column] === '-' ? undefined : Number(row[column])]),
  )

/** AUDIT_ARCH_*, and the first call number of a second ABI (x32). */
const architecture = (audit: number, column: 2 | 3, otherAbi?: number) => ({
  audit,
  otherAbi,
  column,
  numbers: numbersIn(REFUSED + ABSENT + CHECKED, column),
})

export const ARCHITECTURES: Readonly<Record<string, ReturnType<typeof architecture>>> = {
  x64: architecture(0xc000003e, 2, 0x40000000),
  arm64: architecture(0xc00000b7, 3),
}

const [EPERM, ENOSYS, EPROTONOSUPPORT, EAFNOSUPPORT] = [1, 38, 93, 97]
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NAMESPACES = 0x7e020000
const NEWTIME = 0x80
const [SOCK_TYPE, SOCK_DGRAM] = [0xf, 2]
const AF = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const
const NETLINK_ROUTE = 0
/** Both inject characters into the terminal that a command was started from. */
const [TIOCSTI, TIOCLINUX] = [0x5412, 0x541c]
const [SETUID, SETGID] = [0o4000, 0o2000]
/** The mode argument is used only with one of these flags: O_CREAT, O_TMPFILE. */
const CREATES = 0x400040

/** Classic BPF: `struct sock_filter` as code, value, and the number of steps to skip if a comparison is true or false. */
type Instruction = readonly [code: number, value: number, yes?: number, no?: number]

/** Offsets in `struct seccomp_data`; for an argument, its low half. */
const [NR, ARCH] = [0, 4]
const argument = (index: number): number => 16 + 8 * index

export const ALLOW = 0x7fff0000
export const KILL = 0x80000000
/** The call is not made and fails with this error number. */
export const errno = (number: number): number => 0x00050000 | number

export const load = (offset: number): Instruction => [0x20, offset] // BPF_LD | BPF_W | BPF_ABS
const and = (value: number): Instruction => [0x54, value] // BPF_ALU | BPF_AND | BPF_K
const give = (action: number): Instruction => [0x06, action] // BPF_RET | BPF_K
const fail = (number: number): Instruction => give(errno(number))

/** Runs the steps if the loaded value equals this one, and skips them otherwise. */
export const when = (value: number, steps: readonly Instruction[]): readonly Instruction[] => [[0x15, value, 0, steps.length], ...steps] // BPF_JEQ
const unless = (value: number, steps: readonly Instruction[]): readonly Instruction[] => [[0x15, value, steps.length], ...steps]
const whenAtLeast = (value: number, steps: readonly Instruction[]): readonly Instruction[] => [[0x35, value, 0, steps.length], ...steps] // BPF_JGE

/** Encodes a `struct sock_filter[]`. @throws RangeError for a jump that is too far: offsets are one byte */
export function assemble(steps: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(steps.length * 8))
  for (const [at, [code, value, yes = 0, no = 0]] of steps.entries()) {
    if (yes + no > 255) throw new RangeError(`a jump over ${yes + no} steps is too far`)
    view.setUint16(at * 8, code, true)
    view.setUint8(at * 8 + 2, yes)
    view.setUint8(at * 8 + 3, no)
    view.setUint32(at * 8 + 4, value >>> 0, true)
  }
  return new Uint8Array(view.buffer)
}

export interface FilterOptions {
  /**
   * False if a socket address could be the host's, which a filter can't see. With the host's network this applies to abstract
   * sockets (D-Bus, X11, container runtimes), and in a workspace without an overlay to sockets in the workspace.
   */
  readonly unixSockets: boolean
  readonly onHost: User['onHost']
}

/** @returns undefined for an unknown architecture */
export function seccompFilter({ unixSockets, onHost }: FilterOptions, arch: string = process.arch): Uint8Array | undefined {
  const known = Object.hasOwn(ARCHITECTURES, arch) ? ARCHITECTURES[arch] : undefined
  if (!known) return undefined
  const { audit, otherAbi, numbers, column } = known
  const calls = (names: readonly string[], rule: readonly Instruction[]) =>
    names.flatMap((name) => (numbers[name] === undefined ? [] : when(numbers[name], rule)))
  const each = (table: string, error: number) => calls(Object.keys(numbersIn(table, column)), [fail(error)])
  // A setuid program left in the workspace gives every host user the rights of its owner, possibly root. Shared folders need the setgid bit.
  const mode = (at: number) => noneOf(at, onHost === 'root' ? SETUID | SETGID : SETUID)
  return assemble([
    load(ARCH),
    // Another architecture has different call numbers, so 32-bit programs are killed here.
    ...unless(audit, [give(KILL)]),
    load(NR),
    ...(otherAbi === undefined ? [] : whenAtLeast(otherAbi, [fail(ENOSYS)])),
    ...calls(['openat'], [...onlyWhenCreating(2), ...mode(3)]),
    ...calls(['open'], [...onlyWhenCreating(1), ...mode(2)]),
    ...calls(['creat', 'mknod', 'chmod', 'fchmod'], mode(1)),
    ...calls(['mknodat', 'fchmodat', 'fchmodat2'], mode(2)),
    ...each(REFUSED, EPERM),
    ...each(ABSENT, ENOSYS),
    ...calls(['clone'], noneOf(0, NAMESPACES)),
    ...calls(['unshare'], noneOf(0, NAMESPACES | NEWTIME)),
    ...calls(['socket'], sockets(unixSockets)),
    ...calls(['socketpair'], [load(argument(0)), ...when(AF.unix, pairs(unixSockets)), fail(EAFNOSUPPORT)]),
    ...calls(['ioctl'], [load(argument(1)), ...[TIOCSTI, TIOCLINUX].flatMap((request) => when(request, [fail(EPERM)])), give(ALLOW)]),
    give(ALLOW),
  ])
}

const onlyWhenCreating = (at: number): readonly Instruction[] => [load(argument(at)), and(CREATES), ...when(0, [give(ALLOW)])]
/** Refuses an argument with any of these bits set. */
const noneOf = (at: number, bits: number): readonly Instruction[] => [load(argument(at)), and(bits), ...when(0, [give(ALLOW)]), fail(EPERM)]

/** One end of a datagram socket pair can also send to any other address. */
const pairs = (unix: boolean): readonly Instruction[] =>
  unix ? [give(ALLOW)] : [load(argument(1)), and(SOCK_TYPE), ...when(SOCK_DGRAM, [fail(EAFNOSUPPORT)]), give(ALLOW)]

/** AF_VSOCK reaches the hypervisor whatever the network namespace. */
const sockets = (unix: boolean): readonly Instruction[] => [
  load(argument(0)),
  ...[AF.inet, AF.inet6, ...(unix ? [AF.unix] : [])].flatMap((family) => when(family, [give(ALLOW)])),
  ...when(AF.netlink, [load(argument(2)), ...when(NETLINK_ROUTE, [give(ALLOW)]), fail(EPROTONOSUPPORT)]),
  fail(EAFNOSUPPORT),
]
