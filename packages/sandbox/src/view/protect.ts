/** Paths in the workspace that commands can't write: what is loaded from there as code, outside of the sandbox. */
import { dirname, resolve } from 'node:path'
import { SandboxError } from '../errors.ts'
import { isWithin } from '../paths.ts'
import * as files from './files.ts'
import type { Guarded, Mount } from './view.ts'

/** @throws SandboxError for a path that can't be held */
export async function protectedMounts(workspace: string, paths: readonly string[]): Promise<Guarded> {
  const mounts: Mount[] = []
  const absent: string[] = []
  for (const path of paths) {
    const target = resolve(workspace, path)
    if (target === workspace || !isWithin(workspace, target))
      throw new SandboxError({ message: `${path} can't be protected: it is not a path in the workspace` })
    await refuseLinks(workspace, target, path)
    if ((await files.kind(target)) === undefined) absent.push(target)
    else mounts.push({ source: target, target, mode: 'read-only' })
  }
  return { mounts, absent }
}

/** A link can't be held in its place: a command would put another one there. */
async function refuseLinks(workspace: string, target: string, path: string): Promise<void> {
  for (let at = target; at !== workspace; at = dirname(at))
    if ((await files.kind(at)) === 'link')
      throw new SandboxError({
        message: `${path} in the workspace is, or lies behind, a symbolic link, which commands could put another one in the place of`,
        remedy: 'Put the folder itself there.',
      })
}
