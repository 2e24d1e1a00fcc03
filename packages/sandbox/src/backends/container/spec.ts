/** Builds the container specification for the engine. Pure. */
import type Dockerode from 'dockerode'
import type { OpenRequest } from '../../backend.ts'
import { words } from '../../paths.ts'
import type { User } from '../../user.ts'
import type { Mount } from '../../view/view.ts'
import { LAUNCHER } from './launcher.ts'
import { WORKER_ARGV, WORKER_PROCESSES } from './worker.ts'

export interface SpecOptions extends Pick<OpenRequest, 'limits' | 'network' | 'user'> {
  readonly mounts: readonly Mount[]
  /** The network of another container, in the engine's notation ({@link networkOf}). */
  readonly joined?: string
  /** Cores of the engine's machine that it may run on; empty means all. */
  readonly cores?: readonly number[]
  readonly image: string
  readonly labels: Readonly<Record<string, string>>
  /** Whether the host sees the commands as the container's uid 0 ({@link isRootOutside}). */
  readonly asRoot: boolean
  /** The launcher's file on the host; undefined for an architecture without one, in which case the engine's own filter is used. */
  readonly launcher: string | undefined
  /** True even behind a socket named after Docker: Podman uses different terms for some things. */
  readonly isPodman: boolean
  /** Resource limits that must be given explicitly because the engine could not raise its own. */
  readonly ulimits: readonly { readonly Name: string; readonly Soft: number; readonly Hard: number }[]
}

/** The maximum size of `/run`, `/var/tmp` and `/dev/shm` each. They are in memory and count toward the memory limit. */
const SCRATCH = 64 * 1024 * 1024
const TMPFS = `rw,nosuid,nodev,mode=1777,size=${SCRATCH}`

/**
 * Kernel files that only root may read or write: a command may be root on the host, and neither folder has a namespace. The first
 * entries are Docker's defaults. In `/sys`, even reading can have an effect (`hot_add`); what remains visible there are cgroups and
 * names of network interfaces.
 */
const MASKED = [
  ...words(`
    acpi asound interrupts kcore keys latency_stats sched_debug scsi timer_list timer_stats
    iomem ioports kpagecgroup kpagecount kpageflags pagetypeinfo pressure slabinfo vmallocinfo vmcore`).map((name) => `/proc/${name}`),
  ...words('block bus class/zram-control dev devices firmware hypervisor kernel module power').map((name) => `/sys/${name}`),
]

export function containerSpec(options: SpecOptions): Dockerode.ContainerCreateOptions {
  const { limits, network, joined, cores = [], user, mounts, image, labels, asRoot, launcher, ulimits, isPodman } = options
  const own: readonly Mount[] = launcher === undefined ? [] : [{ source: launcher, target: LAUNCHER, mode: 'read-only' }]
  return {
    Image: image,
    Entrypoint: launcher === undefined ? [...WORKER_ARGV] : [LAUNCHER],
    Cmd: [],
    Healthcheck: { Test: ['NONE'] },
    // A container that joins another one's network takes its hostname too; Docker rejects a hostname here.
    ...(!joined?.startsWith(BY_CONTAINER) && { Hostname: 'sandbox' }),
    WorkingDir: '/',
    User: asRoot ? '0:0' : `${user.uid}:${user.gid}`,
    Labels: { ...labels },
    // When the socket closes, stdin closes, the worker ends, and the container is removed.
    ...{ OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true },
    HostConfig: {
      AutoRemove: true,
      NetworkMode: joined ?? network,
      CapDrop: ['ALL'],
      // Without this capability the kernel does not allow mapping uid 0 to another number. Only the launcher has it, no command does.
      ...(asRoot && launcher !== undefined && { CapAdd: ['SETFCAP'] }),
      // The launcher activates its own filter before anything else runs.
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
      Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }, { Name: 'fsize', Soft: limits.disk, Hard: limits.disk }, ...ulimits],
      // The caller receives the output; a copy on the engine's disk would have no size limit.
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
    },
  }
}

const BY_CONTAINER = 'container:'

/** Podman refuses to remove a container while others depend on its name, so use a path instead. */
export const networkOf = ({ id, pid }: { readonly id: string; readonly pid: number }, isPodman: boolean): string =>
  isPodman ? `ns:/proc/${pid}/ns/net` : BY_CONTAINER + id

/** With a rootless engine, a container's root is the user who runs the engine. */
export const isRootOutside = ({ onHost }: User, isRootless: boolean): boolean => isRootless || onHost === 'root'

/** Engines reject two mounts at the same path, so keep only the last one, which would cover the first. */
const lastOfEach = (mounts: readonly Mount[]): readonly Mount[] =>
  mounts.filter(({ target }, at) => mounts.findLastIndex((other) => other.target === target) === at)
