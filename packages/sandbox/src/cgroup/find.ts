/** Where this process is in the hierarchies of cgroups. Pure: it reads what `/proc/self/cgroup` and `/proc/self/mountinfo` say. */
import { join, relative } from 'node:path'

export const CONTROLLERS = ['memory', 'pids', 'cpu'] as const
export type Controller = (typeof CONTROLLERS)[number]

export interface CgroupFolder {
  readonly version: 1 | 2
  readonly controller: Controller
  /** Of the file system that shows the hierarchy. */
  readonly mount: string
  /** Our own cgroup's folder in it. */
  readonly folder: string
}

/** Under v1 each controller has its place; under v2 all that are not taken by v1 share one. */
export function findPlaces(cgroups: string, mountinfo: string): readonly CgroupFolder[] {
  const mounts = mountinfo.split('\n').flatMap((line) => mountOf(line) ?? [])
  const memberships = cgroups.split('\n').flatMap((line) => membershipOf(line) ?? [])
  return CONTROLLERS.flatMap((controller): CgroupFolder[] => {
    const inFirst = memberships.find(({ controllers }) => controllers.includes(controller))
    const version = inFirst ? 1 : 2
    const membership = inFirst ?? memberships.find(({ controllers }) => controllers.length === 0)
    const mount = mounts.find((one) => one.version === version && (version === 2 || one.options.includes(controller)))
    if (!membership || !mount) return []
    // In a container the mount may show only its own part, while the membership is told from the host's root.
    const below = relative(mount.root, membership.path)
    return [{ version, controller, mount: mount.folder, folder: below.startsWith('..') ? mount.folder : join(mount.folder, below) }]
  })
}

/** `4:memory:/user` of v1, `0::/user` of v2; `name=systemd` is not a controller. */
function membershipOf(line: string): { readonly controllers: readonly string[]; readonly path: string } | undefined {
  const [, controllers, path] = /^\d+:([^:]*):(.+)$/.exec(line) ?? []
  return controllers === undefined || path === undefined
    ? undefined
    : { controllers: controllers === '' ? [] : controllers.split(','), path }
}

/** `35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:7 - cgroup cgroup rw,memory` */
function mountOf(line: string) {
  const [before = '', after = ''] = line.split(' - ')
  const [type, , options = ''] = after.split(' ')
  const [, , , root = '', folder = ''] = before.split(' ')
  if (type !== 'cgroup' && type !== 'cgroup2') return undefined
  return { version: type === 'cgroup' ? 1 : 2, root: unescaped(root), folder: unescaped(folder), options: options.split(',') }
}

const unescaped = (path: string): string => path.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))
