/** Whole files: reading one to change it, and putting the new one in its place in one step. */
import { createHash, randomBytes } from 'node:crypto'
import { lstat, open, readFile, rename, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { ModelRetry } from '@mulligan/core'
import { makeDirectories, openInside, removeEmpty, withDirectory } from '../../workspace/contain.ts'
import type { Resolved } from '../../workspace/workspace.ts'

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

/** The bytes of a file of at most `most` bytes, or only how many there are. */
export async function readWhole(file: Resolved, most: number): Promise<{ readonly size: number; readonly bytes?: Buffer }> {
  const handle = await openInside(file.root, file.absolute)
  try {
    const { size } = await handle.stat()
    return size > most ? { size } : { size, bytes: await handle.readFile() }
  } finally {
    await handle.close()
  }
}

/**
 * Writes beside the file and renames over it, so that no reader and no crash ever sees half of it. Keeps mode and owner.
 * Folders that were made on the way are taken back when it fails.
 *
 * @param before hash of the content that is to be replaced; `undefined` for a file that must not exist yet
 * @throws ModelRetry (conflict) when another content stands there by now
 */
export async function replaceFile(file: Resolved, bytes: Uint8Array, before: string | undefined): Promise<void> {
  const directory = dirname(file.absolute)
  const made: string[] = []
  try {
    await makeDirectories(file.root, directory, made)
    await replaceIn(directory, file, bytes, before)
  } catch (error) {
    await removeEmpty(made)
    throw error
  }
}

async function replaceIn(directory: string, file: Resolved, bytes: Uint8Array, before: string | undefined): Promise<void> {
  await withDirectory(file.root, directory, async (base) => {
    const target = `${base}/${basename(file.absolute)}`
    const temporary = `${base}/.mulligan-${randomBytes(6).toString('hex')}.tmp`
    const old = await lstat(target).catch(() => undefined)
    const handle = await open(temporary, 'wx', old ? old.mode & 0o7777 : 0o666)
    try {
      try {
        await handle.writeFile(bytes)
        if (old) {
          await handle.chmod(old.mode & 0o7777)
          // Only root may give a file away; for others it is theirs already, or the rename makes it so.
          await handle.chown(old.uid, old.gid).catch(() => undefined)
        }
      } finally {
        await handle.close()
      }
      if (old && !old.isFile()) throw changedMeanwhile(file)
      const now = old ? sha256(await readFile(target)) : undefined
      if (now !== before) throw changedMeanwhile(file)
      await rename(temporary, target)
    } catch (error) {
      await unlink(temporary).catch(() => undefined)
      throw error
    }
  })
}

const changedMeanwhile = (file: Resolved): ModelRetry =>
  new ModelRetry(`"${file.relative}" was changed by something else just now; nothing was written.`, {
    errorType: 'conflict',
    parameter: 'path',
    value: file.relative,
    constraint: 'a file that stays as it was read',
    call: { tool: 'read_file', input: { path: file.relative } },
  })
