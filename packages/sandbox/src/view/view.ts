/** Describes what a command sees of the machine, as data that each backend translates into its own configuration. */
import { dirname, join, relative, resolve } from 'node:path'
import { isWithin } from '../paths.ts'

/** Network access of commands: `none`, or `bridge`, which reaches the internet. */
export type Network = 'none' | 'bridge'

export interface Mount {
  /** The real, absolute path on the host. */
  readonly source: string
  /** The path inside. */
  readonly target: string
  readonly mode: 'read-only' | 'read-write'
  /** If the backend can only show paths at their original location, the target is shown as it is instead of hidden. */
  readonly orItself?: true
}

export interface View {
  /** The real, absolute path; the same inside. */
  readonly workspace: string
  /** The home folder's path inside. It matches the real home's path, but shows `homeFolder`. */
  readonly home: string
  /** Host folders of this sandbox alone, deleted with it and mounted at `home` and `/tmp`. They persist between commands. */
  readonly homeFolder: string
  readonly tmpFolder: string
  /** In order: later mounts cover earlier ones. The system (`/usr`, parts of `/etc`), home, tmp, toolchains, workspace, `.git/hooks` … */
  readonly mounts: readonly Mount[]
  /** The same without the system folders, for containers, which come with their own system. */
  readonly containerMounts: readonly Mount[]
  /** Toolchain caches that commands in a layer can write to, each with an overlay over it. Other commands don't see them. */
  readonly caches?: readonly Mount[]
  /** Symbolic links of the system: `/bin` → `usr/bin`. */
  readonly links: readonly { readonly path: string; readonly to: string }[]
  /** See {@link Guarded.absent}. */
  readonly absent: readonly string[]
  /** The environment of every command: the allowed variables, plus PATH, HOME and TMPDIR, with pagers and prompts turned off. */
  readonly env: Readonly<Record<string, string>>
}

/** Paths that commands may not write. */
export interface Guarded {
  /** Read-only mounts over existing paths. */
  readonly mounts: readonly Mount[]
  /**
   * Absolute paths that do not exist. Blocking them would require a mount point in the user's own folder, which would remain if
   * this process were killed. Instead, anything a command creates there is removed when it ends (`take-away.ts`).
   */
  readonly absent: readonly string[]
}

/**
 * Returns where a path inside is on the host; undefined if nothing of the host is shown there. The path must be absolute, without
 * `..`.
 */
export function hostPath(inside: string, { mounts }: Pick<View, 'mounts'>): string | undefined {
  const mount = mounts.findLast(({ target }) => isWithin(target, inside))
  return mount && resolve(mount.source, relative(mount.target, inside))
}

/** Returns where a host path is shown inside; undefined if it is not shown. */
export function insidePath(onHost: string, { mounts }: Pick<View, 'mounts'>): string | undefined {
  const mount = mounts.findLast(({ source }) => isWithin(source, onHost))
  return mount && resolve(mount.target, relative(mount.source, onHost))
}

/**
 * Returns the same mounts, adding before each one the mounts needed to pin it in place.
 *
 * With a mount on `~/.local/share/uv`, in a folder that commands may write to, a command could rename `~/.local` and put a link in
 * its place. The next command's mount would follow that link to wherever it leads on the host. A mount point can't be renamed from
 * a namespace that sees it as one, so each folder on the way becomes a mount point too.
 */
export function pinned(mounts: readonly Mount[]): readonly Mount[] {
  const done: Mount[] = []
  for (const mount of mounts) done.push(...pinsOf(mount, done), mount)
  return done
}

function pinsOf(mount: Mount, before: readonly Mount[]): readonly Mount[] {
  const under = lies(mount.target, before)
  if (!under || under.mode === 'read-only') return []
  const pins: Mount[] = []
  for (let folder = dirname(mount.target); folder !== under.target && isWithin(under.target, folder); folder = dirname(folder))
    pins.unshift({ source: join(under.source, relative(under.target, folder)), target: folder, mode: 'read-write' })
  return pins
}

/** Returns the mount that contains a mount point, that is, the mount whose folder it is created in. */
export const lies = (target: string, mounts: readonly Mount[]): Mount | undefined =>
  mounts.findLast((one) => one.target !== target && isWithin(one.target, target))
