/** Contents by their hash: what a file was, and what it becomes. */
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../sha256.ts'
import type { FileState } from '../workspace/change.ts'
import { copyAndHash, toDisk } from './copy.ts'
import { notRecorded } from './not-recorded.ts'
import { type Contents, codeOf, READ, syncDirectory, Unexpected, within } from './tree.ts'

export interface Blobs extends Contents {
  /** @returns its hash */
  readonly put: (bytes: Uint8Array) => Promise<string>
  /**
   * Keeps what an open file holds.
   * @throws Lost when that has another hash
   */
  readonly take: (from: number, hash: string) => Promise<void>
  /** It need not be put in or taken. */
  readonly has: (hash: string) => boolean
}

/** A content that is not in the store, or not as it was put there. */
export class Lost extends Error {}

export interface DiskBlobs extends Blobs {
  readonly bytes: (hash: string) => Promise<Buffer>
  /** It is there, as it was put in. */
  readonly isWhole: (hash: string) => Promise<boolean>
  /** What was put in stays there when the power fails. */
  readonly sync: () => Promise<void>
  /** Removes what is not among the hashes. Only while nobody else has a plan in the making. */
  readonly retain: (hashes: ReadonlySet<string>) => Promise<void>
}

/**
 * Keeps what stands at a path of the workspace. Always as a copy: a program that has the file open goes on writing into it.
 * @throws Unexpected when that is not `state`
 */
export async function keepFile(blobs: Blobs, root: string, path: string, { hash }: FileState): Promise<void> {
  if (blobs.has(hash)) return
  await within(root, path, async (at) => {
    try {
      await reading(openSync(at, READ), (from) => blobs.take(from, hash))
    } catch (error) {
      throw error instanceof Lost || codeOf(error) === 'ENOENT' ? new Unexpected(path) : error
    }
  })
}

/** @param dir is made when something is first put in */
export function diskBlobs(dir: string): DiskBlobs {
  /** Put in by this process, so known to be whole. */
  const known = new Set<string>()
  let isSynced = true
  const has = (hash: string): boolean => known.has(hash) && existsSync(join(dir, hash))

  /** Fills a file of its own and gives it its name in one step. */
  async function fill(hash: string, write: (to: number) => void | Promise<void>): Promise<string> {
    const temporary = join(dir, `${randomBytes(6).toString('hex')}.tmp`)
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      const to = openSync(temporary, 'wx', 0o600)
      try {
        await write(to)
        await toDisk(to)
      } finally {
        closeSync(to)
      }
      renameSync(temporary, join(dir, hash))
      known.add(hash)
      isSynced = false
      return hash
    } catch (error) {
      if (existsSync(temporary)) unlinkSync(temporary)
      throw error instanceof Lost ? error : notRecorded(error)
    }
  }

  return {
    has,
    put: async (bytes) => {
      const hash = sha256(bytes)
      return has(hash) ? hash : fill(hash, (to) => writeFileSync(to, bytes))
    },
    take: async (from, hash) => {
      if (!has(hash)) await fill(hash, (to) => copyTo(from, hash, to))
    },
    copyTo: async (hash, to) => reading(openKept(join(dir, hash), hash), (from) => copyTo(from, hash, to)),
    bytes: async (hash) => reading(openKept(join(dir, hash), hash), (from) => same(readFileSync(from), hash)),
    isWhole: async (hash) => {
      try {
        await reading(openKept(join(dir, hash), hash), (from) => copyTo(from, hash))
        return true
      } catch {
        return false
      }
    },
    sync: async () => {
      if (!isSynced) await syncDirectory(dir)
      isSynced = true
    },
    retain: async (hashes) => {
      for (const name of await readdir(dir).catch(() => [])) if (!hashes.has(name)) await unlink(join(dir, name)).catch(() => undefined)
    },
  }
}

function openKept(path: string, hash: string): number {
  try {
    return openSync(path, READ)
  } catch (cause) {
    throw new Lost(hash, { cause })
  }
}

async function reading<T>(from: number, use: (from: number) => T): Promise<Awaited<T>> {
  try {
    return await use(from)
  } finally {
    closeSync(from)
  }
}

async function copyTo(from: number, hash: string, to?: number): Promise<void> {
  if ((await copyAndHash(from, to)).hash !== hash) throw new Lost(hash)
}

function same(bytes: Buffer, hash: string): Buffer {
  if (sha256(bytes) !== hash) throw new Lost(hash)
  return bytes
}

/**
 * For changes without a record.
 *
 * @param keepsBefore false where nothing has to be taken back: a single change is made whole or not at all
 */
export function memoryBlobs(keepsBefore: boolean): Blobs {
  const contents = new Map<string, Uint8Array>()
  return {
    has: (hash) => !keepsBefore || contents.has(hash),
    put: async (bytes) => {
      const hash = sha256(bytes)
      contents.set(hash, bytes)
      return hash
    },
    take: async (from, hash) => {
      contents.set(hash, same(readFileSync(from), hash))
    },
    copyTo: async (hash, to) => {
      const bytes = contents.get(hash)
      if (!bytes) throw new Lost(hash)
      writeFileSync(to, bytes)
    },
  }
}
