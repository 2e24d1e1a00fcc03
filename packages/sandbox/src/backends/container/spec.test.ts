import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../limits.ts'
import { cgroupFolder } from './census.ts'
import { mergeEnv } from './image.ts'
import { enforcement, readFacts } from './probe.ts'
import { seccompProfile } from './seccomp.ts'
import { containerSpec, type SpecOptions } from './spec.ts'

const OPTIONS: SpecOptions = {
  limits: { ...DEFAULT_LIMITS, memory: 1000, cpus: 0.5, processes: 10 },
  network: 'none',
  user: { uid: 1000, gid: 1001, onHost: 'same' },
  mounts: [],
  image: 'x',
  labels: { a: 'b' },
  isRootless: false,
  seccomp: undefined,
  ulimits: [],
}

describe('what an engine is asked for', () => {
  test('walls and limits', () => {
    const { HostConfig, ...spec } = containerSpec(OPTIONS)
    expect(spec).toMatchObject({ User: '1000:1001', OpenStdin: true, StdinOnce: true, Labels: { a: 'b' } })
    expect(spec).not.toHaveProperty('Env')
    expect(HostConfig).toMatchObject({
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      AutoRemove: true,
      Memory: 1000,
      MemorySwap: 1000,
      NanoCpus: 500_000_000,
      PidsLimit: 14,
    })
  })

  test.each([
    [{ user: { uid: 1000, gid: 1000, onHost: 'root' } }, '0:0'],
    [{ isRootless: true }, '0:0'],
    [{}, '1000:1001'],
  ] as const)('%j is user %s', (changes, user) => expect(containerSpec({ ...OPTIONS, ...changes }).User).toBe(user))

  test('of two mounts on one place, the later one', () => {
    const mounts = [
      { source: '/a', target: '/x', mode: 'read-write' },
      { source: '/b', target: '/y', mode: 'read-only' },
      { source: '/c', target: '/x', mode: 'read-only' },
    ] as const
    expect(containerSpec({ ...OPTIONS, mounts }).HostConfig?.Mounts).toEqual([
      { Type: 'bind', Source: '/b', Target: '/y', ReadOnly: true },
      { Type: 'bind', Source: '/c', Target: '/x', ReadOnly: true },
    ])
  })

  test('a profile for each architecture, or the own one of the engine', () => {
    const profile = JSON.parse(seccompProfile('arm64') ?? '')
    expect(profile.architectures).toEqual(['SCMP_ARCH_AARCH64'])
    expect(profile).toEqual({ ...JSON.parse(seccompProfile('x86_64') ?? ''), architectures: profile.architectures })
    expect(seccompProfile('riscv64')).toBeUndefined()
  })
})

const V1 = {
  memory: ['1000'],
  swap: ['1000'],
  processes: ['14'],
  cpu: ['50000', '100000'],
  capabilities: ['0000000000000000', '0000000000000000'],
  privileges: ['1'],
  interfaces: ['lo'],
}

describe('what is in force', () => {
  const of = (changes: object) => enforcement({ ...V1, ...changes }, OPTIONS, 'docker')
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
    [{ privileges: ['0'] }, /no-new-privileges/],
    [{ interfaces: ['eth0', 'lo'] }, /network/],
    [{ interfaces: undefined }, /network/],
  ])('%j is no sandbox', (changes, message) => expect(() => of(changes)).toThrow(message))

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
