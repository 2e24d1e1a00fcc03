/** The toolchains of a home folder, as mounts that can only be read. */
import { join } from 'node:path'
import { isWithin } from '../paths.ts'
import * as files from './files.ts'
import { SECRET_NAME, TOOLCHAINS } from './toolchain-table.ts'
import type { Mount } from './view.ts'

export interface Home {
  /** Real, absolute. */
  readonly path: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** @param empty what is put over a folder of credentials that is in one of them */
export async function toolchainMounts(home: Home, empty: string): Promise<readonly Mount[]> {
  const paths = TOOLCHAINS.flatMap(({ path, env, parts }) => {
    const said = env && home.env[env]
    const roots = [join(home.path, path), ...(said && isWithin(home.path, said) ? [said] : [])]
    return roots.filter((root) => root !== home.path).flatMap((root) => (parts ? parts.map((part) => join(root, part)) : [root]))
  })
  const found = await Promise.all([...new Set(paths)].map((path) => readOnly(path, empty)))
  return found.flat()
}

/** Nothing where it does not exist, or leads to the whole disk, a device or a socket. */
export async function readOnly(path: string, empty: string): Promise<readonly Mount[]> {
  const source = await files.real(path)
  if (source === undefined || source === '/') return []
  const kind = await files.target(source)
  if (kind === 'file')
    return SECRET_NAME.test(source.slice(source.lastIndexOf('/') + 1)) ? [] : [{ source, target: path, mode: 'read-only' }]
  if (kind !== 'directory') return []
  return [{ source, target: path, mode: 'read-only' }, ...(await masks(source, path, empty))]
}

/** What lies over credentials and sockets at the top of a toolchain: nothing, or a device of nothing. */
async function masks(source: string, target: string, empty: string): Promise<readonly Mount[]> {
  const inside = [
    ...(await files.list(source)),
    ...(await files.list(join(source, 'etc'))).map((one) => ({ ...one, name: `etc/${one.name}` })),
  ]
  return inside
    .filter(({ name, kind }) => kind === 'other' || SECRET_NAME.test(name.slice(name.lastIndexOf('/') + 1)))
    .filter(({ kind }) => kind !== 'link')
    .map(({ name, kind }) => ({ source: kind === 'directory' ? empty : '/dev/null', target: join(target, name), mode: 'read-only' }))
}
