/** Paths inside and on the host. Pure. */
import { relative, resolve, sep } from 'node:path'
import type { View } from '../view/view.ts'

export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** Where a path of the inside is on the host; undefined if nothing of the host is shown. Absolute, without `..`. */
export function hostPath(inside: string, { mounts }: Pick<View, 'mounts'>): string | undefined {
  const mount = mounts.findLast(({ target }) => isWithin(target, inside))
  return mount && resolve(mount.source, relative(mount.target, inside))
}

/** The other way round. */
export function insidePath(onHost: string, { mounts }: Pick<View, 'mounts'>): string | undefined {
  const mount = mounts.findLast(({ source }) => isWithin(source, onHost))
  return mount && resolve(mount.target, relative(mount.source, onHost))
}
