/** Stores file contents by hash, from before and after each change. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../sha256.ts'
import type { FileState } from '../workspace/change.ts'
import { READ } from '../workspace/contain.ts'
import { type Contents, codeOf, copyAndHash, notRecorded, opened, syncDirectory, toDisk, Unexpected, within } from './tree.ts'

export interface Blobs extends Contents {
  /** @returns the hash */
  readonly put: (bytes: Uint8Array) => Promise<string>
  /**
   * Stores the content of an open file.
   * @throws Lost if the content has another hash
   */
  readonly take: (from: number, hash: string) => Promise<void>
  /** Returns true if the content need not be stored again. */
  readonly has: (hash: string) => boolean
}

/** A content that is missing from the store or damaged. */
export class Lost extends Error {}

/**
 * Stores the content of a file in the workspace. Always copies it, because a program that has the file open may still write to it.
 * @throws Unexpected if the content does not match the hash
 */
export async function keepFile(blobs: Blobs, root: string, path: string, { hash }: FileState): Promise<void> {
  if (blobs.has(hash)) return
  await within(root, path, (at) =>
    opened(at, READ, (from) => blobs.take(from, hash)).catch((error) => {
      throw error instanceof Lost || codeOf(error) === 'ENOENT' ? new Unexpected(path) : error
    }),
  )
}

export type DiskBlobs = ReturnType<typeof diskBlobs>

/** @param dir created when the first content is stored */
export function diskBlobs(dir: string) {
  /** Stored by this process, so known to be intact. */
  const known = new Set<string>()
  let isSynced = true
  const has = (hash: string): boolean => known.has(hash) && existsSync(join(dir, hash))

  /** Writes a temporary file and renames it to the hash in one step. */
  async function fill(hash: string, write: (to: number) => void | Promise<void>): Promise<string> {
    const temporary = join(dir, `${randomBytes(6).toString('hex')}.tmp`)
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 })
      const writeDurably = async (to: number): Promise<void> => {
        await write(to)
        await toDisk(to)
      }
      await opened(temporary, 'wx', writeDurably, 0o600)
      renameSync(temporary, join(dir, hash))
      known.add(hash)
      isSynced = false
      return hash
    } catch (error) {
      if (existsSync(temporary)) unlinkSync(temporary)
      throw error instanceof Lost ? error : notRecorded(error)
    }
  }

  const reading = <T>(hash: string, use: (from: number) => T): Promise<Awaited<T>> =>
    opened(join(dir, hash), READ, use).catch((cause) => {
      throw (cause as NodeJS.ErrnoException).syscall === 'open' ? new Lost(hash, { cause }) : cause
    })

  return {
    has,
    put: async (bytes: Uint8Array) => {
      const hash = sha256(bytes)
      return has(hash) ? hash : fill(hash, (to) => writeFileSync(to, bytes))
    },
    take: async (from: number, hash: string) => {
      if (!has(hash)) await fill(hash, (to) => copyTo(from, hash, to))
    },
    copyTo: (hash: string, to: number) => reading(hash, (from) => copyTo(from, hash, to)),
    /** @throws Lost */
    bytes: (hash: string): Promise<Buffer> => reading(hash, (from) => same(readFileSync(from), hash)),
    /** Returns true if the content is stored and intact. */
    isWhole: (hash: string): Promise<boolean> =>
      reading(hash, (from) => copyTo(from, hash)).then(
        () => true,
        () => false,
      ),
    /** Ensures that stored contents survive a power failure. */
    sync: async () => {
      if (!isSynced) await syncDirectory(dir)
      isSynced = true
    },
    /** Removes contents that are not among the hashes. Call only while nobody else is preparing a plan. */
    retain: async (hashes: ReadonlySet<string>) => {
      for (const name of await readdir(dir).catch(() => [])) if (!hashes.has(name)) await unlink(join(dir, name)).catch(() => undefined)
    },
  } satisfies Blobs & Record<string, unknown>
}

async function copyTo(from: number, hash: string, to?: number): Promise<void> {
  if ((await copyAndHash(from, to)).hash !== hash) throw new Lost(hash)
}

function same(bytes: Buffer, hash: string): Buffer {
  if (sha256(bytes) !== hash) throw new Lost(hash)
  return bytes
}

/**
 * Returns a store for changes that are not recorded.
 *
 * @param keepsBefore false if nothing needs to be rolled back, because a single change is atomic
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
    take: async (from, hash) => void contents.set(hash, same(readFileSync(from), hash)),
    copyTo: async (hash, to) => {
      const bytes = contents.get(hash)
      if (!bytes) throw new Lost(hash)
      writeFileSync(to, bytes)
    },
  }
}
