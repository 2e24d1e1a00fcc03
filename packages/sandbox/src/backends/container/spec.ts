/** What the engine is asked for. Pure. */
import type Dockerode from 'dockerode'
import type { OpenRequest, User } from '../../backend.ts'
import type { Mount } from '../../view/view.ts'
import { WORKER, WORKER_PROCESSES } from './worker.ts'

export interface SpecOptions extends Pick<OpenRequest, 'limits' | 'network' | 'user'> {
  readonly mounts: readonly Mount[]
  readonly image: string
  readonly labels: Readonly<Record<string, string>>
  /** The engine runs as an ordinary user: its container's root is that user. */
  readonly isRootless: boolean
  readonly seccomp: string | undefined
  /** Resource limits that the engine could not set higher than its own. */
  readonly ulimits: readonly { readonly Name: string; readonly Soft: number; readonly Hard: number }[]
}

/** Of `/run`, `/var/tmp` and `/dev/shm` each: in memory, and counted there. */
const SCRATCH = 64 * 1024 * 1024
const TMPFS = `rw,nosuid,nodev,mode=1777,size=${SCRATCH}`

export function containerSpec(options: SpecOptions): Dockerode.ContainerCreateOptions {
  const { limits, network, user, mounts, image, labels, isRootless, seccomp, ulimits } = options
  return {
    Image: image,
    Entrypoint: ['/bin/sh', '-c', WORKER],
    Cmd: [],
    Healthcheck: { Test: ['NONE'] },
    Hostname: 'sandbox',
    WorkingDir: '/',
    User: inside(user, isRootless),
    Labels: { ...labels },
    // When the socket closes, stdin does, the worker ends, and the container is removed.
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      AutoRemove: true,
      NetworkMode: network,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', ...(seccomp === undefined ? [] : [`seccomp=${seccomp}`])],
      ReadonlyRootfs: true,
      Tmpfs: { '/run': TMPFS, '/var/tmp': TMPFS },
      ShmSize: SCRATCH,
      Mounts: lastOfEach(mounts).map(({ source, target, mode }) => ({
        Type: 'bind',
        Source: source,
        Target: target,
        ReadOnly: mode === 'read-only',
      })),
      Memory: limits.memory,
      MemorySwap: limits.memory,
      NanoCpus: Math.round(limits.cpus * 1e9),
      PidsLimit: limits.processes + WORKER_PROCESSES,
      Ulimits: ulimits.map((ulimit) => ({ ...ulimit })),
      // Output is the caller's; on the engine's disk it would be a copy that nobody bounds.
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
    },
  }
}

/** No engine lets a container's uid be a host's root under another number: there it is 0, without any capability. */
const inside = ({ uid, gid, onHost }: User, isRootless: boolean): string => (isRootless || onHost === 'root' ? '0:0' : `${uid}:${gid}`)

/** Engines refuse two mounts on one place, where a later one would lie over the first. */
const lastOfEach = (mounts: readonly Mount[]): readonly Mount[] =>
  mounts.filter(({ target }, at) => mounts.findLastIndex((other) => other.target === target) === at)
