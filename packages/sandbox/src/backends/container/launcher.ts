/**
 * The first program of a container: it becomes the user that commands were promised to run as, puts bubblewrap's own filter of
 * system calls in force, and turns into the worker's shell.
 *
 * Engines can do neither. A workspace of root's can only be written by the host's root, which no engine shows under another
 * number: commands would be uid 0. And their filters differ from version to version, and take no rule about a file's mode
 * along: `chmod 4755` would leave a program on the host that makes root of whoever starts it.
 *
 * It is a handful of system calls, made here as a file of a few kilobytes without any library, since an image is only known to
 * have a shell. No call is looked at: what came of all of them is read from the inside (`probe.ts`). Pure.
 */

import { seccompFilter } from '../../seccomp/filter.ts'
import type { User } from '../../user.ts'

/** Where it is shown in a container. */
export const LAUNCHER = '/.sandbox-launcher'

export interface LauncherOptions {
  /** As Node calls it. */
  readonly arch: string
  readonly user: User
  /** Whether the container's uid 0 has to be shown as the user's. */
  readonly asRoot: boolean
  readonly argv: readonly string[]
  readonly env: readonly string[]
}

const NAMES = { x86_64: 'x64', amd64: 'x64', aarch64: 'arm64', arm64: 'arm64' } as const

/** Docker says `x86_64`, Podman `amd64`. @returns undefined for one that is not known here */
export const archOf = (architecture: string): string | undefined =>
  Object.hasOwn(NAMES, architecture) ? NAMES[architecture as keyof typeof NAMES] : undefined

/** By x86-64 and arm64. */
const CALLS = {
  write: [1, 64],
  close: [3, 57],
  execve: [59, 221],
  prctl: [157, 167],
  exit_group: [231, 94],
  openat: [257, 56],
  unshare: [272, 97],
} as const

const CLONE_NEWUSER = 0x10000000
const O_WRONLY = 1
const [PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS] = [22, 24, 38]
const SECCOMP_MODE_FILTER = 2
const CAPABILITIES = 64
/** What `openat` gives when 0, 1 and 2 are open and nothing else. */
const NEXT_FD = 3

type Arg = number | bigint
interface Call {
  readonly name: keyof typeof CALLS
  readonly args: readonly Arg[]
}

/** @throws Error for an architecture that {@link archOf} does not give */
export function launcher({ arch, user, asRoot, argv, env }: LauncherOptions): Uint8Array {
  // Containers have abstract unix sockets of their own, whatever their network.
  const filter = seccompFilter({ unixSockets: true, onHost: asRoot ? 'root' : user.onHost }, arch)
  const encode = arch === 'x64' ? x64 : arch === 'arm64' ? arm64 : undefined
  if (!filter || !encode) throw new Error(`no launcher for ${arch}`)

  const build = (data: Data): readonly Call[] => {
    const write = (path: string, text: string): readonly Call[] => [
      { name: 'close', args: [NEXT_FD] },
      { name: 'openat', args: [-100, data.text(path), O_WRONLY] },
      { name: 'write', args: [NEXT_FD, data.text(text), Buffer.byteLength(text)] },
      { name: 'close', args: [NEXT_FD] },
    ]
    return [
      ...(asRoot
        ? [
            { name: 'unshare', args: [CLONE_NEWUSER] } as const,
            ...write('/proc/self/setgroups', 'deny'),
            ...write('/proc/self/uid_map', `${user.uid} 0 1`),
            ...write('/proc/self/gid_map', `${user.gid} 0 1`),
          ]
        : []),
      // A new user namespace begins with all of them; what is not a uid 0 in it keeps none when it becomes another program.
      ...Array.from({ length: CAPABILITIES }, (_, at): Call => ({ name: 'prctl', args: [PR_CAPBSET_DROP, at] })),
      { name: 'prctl', args: [PR_SET_NO_NEW_PRIVS, 1] },
      { name: 'prctl', args: [PR_SET_SECCOMP, SECCOMP_MODE_FILTER, data.program(filter)] },
      { name: 'execve', args: [data.text(argv[0] ?? ''), data.list(argv), data.list(env)] },
      { name: 'exit_group', args: [127] },
    ]
  }
  const column = arch === 'x64' ? 0 : 1
  const code = (base: bigint) => {
    const data = createData(base)
    const bytes = build(data).flatMap(({ name, args }) => encode(CALLS[name][column], args))
    return { bytes, data: data.bytes() }
  }
  // Every call takes the same room, whatever its arguments: where the data begins is known once it was built.
  const { bytes, data } = code(BASE + BigInt(aligned(HEADER + code(BASE).bytes.length)))
  const file = Buffer.alloc(aligned(HEADER + bytes.length) + data.length)
  file.set(bytes, HEADER)
  file.set(data, aligned(HEADER + bytes.length))
  return withHeader(file, arch)
}

/** Where the file is in memory, and its first instruction in the file. */
const BASE = 0x400000n
const HEADER = 0x78
const aligned = (size: number): number => Math.ceil(size / 8) * 8

interface Data {
  /** Each gives an address. */
  readonly text: (text: string) => bigint
  readonly list: (texts: readonly string[]) => bigint
  /** `struct sock_fprog`. */
  readonly program: (filter: Uint8Array) => bigint
  readonly bytes: () => Buffer
}

function createData(base: bigint): Data {
  const parts: Buffer[] = []
  let size = 0
  const add = (bytes: Uint8Array): bigint => {
    const part = Buffer.alloc(aligned(bytes.length))
    part.set(bytes)
    parts.push(part)
    size += part.length
    return base + BigInt(size - part.length)
  }
  const words = (values: readonly bigint[]): bigint => {
    const bytes = Buffer.alloc(values.length * 8)
    for (const [at, value] of values.entries()) bytes.writeBigUInt64LE(value, at * 8)
    return add(bytes)
  }
  const text = (value: string): bigint => add(Buffer.from(`${value}\0`))
  return {
    text,
    list: (texts) => words([...texts.map(text), 0n]),
    program: (filter) => words([BigInt(filter.length / 8), add(filter)]),
    bytes: () => Buffer.concat(parts),
  }
}

/** ELF: one segment that is read and run. */
function withHeader(file: Buffer, arch: string): Uint8Array {
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1], 0)
  file.writeUInt16LE(2, 16) // ET_EXEC
  file.writeUInt16LE(arch === 'arm64' ? 183 : 62, 18)
  file.writeUInt32LE(1, 20)
  file.writeBigUInt64LE(BASE + BigInt(HEADER), 24)
  file.writeBigUInt64LE(0x40n, 32) // program headers
  file.writeUInt16LE(0x40, 52)
  file.writeUInt16LE(0x38, 54)
  file.writeUInt16LE(1, 56)
  file.writeUInt32LE(1, 64) // PT_LOAD
  file.writeUInt32LE(5, 68) // read, execute
  file.writeBigUInt64LE(BASE, 80)
  file.writeBigUInt64LE(BASE, 88)
  file.writeBigUInt64LE(BigInt(file.length), 96)
  file.writeBigUInt64LE(BigInt(file.length), 104)
  file.writeBigUInt64LE(0x10000n, 112)
  return file
}

/** `mov` of 64 bits into rdi, rsi, rdx, r10, r8, r9; the number into eax; `syscall`. */
function x64(number: number, args: readonly Arg[]): readonly number[] {
  const registers = [
    [0x48, 0xbf],
    [0x48, 0xbe],
    [0x48, 0xba],
    [0x49, 0xba],
    [0x49, 0xb8],
    [0x49, 0xb9],
  ] as const
  const value = (of: Arg, bytes: number) => Array.from({ length: bytes }, (_, at) => Number((unsigned(of) >> BigInt(8 * at)) & 0xffn))
  return [...registers.flatMap((register, at) => [...register, ...value(args[at] ?? 0, 8)]), 0xb8, ...value(number, 4), 0x0f, 0x05]
}

/** `movz` and three `movk` for each of x0 to x5, and for the number in x8; `svc`. */
function arm64(number: number, args: readonly Arg[]): readonly number[] {
  const move = (register: number, of: Arg) =>
    [0, 1, 2, 3].map((at) => {
      const part = Number((unsigned(of) >> BigInt(16 * at)) & 0xffffn)
      return ((at === 0 ? 0xd2800000 : 0xf2800000) | (at << 21) | (part << 5) | register) >>> 0
    })
  const words = [...[0, 1, 2, 3, 4, 5].flatMap((at) => move(at, args[at] ?? 0)), ...move(8, number), 0xd4000001]
  return words.flatMap((word) => [0, 8, 16, 24].map((shift) => (word >>> shift) & 0xff))
}

const unsigned = (value: Arg): bigint => BigInt.asUintN(64, BigInt(value))
