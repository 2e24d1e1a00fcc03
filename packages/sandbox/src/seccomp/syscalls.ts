/** Numbers of system calls. */

export interface Architecture {
  /** AUDIT_ARCH_* */
  readonly audit: number
  /** Where the numbers of a second ABI begin: x32. */
  readonly otherAbi?: number
  /** Undefined if the architecture does not have it. */
  readonly numbers: Readonly<Record<Name, number | undefined>>
}

/** x86-64, arm64. */
const TABLE = {
  // The file systems that a process sees.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  swapon: [167, 224],
  swapoff: [168, 225],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  // Namespaces.
  setns: [308, 268],
  unshare: [272, 97],
  clone: [56, 220],
  clone3: [435, 435],
  // The kernel itself.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  syslog: [103, 116],
  acct: [163, 89],
  reboot: [169, 142],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  uselib: [134, undefined],
  _sysctl: [156, undefined],
  sysfs: [139, undefined],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  vhangup: [153, 58],
  // Keys of the session, which no namespace divides.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // The clock and the name of the machine.
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  // Looked at by their arguments.
  open: [2, undefined],
  creat: [85, undefined],
  openat: [257, 56],
  openat2: [437, 437],
  mknod: [133, undefined],
  mknodat: [259, 33],
  chmod: [90, undefined],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
} as const satisfies Record<string, readonly [number | undefined, number | undefined]>

export type Name = keyof typeof TABLE

const column = (at: 0 | 1): Architecture['numbers'] =>
  Object.fromEntries(Object.entries(TABLE).map(([name, numbers]) => [name, numbers[at]])) as Architecture['numbers']

export const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, otherAbi: 0x40000000, numbers: column(0) },
  arm64: { audit: 0xc00000b7, numbers: column(1) },
}
