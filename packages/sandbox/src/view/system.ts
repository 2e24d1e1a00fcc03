/** The system's folders: programs and libraries, to be read only. */
import { join } from 'node:path'
import * as files from './files.ts'
import type { Mount, View } from './view.ts'

/** On a merged system links to `/usr`, elsewhere folders. */
const ROOTS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
/** Stores that hold nothing but programs, by the hash of their content. */
const STORES = ['/nix/store', '/gnu/store', '/run/current-system/sw']
/** Settings of services that were installed by hand. */
const SETTINGS = ['/usr/local/etc', '/usr/etc']

/** @param empty a folder without anything in it */
export async function system(empty: string): Promise<Pick<View, 'mounts' | 'links'>> {
  const mounts: Mount[] = []
  const links: { path: string; to: string }[] = []
  for (const path of ['/usr', ...ROOTS, ...STORES]) {
    const kind = await files.kind(path)
    const source = kind && (await files.real(path))
    if (source === undefined) continue
    if (kind === 'link') links.push({ path, to: source })
    else if (kind === 'directory') mounts.push({ source, target: path, mode: 'read-only' })
  }
  for (const path of SETTINGS) if ((await files.kind(path)) === 'directory') mounts.push({ source: empty, target: path, mode: 'read-only' })
  links.push({ path: join('/var', 'tmp'), to: '/tmp' }, { path: '/var/run', to: '/run' })
  return { mounts, links }
}
