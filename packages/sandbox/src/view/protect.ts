/** Paths in the workspace that commands can't write: what is loaded from there as code, outside of the sandbox. */
import { mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { SandboxError } from '../errors.ts'
import { isWithin } from '../run/paths.ts'
import * as files from './files.ts'
import type { Mount } from './view.ts'

interface Protected {
  readonly mounts: readonly Mount[]
  /** Made as mount points, with the folders around them; inner ones first. */
  readonly created: readonly string[]
}

/** @param empty a folder without anything in it @throws SandboxError for a path that can't be held */
export async function protectedMounts(workspace: string, paths: readonly string[], empty: string): Promise<Protected> {
  const mounts: Mount[] = []
  const created: string[] = []
  for (const path of paths) {
    const target = resolve(workspace, path)
    if (target === workspace || !isWithin(workspace, target))
      throw new SandboxError({ message: `${path} can't be protected: it is no path in the workspace` })
    await refuseLinks(workspace, target, path)
    if ((await files.kind(target)) === undefined) created.push(...(await make(workspace, target)))
    // Seen as it was at the start: nothing of an empty folder is lost, and another sandbox may take it away.
    const isEmpty = (await files.kind(target)) === 'directory' && (await files.list(target)).length === 0
    if (isEmpty && !created.includes(target)) created.push(target)
    mounts.push({ source: isEmpty ? empty : target, target, mode: 'read-only' })
  }
  return { mounts, created }
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

async function make(workspace: string, target: string): Promise<readonly string[]> {
  const missing: string[] = []
  for (let at = target; at !== workspace && (await files.kind(at)) === undefined; at = dirname(at)) missing.push(at)
  await mkdir(target, { recursive: true })
  return missing
}
