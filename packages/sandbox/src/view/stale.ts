/** Whether the protected paths are still as a view was planned. */
import * as files from './files.ts'
import type { View } from './view.ts'

/** Something has come where nothing was, or what was mounted in the workspace is gone. */
export async function isStale({ workspace, mounts, absent }: Pick<View, 'workspace' | 'mounts' | 'absent'>): Promise<boolean> {
  const guarded = mounts.filter(({ source, target }) => source === target && target.startsWith(`${workspace}/`))
  const [come, stayed] = await Promise.all([
    Promise.all(absent.map((path) => files.kind(path))),
    Promise.all(guarded.map(({ source }) => files.kind(source))),
  ])
  return come.some((kind) => kind !== undefined) || stayed.includes(undefined)
}
