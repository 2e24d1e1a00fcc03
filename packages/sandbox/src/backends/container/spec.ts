/** What the engine is asked for. Pure. */
import type Dockerode from 'dockerode'
import type { OpenRequest } from '../../backend.ts'
import type { User } from '../../user.ts'
import type { Mount } from '../../view/view.ts'
import { LAUNCHER } from './launcher.ts'
import { WORKER, WORKER_PROCESSES } from './worker.ts'

export interface SpecOptions extends Pick<OpenRequest, 'limits' | 'network' | 'user'> {
  readonly mounts: readonly Mount[]
  /** In the engine's words, a network that another container made ({@link networkOf}). */
  readonly joined?: string
  /** Of the engine's machine, those that it may run on; all where none are named. */
  readonly cores?: readonly number[]
  readonly image: string
  readonly labels: Readonly<Record<string, string>>
  /** Whether the container's uid 0 is what the host sees of the commands ({@link isRootOutside}). */
  readonly asRoot: boolean
  /** The launcher's file on the host; undefined for an architecture that has none: the engine's own filter has to do. */
  readonly launcher: string | undefined
  /** Also behind a socket that is called Docker's: it has words of its own for some things. */
  readonly isPodman: boolean
  /** Resource limits that the engine could not set higher than its own. */
  readonly ulimits: readonly { readonly Name: string; readonly Soft: number; readonly Hard: number }[]
}

/** Of `/run`, `/var/tmp` and `/dev/shm` each: in memory, and counted there. */
const SCRATCH = 64 * 1024 * 1024
const TMPFS = `rw,nosuid,nodev,mode=1777,size=${SCRATCH}`

/**
 * What only root may read of the kernel, or write: to the host a command may be root, and neither folder has a namespace of its own.
 * First what Docker takes by itself.
 */
const MASKED = [
  ...['acpi', 'asound', 'interrupts', 'kcore', 'keys', 'latency_stats', 'sched_debug', 'scsi', 'timer_list', 'timer_stats'],
  ...['iomem', 'ioports', 'kpagecgroup', 'kpagecount', 'kpageflags', 'pagetypeinfo', 'pressure', 'slabinfo', 'vmallocinfo', 'vmcore'],
]
  .map((name) => `/proc/${name}`)
  // There, to read alone can do something (`hot_add`). What is left are cgroups and names of network interfaces.
  .concat(
    ['block', 'bus', 'class/zram-control', 'dev', 'devices', 'firmware', 'hypervisor', 'kernel', 'module', 'power'].map(
      (name) => `/sys/${name}`,
    ),
  )

export function containerSpec(options: SpecOptions): Dockerode.ContainerCreateOptions {
  const { limits, network, joined, cores = [], user, mounts, image, labels, asRoot, launcher, ulimits, isPodman } = options
  const own: readonly Mount[] = launcher === undefined ? [] : [{ source: launcher, target: LAUNCHER, mode: 'read-only' }]
  return {
    Image: image,
    Entrypoint: launcher === undefined ? [...WORKER_ARGV] : [LAUNCHER],
    Cmd: [],
    Healthcheck: { Test: ['NONE'] },
    // With the network of another one, Docker takes its name too, and may not be told one.
    ...(!joined?.startsWith(BY_CONTAINER) && { Hostname: 'sandbox' }),
    WorkingDir: '/',
    User: asRoot ? '0:0' : `${user.uid}:${user.gid}`,
    Labels: { ...labels },
    // When the socket closes, stdin does, the worker ends, and the container is removed.
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      AutoRemove: true,
      NetworkMode: joined ?? network,
      CapDrop: ['ALL'],
      // Without it the kernel lets nobody show uid 0 under another number. It is the launcher's: no command has it.
      ...(asRoot && launcher !== undefined && { CapAdd: ['SETFCAP'] }),
      // The launcher puts a filter of its own in force, before anything else runs.
      SecurityOpt: [
        'no-new-privileges',
        ...(launcher === undefined ? [] : ['seccomp=unconfined']),
        ...(isPodman ? [`mask=${MASKED.join(':')}`] : []),
      ],
      ...(!isPodman && { MaskedPaths: MASKED }),
      ReadonlyRootfs: true,
      Tmpfs: { '/run': TMPFS, '/var/tmp': TMPFS },
      ShmSize: SCRATCH,
      Mounts: lastOfEach([...mounts, ...own]).map(({ source, target, mode }) => ({
        Type: 'bind',
        Source: source,
        Target: target,
        ReadOnly: mode === 'read-only',
      })),
      Memory: limits.memory,
      MemorySwap: limits.memory,
      NanoCpus: Math.round(limits.cpus * 1e9),
      ...(cores.length > 0 && { CpusetCpus: cores.join(',') }),
      PidsLimit: limits.processes + WORKER_PROCESSES,
      Ulimits: [
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'fsize', Soft: limits.disk, Hard: limits.disk },
        ...ulimits.map((ulimit) => ({ ...ulimit })),
      ],
      // Output is the caller's; on the engine's disk it would be a copy that nobody bounds.
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
    },
  }
}

const BY_CONTAINER = 'container:'

/** Podman would not remove a container while others are said to depend on it; a path is just a path. */
export const networkOf = ({ id, pid }: { readonly id: string; readonly pid: number }, isPodman: boolean): string =>
  isPodman ? `ns:/proc/${pid}/ns/net` : BY_CONTAINER + id

/** What the container runs all the time. */
export const WORKER_ARGV: readonly string[] = ['/bin/sh', '-c', WORKER]

/** Of an engine that runs as an ordinary user, a container's root is that user. */
export const isRootOutside = ({ onHost }: User, isRootless: boolean): boolean => isRootless || onHost === 'root'

/** Engines refuse two mounts on one place, where a later one would lie over the first. */
const lastOfEach = (mounts: readonly Mount[]): readonly Mount[] =>
  mounts.filter(({ target }, at) => mounts.findLastIndex((other) => other.target === target) === at)
