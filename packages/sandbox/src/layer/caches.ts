/** Folders over the caches of toolchains, so that a command writes to those. */
import { mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { mounting } from './mount.ts'
import type { MountPoint } from './views.ts'

let made = 0

/**
 * Shell commands that lay a folder over each cache, in the namespace of one command.
 * @param folder of the sandbox; for one command at a time
 */
export function mountingCaches(caches: readonly MountPoint[], folder: string): readonly string[] {
  return caches.map(({ source, at }, index) => {
    const own = join(folder, `cache-${index}`)
    const upper = join(own, 'upper')
    const { mode } = statSync(source)
    if (mkdirSync(upper, { recursive: true, mode: mode & 0o777 }) !== undefined) symlinkSync(source, join(own, 'lower'))
    const work = `work-${made++}`
    mkdirSync(join(own, work))
    return mounting({ folder: own, at, hasPrivate: false, work })
  })
}
