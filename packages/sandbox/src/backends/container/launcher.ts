/**
 * Builds the first program of a container. It switches to the user that commands should run as, activates the same system call
 * filter as bubblewrap, and turns into the worker's shell.
 *
 * Engines can do neither. A workspace that belongs to root can only be written by the host's root, which no engine maps to another
 * number, so commands would be uid 0. The engines' filters differ from version to version and accept no rule about a file's mode:
 * `chmod 4755` would leave a program on the host that makes anyone who starts it root.
 *
 * It consists of a few system calls, generated here as a file of a few kilobytes without any library, since an image can only be
 * relied on to have a shell. The calls' results are not checked: their combined effect is read from the inside (`probe.ts`). Pure.
 */

import { seccompFilter } from '../../seccomp/filter.ts'
import type { User } from '../../user.ts'

/** Its path in a container. */
export const LAUNCHER = '/.sandbox-launcher'

export interface LauncherOptions {
  /** The architecture in Node's notation. */
  readonly arch: string
  readonly user: User
  /** Whether the container's uid 0 must be mapped to the user's. */
  readonly asRoot: boolean
  readonly argv: readonly string[]
  readonly env: readonly string[]
}

const NAMES = { x86_64: 'x64', amd64: 'x64', aarch64: 'arm64', arm64: 'arm64' } as const

/** Converts an architecture name: Docker says `x86_64`, Podman `amd64`. @returns undefined if it is not supported */
export const archOf = (architecture: string): string | undefined =>
  Object.hasOwn(NAMES, architecture) ? NAMES[architecture as keyof typeof NAMES] : undefined

/** ELF machine numbers, encoders, and the index of the call number in {@link CALLS}. */
const MACHINES = {
  x64: { machine: 62, encode: x64, column: 0 },
  arm64: { machine: 183, encode: arm64, column: 1 },
} as const

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
const [AT_FDCWD, O_WRONLY] = [-100, 1]
const [PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS] = [22, 24, 38]
const SECCOMP_MODE_FILTER = 2
const CAPABILITIES = 64
/** The descriptor that `openat` returns when only 0, 1 and 2 are open. */
const NEXT_FD = 3

type Call = readonly [name: keyof typeof CALLS, ...args: readonly number[]]

/** @throws Error for an architecture not returned by {@link archOf} */
export function launcher({ arch, user, asRoot, argv, env }: LauncherOptions): Uint8Array {
  // Containers have their own abstract unix sockets, whatever their network.
  const filter = seccompFilter({ unixSockets: true, onHost: asRoot ? 'root' : user.onHost }, arch)
  if (!filter || (arch !== 'x64' && arch !== 'arm64')) throw new Error(`no launcher for ${arch}`)
  const { machine, encode, column } = MACHINES[arch]

  const build = (data: Data): readonly Call[] => {
    const write = (path: string, text: string): readonly Call[] => [
      ['close', NEXT_FD],
      ['openat', AT_FDCWD, data.text(path), O_WRONLY],
      ['write', NEXT_FD, data.text(text), Buffer.byteLength(text)],
      ['close', NEXT_FD],
    ]
    const become = (): readonly Call[] => [
      ['unshare', CLONE_NEWUSER],
      ...write('/proc/self/setgroups', 'deny'),
      ...write('/proc/self/uid_map', `${user.uid} 0 1`),
      ...write('/proc/self/gid_map', `${user.gid} 0 1`),
    ]
    return [
      ...(asRoot ? become() : []),
      // A new user namespace starts with all capabilities; a process that is not uid 0 in it loses them when it executes another program.
      ...Array.from({ length: CAPABILITIES }, (_, at): Call => ['prctl', PR_CAPBSET_DROP, at]),
      ['prctl', PR_SET_NO_NEW_PRIVS, 1],
      ['prctl', PR_SET_SECCOMP, SECCOMP_MODE_FILTER, data.program(filter)],
      ['execve', data.text(argv[0] ?? ''), data.list(argv), data.list(env)],
      ['exit_group', 127],
    ]
  }
  const code = (base: number) => {
    const data = createData(base)
    const bytes = build(data).flatMap(([name, ...args]) => encode(CALLS[name][column], args))
    return { bytes, data: data.bytes() }
  }
  // Each call has the same size whatever its arguments, so one build shows where the data begins.
  const start = aligned(HEADER + code(BASE).bytes.length)
  const { bytes, data } = code(BASE + start)
  const file = Buffer.alloc(start + data.length)
  file.set(bytes, HEADER)
  file.set(data, start)
  return withHeader(file, machine)
}

/** The file's load address, and the offset of its first instruction. */
const BASE = 0x400000
const HEADER = 0x78
const aligned = (size: number): number => Math.ceil(size / 8) * 8

type Data = ReturnType<typeof createData>

/** Collects the data that calls point to: `text`, `list` and `program` (a `struct sock_fprog`) each return an address. */
function createData(base: number) {
  const parts: Buffer[] = []
  let size = 0
  const add = (bytes: Uint8Array): number => {
    const part = Buffer.alloc(aligned(bytes.length))
    part.set(bytes)
    parts.push(part)
    size += part.length
    return base + size - part.length
  }
  const words = (values: readonly number[]): number => add(new Uint8Array(values.flatMap((value) => bytesOf(value, 8))))
  const text = (value: string): number => add(Buffer.from(`${value}\0`))
  return {
    text,
    list: (texts: readonly string[]): number => words([...texts.map(text), 0]),
    program: (filter: Uint8Array): number => words([filter.length / 8, add(filter)]),
    bytes: () => Buffer.concat(parts),
  }
}

/** Adds an ELF header with one readable and executable segment. */
function withHeader(file: Buffer, machine: number): Uint8Array {
  const [ET_EXEC, PROGRAM_HEADERS, PT_LOAD, READ_EXECUTE, size] = [2, 0x40, 1, 5, file.length]
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1], 0)
  // Fields by offset. Each is written over the unused end of the one before.
  const fields = { 16: ET_EXEC, 18: machine, 20: 1, 24: BASE + HEADER, 32: PROGRAM_HEADERS, 52: 0x40, 54: 0x38, 56: 1 }
  const segment = { 64: PT_LOAD, 68: READ_EXECUTE, 80: BASE, 88: BASE, 96: size, 104: size, 112: 0x10000 }
  for (const [at, value] of Object.entries({ ...fields, ...segment })) file.writeUInt32LE(value, Number(at))
  return file
}

/** Encodes a number as little-endian bytes. */
const bytesOf = (value: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => Number((BigInt.asUintN(64, BigInt(value)) >> BigInt(8 * at)) & 0xffn))

/** 64-bit `mov` into rdi, rsi, rdx, r10, r8, r9; the call number into eax; `syscall`. */
function x64(number: number, args: readonly number[]): readonly number[] {
  const moves = [0x48bf, 0x48be, 0x48ba, 0x49ba, 0x49b8, 0x49b9]
  return [...moves.flatMap((move, at) => [move >> 8, move & 0xff, ...bytesOf(args[at] ?? 0, 8)]), 0xb8, ...bytesOf(number, 4), 0x0f, 0x05]
}

/** `movz` and three `movk` each for x0 to x5 and for the call number in x8; `svc`. */
function arm64(number: number, args: readonly number[]): readonly number[] {
  const move = (register: number, value: number) =>
    [0, 1, 2, 3].map((at) => {
      const [low = 0, high = 0] = bytesOf(value, 8).slice(2 * at)
      return ((at === 0 ? 0xd2800000 : 0xf2800000) | (at << 21) | (((high << 8) | low) << 5) | register) >>> 0
    })
  const words = [...[0, 1, 2, 3, 4, 5].flatMap((at) => move(at, args[at] ?? 0)), ...move(8, number), 0xd4000001]
  return words.flatMap((word) => bytesOf(word, 4))
}
