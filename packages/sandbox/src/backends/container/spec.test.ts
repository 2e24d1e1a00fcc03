import { describe, expect, test } from 'vitest'
import { DEFAULT_SANDBOX_LIMITS } from '../../limits.ts'
import { mergeEnv } from './engine.ts'
import { archOf, LAUNCHER, launcher } from './launcher.ts'
import { enforcement, readFacts } from './probe.ts'
import { containerSpec, isRootOutside, type SpecOptions } from './spec.ts'
import { cgroupFolder } from './warm.ts'

const OPTIONS: SpecOptions = {
  limits: { ...DEFAULT_SANDBOX_LIMITS, memory: 1000, cpus: 0.5, processes: 10 },
  network: 'none',
  user: { uid: 1000, gid: 1001, onHost: 'same' },
  mounts: [],
  image: 'x',
  labels: { a: 'b' },
  asRoot: false,
  launcher: '/host/launcher',
  ulimits: [],
  isPodman: false,
}

describe('what an engine is asked for', () => {
  test('walls and limits', () => {
    const { HostConfig, ...spec } = containerSpec(OPTIONS)
    expect(spec).toMatchObject({ User: '1000:1001', OpenStdin: true, StdinOnce: true, Labels: { a: 'b' } })
    expect(spec).not.toHaveProperty('Env')
    expect(HostConfig).toMatchObject({
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', 'seccomp=unconfined'],
      MaskedPaths: expect.arrayContaining(['/proc/slabinfo', '/sys/kernel']),
      ReadonlyRootfs: true,
      AutoRemove: true,
      Memory: 1000,
      MemorySwap: 1000,
      NanoCpus: 500_000_000,
      PidsLimit: 14,
    })
  })

  test.each([
    ['root', false, '0:0', ['SETFCAP']],
    ['same', true, '0:0', ['SETFCAP']],
    ['same', false, '1000:1001', undefined],
  ] as const)('a user that is %s on the host, of an engine without root: %j', (onHost, isRootless, user, added) => {
    const asRoot = isRootOutside({ uid: 1000, gid: 1001, onHost }, isRootless)
    const { User, HostConfig } = containerSpec({ ...OPTIONS, asRoot })
    expect([User, HostConfig?.CapAdd]).toEqual([user, added])
  })

  test('the launcher runs first; on another architecture the shell, behind the filter of the engine', () => {
    expect(containerSpec(OPTIONS)).toMatchObject({
      Entrypoint: [LAUNCHER],
      HostConfig: { Mounts: [{ Source: '/host/launcher', Target: LAUNCHER, ReadOnly: true }] },
    })
    const bare = containerSpec({ ...OPTIONS, launcher: undefined, isPodman: true })
    expect(bare.Entrypoint?.slice(0, 2)).toEqual(['/bin/sh', '-c'])
    expect(bare.HostConfig?.SecurityOpt).toEqual(['no-new-privileges', expect.stringMatching(/^mask=\/proc\/acpi:/)])
  })

  test('of two mounts on one place, the later one', () => {
    const mounts = [
      { source: '/a', target: '/x', mode: 'read-write' },
      { source: '/b', target: '/y', mode: 'read-only' },
      { source: '/c', target: '/x', mode: 'read-only' },
    ] as const
    expect(containerSpec({ ...OPTIONS, mounts, launcher: undefined }).HostConfig?.Mounts).toEqual([
      { Type: 'bind', Source: '/b', Target: '/y', ReadOnly: true },
      { Type: 'bind', Source: '/c', Target: '/x', ReadOnly: true },
    ])
  })

  test.each([
    ['x86_64', 0x0f, 0x05, 67],
    ['arm64', 0x01, 0x00, 116],
  ])('a launcher for %s: calls of one size, then what they point to', (architecture, first, second, size) => {
    const arch = archOf(architecture) as string
    const user = { uid: 1000, gid: 1001, onHost: 'root' } as const
    const file = Buffer.from(launcher({ arch, user, asRoot: true, argv: ['/bin/sh', '-c', 'work'], env: ['PATH=/bin'] }))
    expect(file.subarray(0, 4).toString('latin1')).toBe('\x7fELF')
    // unshare, three files in four calls each, 64 capabilities, two prctl, execve, exit_group.
    const calls = 1 + 12 + 64 + 2 + 1 + 1
    const code = file.subarray(0x78, 0x78 + calls * size)
    for (let at = 0; at < calls; at++) {
      const end = code.subarray(at * size, (at + 1) * size)
      expect(architecture === 'arm64' ? end.readUInt32LE(size - 4) : end.readUInt16LE(size - 2)).toBe(
        architecture === 'arm64' ? 0xd4000001 : first | (second << 8),
      )
    }
    for (const text of ['/proc/self/uid_map\0', '1000 0 1\0', '1001 0 1\0', 'deny\0', '/bin/sh\0', 'work\0', 'PATH=/bin\0'])
      expect(file.indexOf(text)).toBeGreaterThan(0x78 + calls * size - 1)
  })

  test('no launcher for what is not known here', () => {
    expect([archOf('riscv64'), archOf('constructor'), archOf('amd64')]).toEqual([undefined, undefined, 'x64'])
  })
})

const V1 = {
  memory: ['1000'],
  swap: ['1000'],
  processes: ['14'],
  cpu: ['50000', '100000'],
  capabilities: ['0000000000000000', '0000000000000000'],
  privileges: ['1'],
  seccomp: ['2'],
  user: ['1000', '1000', '1000', '1000'],
  interfaces: ['lo'],
}

describe('what is in force', () => {
  const of = (changes: object) => enforcement({ ...V1, ...changes }, { ...OPTIONS, hasFilter: true }, 'docker')
  const holds = (changes: object) => Object.fromEntries(Object.entries(of(changes)).map(([name, { hold }]) => [name, hold]))
  const ALL = { files: 'hard', network: 'hard', memory: 'hard', processes: 'hard', cpu: 'hard', disk: 'partial', treeKill: 'hard' }

  test.each([
    [{}, {}],
    [{ swap: ['0'], cpu: ['50000', '100000'] }, {}],
    [{ memory: ['9223372036854771712'] }, { memory: 'none' }],
    [{ memory: ['max'] }, { memory: 'none' }],
    [{ memory: [] }, { memory: 'none' }],
    [{ swap: ['max'] }, { memory: 'partial' }],
    [{ swap: [] }, { memory: 'partial' }],
    [{ processes: ['max'] }, { processes: 'none' }],
    [{ cpu: ['-1', '100000'] }, { cpu: 'none' }],
    [{ cpu: ['max', '100000'] }, { cpu: 'none' }],
  ])('%j: %j', (changes, expected) => expect(holds(changes)).toEqual({ ...ALL, ...expected }))

  test.each([
    [{ capabilities: ['00000000a80425fb', '0000000000000000'] }, /capabilities/],
    [{ capabilities: undefined }, /capabilities/],
    [{ user: ['0', '0', '0', '0'] }, /can't run commands as uid 1000: they would be uid 0/],
    [{ user: undefined }, /can't run commands as uid 1000/],
    [{ seccomp: ['0'] }, /does not filter system calls/],
    [{ privileges: ['0'] }, /no-new-privileges/],
    [{ interfaces: ['eth0', 'lo'] }, /network/],
    [{ interfaces: undefined }, /network/],
  ])('%j is not a sandbox', (changes, message) => expect(() => of(changes)).toThrow(message))

  test('is read from lines', () => {
    expect(readFacts('memory 1000\nswap\ncpu 5 10\n')).toEqual({ memory: ['1000'], swap: [], cpu: ['5', '10'] })
  })
})

test.each([
  ['12:pids:/docker/abc\n0::/', '/sys/fs/cgroup/pids/docker/abc'],
  ['0::/system.slice/docker-abc.scope', '/sys/fs/cgroup/system.slice/docker-abc.scope'],
  ['12:memory:/docker/abc\n9:cpu,pids:/docker/abc', '/sys/fs/cgroup/cpu,pids/docker/abc'],
  ['12:pids:/docker/other\n0::/', undefined],
  ['', undefined],
])('the cgroup in %j', (text, folder) => expect(cgroupFolder(text, 'abc')).toBe(folder))

test('the variables of an image, under those of the sandbox', () => {
  expect(mergeEnv({ PATH: '/go/bin:/usr/bin', GOPATH: '/go', HOME: '/root' }, { PATH: '/usr/bin:/bin', HOME: '/home/me' })).toEqual({
    PATH: '/usr/bin:/bin:/go/bin',
    GOPATH: '/go',
    HOME: '/home/me',
  })
  expect(mergeEnv({}, { A: '1' })).toEqual({ A: '1' })
})
