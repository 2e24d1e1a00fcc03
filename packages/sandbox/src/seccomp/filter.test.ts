import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ALLOW, ARCHITECTURES, assemble, errno, KILL, load, seccompFilter, when } from './filter.ts'

interface Call {
  readonly nr: number
  readonly arch: number
  readonly args?: readonly number[]
}

/** Emulates how the kernel runs such a program. */
function verdict(filter: Uint8Array, { nr, arch, args = [] }: Call): number {
  const program = new DataView(filter.buffer, filter.byteOffset, filter.byteLength)
  const data = new Map<number, number>([[0, nr], [4, arch], ...args.map((value, at): [number, number] => [16 + 8 * at, value >>> 0])])
  let accumulator = 0
  for (let at = 0; ; at++) {
    const [code, yes, no] = [program.getUint16(at * 8, true), program.getUint8(at * 8 + 2), program.getUint8(at * 8 + 3)]
    const k = program.getUint32(at * 8 + 4, true)
    if (code === 0x20) accumulator = data.get(k) ?? 0
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0
    else if (code === 0x15) at += accumulator === k ? yes : no
    else if (code === 0x35) at += accumulator >= k ? yes : no
    else if (code === 0x06) return k
    else throw new Error(`an instruction that is not known: ${code} at ${at}`)
  }
}

describe.each(['x64', 'arm64'])('the filter for %s', (name) => {
  const { audit, numbers } = ARCHITECTURES[name] as (typeof ARCHITECTURES)[string]
  const filter = seccompFilter({ unixSockets: true, onHost: 'same' }, name) as Uint8Array
  const bridged = seccompFilter({ unixSockets: false, onHost: 'same' }, name) as Uint8Array
  const ofRoot = seccompFilter({ unixSockets: true, onHost: 'root' }, name) as Uint8Array
  const call = (syscall: string, args: readonly number[] = [], of = filter) =>
    verdict(of, { nr: numbers[syscall] as number, arch: audit, args })

  it.each<[string, number, number]>([
    ['mount', call('mount'), errno(1)],
    ['setns', call('setns'), errno(1)],
    ['bpf', call('bpf'), errno(1)],
    ['keyctl', call('keyctl'), errno(1)],
    ['io_uring_setup', call('io_uring_setup'), errno(38)],
    ['clone3, which hides its flags', call('clone3'), errno(38)],
    ['clone of a thread', call('clone', [0x3d0f00]), ALLOW],
    ['clone of a process', call('clone', [0x1200011]), ALLOW],
    ['clone with a user namespace', call('clone', [0x10000011]), errno(1)],
    ['clone with a network', call('clone', [0x40000000]), errno(1)],
    ['unshare of the table of files', call('unshare', [0x400]), ALLOW],
    ['unshare of the mounts', call('unshare', [0x20000]), errno(1)],
    ['unshare of the clock', call('unshare', [0x80]), errno(1)],
    ['a unix socket', call('socket', [1, 1, 0]), ALLOW],
    ['a TCP socket', call('socket', [2, 1, 0]), ALLOW],
    ['a TCP socket on IPv6', call('socket', [10, 1, 0]), ALLOW],
    ['a vsock', call('socket', [40, 1, 0]), errno(97)],
    ['a packet socket', call('socket', [17, 3, 0]), errno(97)],
    ['a crypto socket', call('socket', [38, 5, 0]), errno(97)],
    ['netlink, of routes', call('socket', [16, 3, 0]), ALLOW],
    ['netlink, of events', call('socket', [16, 3, 15]), errno(93)],
    ['a pair of unix sockets', call('socketpair', [1, 1, 0]), ALLOW],
    ['a pair of datagram sockets', call('socketpair', [1, 0x80002, 0]), ALLOW],
    ['a pair where there are no unix sockets', call('socketpair', [1, 0x80001, 0], bridged), ALLOW],
    ['a pair of datagram sockets, which can send elsewhere', call('socketpair', [1, 0x80002, 0], bridged), errno(97)],
    ['a pair of others', call('socketpair', [40, 1, 0]), errno(97)],
    ['a mode', call('fchmodat', [0, 0, 0o755]), ALLOW],
    ['setuid', call('fchmodat', [0, 0, 0o4755]), errno(1)],
    ['setuid of an open file', call('fchmod', [0, 0o4755]), errno(1)],
    ['setgid', call('fchmodat', [0, 0, 0o2775]), ALLOW],
    ["setgid, where the group is root's", call('fchmodat', [0, 0, 0o2775], ofRoot), errno(1)],
    ['a file', call('openat', [0, 0, 0x241, 0o644]), ALLOW],
    ['a file that is born setuid', call('openat', [0, 0, 0x241, 0o4755]), errno(1)],
    ['a file that is there, whatever stands where a mode would', call('openat', [0, 0, 0, 0o4755]), ALLOW],
    ['a nameless file that is born setuid', call('openat', [0, 0, 0x410002, 0o4755]), errno(1)],
    ['a node that is born setuid', call('mknodat', [0, 0, 0o104755]), errno(1)],
    ['openat2, which hides its mode', call('openat2'), errno(38)],
    ['an ioctl', call('ioctl', [0, 0x5401]), ALLOW],
    ['TIOCSTI', call('ioctl', [0, 0x5412]), errno(1)],
    ['TIOCLINUX', call('ioctl', [0, 0x541c]), errno(1)],
    ["a unix socket, where the network is the host's", call('socket', [1, 1, 0], bridged), errno(97)],
    ["a pair of them, where the network is the host's", call('socketpair', [1, 1, 0], bridged), ALLOW],
    ["a TCP socket, where the network is the host's", call('socket', [2, 1, 0], bridged), ALLOW],
  ])('%s', (_, result, expected) => {
    expect(result).toBe(expected)
  })

  it('kills what speaks for another architecture', () => {
    expect(verdict(filter, { nr: 20, arch: 0x40000003 })).toBe(KILL)
  })

  it('lets everything else through', () => {
    const named = new Set(Object.values(numbers))
    fc.assert(
      fc.property(fc.nat(460), fc.array(fc.nat(), { maxLength: 6 }), (nr, args) => {
        fc.pre(!named.has(nr))
        expect(verdict(filter, { nr, arch: audit, args })).toBe(ALLOW)
      }),
    )
  })
})

it('x32 has numbers of its own for the same calls: none of it goes through', () => {
  const { audit } = ARCHITECTURES['x64'] as (typeof ARCHITECTURES)[string]
  fc.assert(
    fc.property(fc.nat(600), (nr) => {
      expect(verdict(seccompFilter({ unixSockets: true, onHost: 'same' }, 'x64') as Uint8Array, { nr: 0x40000000 + nr, arch: audit })).toBe(
        errno(38),
      )
    }),
  )
})

it('says so where an architecture is not known', () => {
  expect(seccompFilter({ unixSockets: true, onHost: 'same' }, 'mips')).toBeUndefined()
})

it('refuses a jump that has no room in its byte', () => {
  const many = Array.from({ length: 256 }, () => load(0))
  expect(() => assemble(when(1, many))).toThrow(RangeError)
})
