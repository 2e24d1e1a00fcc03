/** What a command sees of the machine: data, which each backend turns into its own words. */
import { relative, resolve } from 'node:path'
import { isWithin } from '../paths.ts'

/** Of commands: `none`, or `bridge`, which reaches the internet. */
export type Network = 'none' | 'bridge'

export interface Mount {
  /** On the host: real, absolute. */
  readonly source: string
  /** Inside. */
  readonly target: string
  readonly mode: 'read-only' | 'read-write'
  /** Where nothing can be shown at another place than its own, the target is shown as it is, not hidden. */
  readonly orItself?: true
}

export interface View {
  /** Absolute, its real path, the same inside. */
  readonly workspace: string
  /** The home folder's path inside: the real one's, but what is seen there is `homeFolder`. */
  readonly home: string
  /** Of this sandbox alone, on the host, deleted with it: bound to `home` and to `/tmp`. They last from command to command. */
  readonly homeFolder: string
  readonly tmpFolder: string
  /** In order: later ones lie over earlier ones. The system (`/usr`, parts of `/etc`), home, tmp, toolchains, workspace, `.git/hooks` … */
  readonly mounts: readonly Mount[]
  /** The same without the system's folders: of containers, which bring a system along. */
  readonly containerMounts: readonly Mount[]
  /** Of toolchains: written by commands in a layer, where an overlay lies over each. Others don't see them. */
  readonly caches?: readonly Mount[]
  /** Symbolic links of the system: `/bin` → `usr/bin`. */
  readonly links: readonly { readonly path: string; readonly to: string }[]
  /** {@link Guarded.absent} */
  readonly absent: readonly string[]
  /** Environment of every command: names that were let through, and PATH, HOME, TMPDIR, pagers and prompts off. */
  readonly env: Readonly<Record<string, string>>
}

/** Paths that commands may not write. */
export interface Guarded {
  /** Over those that are there. */
  readonly mounts: readonly Mount[]
  /**
   * Those that are not: absolute. A wall would take a mount point in the person's own folder, which stays there when this process
   * is killed; so whatever a command makes at one is taken away when it ends (`take-away.ts`).
   */
  readonly absent: readonly string[]
}

/** Where a path inside lies on the host; undefined where nothing of the host is shown there. Absolute, without `..`. */
export function hostPath(inside: string, { mounts }: Pick<View, 'mounts'>): string | undefined {
  const mount = mounts.findLast(({ target }) => isWithin(target, inside))
  return mount && resolve(mount.source, relative(mount.target, inside))
}

/** Where a path of the host is shown inside; undefined where it is not shown. */
export function insidePath(onHost: string, { mounts }: Pick<View, 'mounts'>): string | undefined {
  const mount = mounts.findLast(({ source }) => isWithin(source, onHost))
  return mount && resolve(mount.target, relative(mount.source, onHost))
}
