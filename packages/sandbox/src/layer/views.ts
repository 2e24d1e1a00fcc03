/** Builds the views for commands whose writes must not reach the host. */
import { lstat, readdir, realpath, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isWithin } from '../paths.ts'
import type { Mount, View } from '../view/view.ts'

const readOnly = (mount: Mount, own: string): Mount => (isWithin(own, mount.source) ? mount : { ...mount, mode: 'read-only' })
const ownFolder = ({ tmpFolder }: View): string => dirname(tmpFolder)

/** Makes everything read-only except the sandbox's own home and `/tmp`. Pure. */
export function readOnlyView(view: View, covers: readonly Mount[]): View {
  const closed = (mounts: readonly Mount[]) => [...mounts.map((mount) => readOnly(mount, ownFolder(view))), ...covers]
  return { ...view, mounts: closed(view.mounts), containerMounts: closed(view.containerMounts) }
}

/** A folder of the sandbox on which the overlay over `source` is mounted, in each command's namespace. */
export interface MountPoint {
  readonly source: string
  readonly at: string
}

/**
 * Returns where overlays are mounted: one for the workspace and one for each writable cache. They are not mounted at the original
 * paths: if a folder had been replaced since the mount, the command would see the replacement itself and could write to it. Pure.
 */
export function mountPoints(view: View): { readonly workspace: string; readonly caches: readonly MountPoint[] } {
  const own = join(ownFolder(view), 'mounts')
  const caches = (view.caches ?? []).filter(({ mode }) => mode === 'read-write')
  return { workspace: join(own, 'workspace'), caches: caches.map(({ source }, index) => ({ source, at: join(own, `cache-${index}`) })) }
}

/**
 * Makes the whole workspace writable: commands see the layer there, and changes to protected paths appear in the change set. Other
 * folders stay read-only. Pure.
 */
export function layerView(view: View, covers: readonly Mount[]): View {
  const points = mountPoints(view)
  const places = new Map([[view.workspace, points.workspace], ...points.caches.map(({ source, at }) => [source, at] as const)])
  const mounted = (mount: Mount): Mount => ({ ...mount, source: places.get(mount.source) ?? mount.source })
  const isWorkspace = ({ target }: Mount) => target === view.workspace
  const isInside = ({ target }: Mount) => !isWorkspace({ target } as Mount) && isWithin(view.workspace, target)
  const open = (mounts: readonly Mount[]) => [
    ...mounts.filter((mount) => !isInside(mount)).map((mount) => (isWorkspace(mount) ? mounted(mount) : readOnly(mount, ownFolder(view)))),
    ...(view.caches ?? []).map((cache) => (cache.mode === 'read-write' ? mounted(cache) : cache)),
    ...covers,
  ]
  return { ...view, mounts: open(view.mounts), containerMounts: open(view.containerMounts) }
}

/** Returns mounts that put something empty over each existing secret, also where a link leads to it within the workspace. */
export async function coversOf(view: View, masks: readonly string[]): Promise<readonly Mount[]> {
  const paths = masks
    .map((mask) => resolve(view.workspace, mask))
    .filter((path) => path !== view.workspace && isWithin(view.workspace, path))
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)))
  const there = [
    ...new Set(real.filter((path) => path !== undefined && path !== view.workspace && isWithin(view.workspace, path))),
  ] as string[]
  if (there.length === 0) return []
  const own = ownFolder(view)
  const file = join(own, 'empty-file')
  await writeFile(file, '', { mode: 0o444, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return Promise.all(
    there.sort().map(
      async (target): Promise<Mount> => ({
        source: (await lstat(target)).isDirectory() ? join(own, 'empty') : file,
        target,
        mode: 'read-only',
      }),
    ),
  )
}

/**
 * Finds sockets and named pipes, as paths relative to the folder. Host programs may be listening on them, and writing to one is not
 * a file system write, so a read-only mount does not prevent it. An overlay does, because its sockets and pipes are separate ones.
 */
export async function findListening(folder: string, path = ''): Promise<readonly string[]> {
  const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => [])
  const found: string[] = []
  for (const entry of entries) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`
    if (entry.isSocket() || entry.isFIFO()) found.push(inner)
    else if (entry.isDirectory()) found.push(...(await findListening(folder, inner)))
  }
  return found
}

/** Returns the paths a change set leaves out: the paths as given, and the paths they resolve to. */
export const maskedPaths = (view: View, masks: readonly string[], covers: readonly Mount[]): readonly string[] => {
  const given = masks.map((mask) => resolve(view.workspace, mask))
  return [...given, ...covers.map(({ target }) => target)]
    .filter((path) => isWithin(view.workspace, path))
    .map((path) => path.slice(view.workspace.length + 1))
}
