/**
 * The same refusals as in bubblewrap, in the words of container engines. Their own profiles differ between versions: Docker's
 * lets AF_VSOCK through, Podman's also keys and new user namespaces. Pure.
 */
import { ABSENT, NAMESPACES, NEWTIME, REFUSED } from '../../seccomp/filter.ts'

/** Docker says `x86_64`, Podman `amd64`. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: 'SCMP_ARCH_X86_64',
  amd64: 'SCMP_ARCH_X86_64',
  aarch64: 'SCMP_ARCH_AARCH64',
  arm64: 'SCMP_ARCH_AARCH64',
}

const EPERM = 1
const ENOSYS = 38
const EPROTONOSUPPORT = 93
const EAFNOSUPPORT = 97

const AF_INET = 2
const AF_NETLINK = 16
/** Below netlink: all but unix, inet, inet6. */
const ODD_FAMILIES = [3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15]
const NETLINK_ROUTE = 0
const TERMINAL_INPUT = [0x5412, 0x541c]
const INT = 0xffffffff

interface Argument {
  readonly index: number
  readonly value: number
  readonly valueTwo?: number
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_NE' | 'SCMP_CMP_GE' | 'SCMP_CMP_MASKED_EQ'
}

/**
 * @param architecture as the engine tells it
 * @returns undefined for one that is not known here: the engine's own profile has to do
 */
export function seccompProfile(architecture: string): string | undefined {
  const known = Object.hasOwn(ARCHITECTURES, architecture) ? ARCHITECTURES[architecture] : undefined
  if (known === undefined) return undefined
  const refuse = (names: readonly string[], errnoRet: number, ...args: readonly Argument[]) => ({
    names,
    action: 'SCMP_ACT_ERRNO',
    errnoRet,
    args,
  })
  // An argument of 64 bits of which the kernel looks at 32.
  const low = (index: number, value: number): Argument => ({ index, value: INT, valueTwo: value, op: 'SCMP_CMP_MASKED_EQ' })
  const hasBit = (bit: number): Argument => ({ index: 0, value: bit, valueTwo: bit, op: 'SCMP_CMP_MASKED_EQ' })
  return JSON.stringify({
    defaultAction: 'SCMP_ACT_ALLOW',
    // Programs of another one, 32-bit and x32, are killed.
    architectures: [known],
    syscalls: [
      refuse(REFUSED, EPERM),
      refuse(ABSENT, ENOSYS),
      ...bits(NAMESPACES).map((bit) => refuse(['clone'], EPERM, hasBit(bit))),
      ...bits(NAMESPACES | NEWTIME).map((bit) => refuse(['unshare'], EPERM, hasBit(bit))),
      ...ODD_FAMILIES.map((family) => refuse(['socket'], EAFNOSUPPORT, low(0, family))),
      refuse(['socket'], EAFNOSUPPORT, { index: 0, value: AF_NETLINK + 1, op: 'SCMP_CMP_GE' }),
      refuse(['socket'], EPROTONOSUPPORT, low(0, AF_NETLINK), { index: 2, value: NETLINK_ROUTE, op: 'SCMP_CMP_NE' }),
      refuse(['socketpair'], EAFNOSUPPORT, { index: 0, value: AF_INET, op: 'SCMP_CMP_GE' }),
      ...TERMINAL_INPUT.map((asked) => refuse(['ioctl'], EPERM, low(1, asked))),
    ],
  })
}

const bits = (mask: number): readonly number[] => Array.from({ length: 31 }, (_, at) => 2 ** at).filter((bit) => (mask & bit) !== 0)
